//! From JSON through a closure to JSON, without a runtime.

use futures_util::FutureExt as _;
use serde_json::{Value, json};
use tool_core::{
    Content, Context, HandlerError, HandlerErrorKind, Issue, Produced, Tool, ToolFailure,
};

#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
struct Add {
    left: u8,
    right: u8,
}

fn add() -> Tool {
    Tool::new("Adds", |input: Add, _: Context| async move {
        let sum = input.left.checked_add(input.right);
        sum.ok_or_else(|| ToolFailure::new("too large").into())
    })
    .into()
}

fn run(tool: &Tool, input: &Value) -> Result<Produced, HandlerError> {
    let prepared = tool.executor().prepare(input).unwrap();
    let mut running = prepared.run(Context::detached());
    running.as_mut().now_or_never().unwrap()?;
    Ok(running.as_mut().encode().unwrap())
}

#[test]
fn a_closure_is_decoded_for_and_encoded_behind() {
    let produced = run(&add(), &json!({"left": 1, "right": 2})).unwrap();
    assert_eq!(produced, Produced::value(3));
    let error = run(&add(), &json!({"left": 255, "right": 1})).unwrap_err();
    assert!(matches!(error.into_kind(), HandlerErrorKind::Failure(_)));
}

#[test]
fn what_does_not_decode_names_its_place_and_no_value() {
    for (input, place) in [
        (json!({"left": 1, "right": 4711}), "/right"),
        (json!({"left": "4711", "right": 1}), "/left"),
        (json!({"left": 4711}), "/left"),
        (json!(4711), ""),
    ] {
        let Err(invalid) = add().executor().prepare(&input).map(|_| ()) else {
            panic!("{input} was decoded");
        };
        let [Issue::Constraint { path, .. }] = invalid.issues() else {
            panic!("{:?}", invalid.issues());
        };
        assert_eq!(path, place);
        assert!(!format!("{invalid} {invalid:?}").contains("4711"));
    }
}

#[test]
fn a_dynamic_closure_gets_the_value_itself_and_may_give_blocks() {
    let schema = json!({"type": "object"});
    let tool = Tool::dynamic("Mirrors", schema, |input: Value, _| async move {
        Ok(Produced::value(input).with_content([Content::text("seen")]))
    });
    let produced = run(&tool, &json!({"a": [1.0, null]})).unwrap();
    assert_eq!(
        produced.output.map(Value::from),
        Some(json!({"a": [1.0, null]}))
    );
    assert_eq!(produced.content, Some(vec![Content::text("seen")]));
}

#[test]
fn one_tool_is_prepared_as_often_as_one_likes_at_the_same_time() {
    let tool = add();
    let one = tool
        .executor()
        .prepare(&json!({"left": 1, "right": 1}))
        .unwrap();
    let two = tool
        .executor()
        .prepare(&json!({"left": 2, "right": 2}))
        .unwrap();
    let sum = |prepared: Box<dyn tool_core::Prepared + '_>| {
        let mut running = prepared.run(Context::detached());
        running.as_mut().now_or_never().unwrap().unwrap();
        running.as_mut().encode().unwrap().output.map(Value::from)
    };
    assert_eq!(sum(two), Some(json!(4)));
    assert_eq!(sum(one), Some(json!(2)));
}

#[test]
fn projections_are_absent_where_none_was_declared() {
    let tool = add();
    assert!(tool.project_structured(&json!(3)).is_none());
    assert!(tool.project_model(&json!({}), &json!(3)).is_none());
}
