//! Kinds of tools, failure types, failure modes and codecs.

use std::error::Error;
use std::num::NonZeroUsize;

use serde_json::{Map, Value, json};
use tool_core::{
    Context, Decoder, Encoder, FailureMode, FailureOrigin, InvalidArguments, Issue, Produced,
    Refusal, Tool, ToolKind,
};

use crate::ports::{Count, open};
use crate::tools::{Empty, echo, invalid, mirror, output, refusal, settle};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Find {
    id: u32,
}

#[derive(Debug, serde::Serialize, schemars::JsonSchema, thiserror::Error)]
#[error("status {code}")]
struct Status {
    #[serde(serialize_with = "as_text")]
    #[schemars(with = "String")]
    code: u32,
}

fn as_text<S: serde::Serializer>(number: &u32, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&number.to_string())
}

fn find() -> Tool {
    Tool::fallible("Finds", |find: Find, _cx: Context| async move {
        match find.id {
            0 => Err(std::io::Error::other("canary").into()),
            id @ 1..400 => Ok(Ok(id)),
            code => Ok(Err(Status { code })),
        }
    })
    .into()
}

#[tokio::test]
async fn success_and_failure_are_encoded_by_their_own_types() {
    let settled = settle(find(), r#"{"id":7}"#).await;
    assert_eq!(output(&settled), &json!(7));
    let settled = settle(find(), r#"{"id":404}"#).await;
    assert_eq!(
        (settled.outcome.as_str(), settled.text().as_str()),
        ("failed", "status 404")
    );
    assert_eq!(settled.structured(), Some(&json!({"code": "404"})));
    assert_eq!(
        find().failure().unwrap().as_value()["properties"]["code"]["type"],
        "string"
    );
    // `?` on an ordinary error is still a defect.
    let settled = settle(find(), r#"{"id":0}"#).await;
    assert_eq!(settled.outcome.as_str(), "defect");
    assert!(!settled.text().contains("canary"));
}

#[tokio::test]
async fn the_failure_mode_decides_what_is_an_error_and_the_origin_stays_in_both() {
    let cases = [
        (r#"{"id":404}"#, FailureOrigin::Handler, true),
        (r#"{"id":"x"}"#, FailureOrigin::Validation, true),
        (r#"{"id":0}"#, FailureOrigin::Handler, false),
    ];
    for (arguments, origin, returned) in cases {
        for mode in [FailureMode::Error, FailureMode::Return] {
            let settled = settle(find().failure_mode(mode), arguments).await;
            assert_eq!(settled.outcome.origin(), Some(origin), "{arguments}");
            let result = settled.into_result();
            assert_eq!(
                result.is_ok(),
                returned && mode == FailureMode::Return,
                "{arguments}"
            );
            if let Err(error) = result {
                assert_eq!(error.origin(), origin);
                assert!(error.source().is_some());
            }
        }
    }
    let settled = settle(find(), r#"{"id":"x"}"#).await;
    assert_eq!(settled.text(), "expected integer at /id, got string");
    assert!(settle(find(), r#"{"id":7}"#).await.into_result().is_ok());
}

#[test]
fn kinds_are_told_apart_and_survive_changes_of_a_clone() {
    let any = json!({"type": "object"});
    let typed = Tool::from(echo());
    let dynamic = mirror(any.clone(), &Count::default());
    let external = Tool::external("Asks the crowd", any.clone());
    let provider = Tool::provider_defined("acme.search", "search_2026", Map::new());
    let handled = dynamic
        .clone()
        .handles_provider_tool("acme.shell", "shell_1", Map::new());
    assert_eq!(*typed.kind(), ToolKind::Typed);
    assert!(dynamic.kind().is_dynamic() && !typed.kind().is_dynamic());
    assert_eq!(*external.kind(), ToolKind::External);
    assert!(!provider.kind().provider().unwrap().handled_here);
    let changed = handled
        .clone()
        .title("Shell")
        .needs_approval(true)
        .read_only();
    assert_eq!(changed.kind(), handled.kind());
    assert!(changed.kind().provider().unwrap().handled_here);
    assert_eq!(handled.declarations().annotations.title, None);
    for strict in [None, Some(true), Some(false)] {
        let mut annotations = tool_core::Annotations::default();
        annotations.strict = strict;
        for tool in [&typed, &dynamic, &provider] {
            let tool = tool.clone().annotations(annotations.clone());
            assert_eq!(tool.declarations().annotations.strict, strict);
        }
    }
    for id in ["search", ".search", "acme."] {
        let tool = Tool::provider_defined(id, "x", Map::new());
        assert!(
            tool.problems()[0].to_string().contains("provider.tool"),
            "{id}"
        );
    }
}

#[tokio::test]
async fn what_the_provider_runs_is_refused_here_and_what_is_handled_here_runs() {
    let runs = Count::default();
    let provider = Tool::provider_defined("acme.search", "search_2026", Map::new());
    let settled = settle(provider, "{}").await;
    assert!(matches!(refusal(&settled), Refusal::Door { .. }));
    let schema = json!({"type": "object", "required": ["q"]});
    let handled = mirror(schema, &runs).handles_provider_tool("acme.shell", "shell", Map::new());
    assert_eq!(
        output(&settle(handled.clone(), r#"{"q":1}"#).await),
        &json!({"q": 1})
    );
    assert_eq!(invalid(&settle(handled, "{}").await).issues().len(), 1);
    assert_eq!(runs.get(), 1);
    // Its failures are told as those of any tool are.
    for mode in [FailureMode::Return, FailureMode::Error] {
        let failing = find()
            .handles_provider_tool("acme.find", "find", Map::new())
            .failure_mode(mode);
        let settled = settle(failing, r#"{"id":404}"#).await;
        assert_eq!(settled.text(), "status 404");
        assert_eq!(settled.into_result().is_ok(), mode == FailureMode::Return);
    }
}

#[tokio::test]
async fn the_schema_of_a_dynamic_tool_can_be_replaced_and_that_of_a_typed_one_cannot() {
    let schema = json!({"type": "object", "required": ["b"], "$defs": {"X": {"oneOf": [true]}}});
    let tool = mirror(json!({"type": "object"}), &Count::default()).input_schema(schema.clone());
    assert!(tool.kind().is_dynamic());
    assert_eq!(tool.input().as_value(), &schema);
    assert!(settle(tool, "{}").await.is_error());
    let typed = Tool::from(echo()).input_schema(schema);
    assert_eq!(typed.problems().len(), 1);
}

#[test]
fn no_arguments_and_an_empty_struct_advertise_the_same() {
    let empty = Tool::new("x", |_: Empty, _cx: Context| async { Ok(1) });
    let expected = json!({"type": "object", "properties": {}, "additionalProperties": false});
    let mut schema = Tool::from(empty).input().as_value().clone();
    schema.as_object_mut().unwrap().remove("description");
    assert_eq!(schema, expected);
    assert_eq!(tool_core::Schema::no_arguments().as_value(), &expected);
}

#[test]
fn schemas_honour_their_dialect_and_an_unknown_one_is_refused() {
    let schema = |dialect: &str| {
        json!({
            "$schema": dialect, "type": "object",
            "properties": {"pair": {"type": "array", "items": [{"type": "string"}]}}
        })
    };
    let register = |schema: Value| {
        let registry = open().build();
        let tool = mirror(schema, &Count::default());
        registry
            .register([("tool", tool)])
            .map(tool_registry::Registration::keep)
    };
    assert!(register(schema("http://json-schema.org/draft-07/schema#")).is_ok());
    assert!(register(schema("https://example.org/my-own-dialect")).is_err());
}

/// A codec of somebody's own: text of the form `key=value`.
struct Pairs;

impl Decoder<(String, String)> for Pairs {
    fn schema(&self) -> Value {
        json!({"type": "object", "properties": {"pair": {"type": "string"}}, "required": ["pair"]})
    }

    fn decode(&self, input: &Value) -> Result<(String, String), InvalidArguments> {
        let pair = input["pair"].as_str().and_then(|pair| pair.split_once('='));
        let (key, value) = pair.ok_or_else(|| {
            let rule = "expected key=value".to_owned();
            InvalidArguments::new([Issue::Constraint {
                path: "/pair".to_owned(),
                rule,
            }])
        })?;
        Ok((key.to_owned(), value.to_owned()))
    }
}

impl Encoder<usize> for Pairs {
    fn schema(&self) -> Option<Value> {
        Some(json!({"type": "string"}))
    }

    fn encode(&self, output: &usize) -> Result<Value, Box<dyn Error + Send + Sync>> {
        match *output {
            0 => Err("canary".into()),
            1 => Ok(json!(1)),
            length => Ok(json!("x".repeat(length))),
        }
    }
}

#[tokio::test]
async fn a_codec_of_ones_own_stands_on_both_sides_of_the_handler() {
    let runs = Count::default();
    let seen = runs.clone();
    let tool = Tool::with_codecs("x", Pairs, Pairs, move |(key, value), _cx| {
        seen.add();
        async move { Ok(key.len() * value.len()) }
    });
    let registry = open().build();
    let _tool = registry.register([("tool", tool)]).unwrap();
    let settle = |arguments: &'static str| {
        let call = tool_core::Call::new("tool", arguments);
        registry
            .snapshot()
            .settle(call, &tool_core::Facts::new())
            .into_future()
    };
    assert_eq!(settle(r#"{"pair":"ab=cd"}"#).await.text(), "xxxx");
    assert_eq!(
        invalid(&settle(r#"{"pair":"ab"}"#).await).to_string(),
        "expected key=value at /pair"
    );
    assert_eq!(runs.get(), 1);
    // What its own schema refuses, and what cannot be encoded, is no success.
    for arguments in [r#"{"pair":"a=b"}"#, r#"{"pair":"=b"}"#] {
        let settled = settle(arguments).await;
        assert_eq!(settled.outcome.as_str(), "defect", "{arguments}");
        assert_eq!(settled.outcome.origin(), Some(FailureOrigin::Result));
        assert!(!settled.text().contains("canary"));
    }
}

#[tokio::test]
async fn data_beside_the_output_is_handed_on_and_an_empty_list_of_blocks_shows_the_output() {
    let tool = Tool::dynamic("x", json!({"type": "object"}), |_: Value, _| async {
        let mut meta = Map::new();
        meta.insert("trace".to_owned(), json!("t1"));
        Ok(Produced::value(json!({"a": 1}))
            .with_content([])
            .with_meta(meta))
    });
    let settled = settle(tool, "{}").await;
    assert_eq!(settled.text(), r#"{"a":1}"#);
    assert_eq!(settled.structured(), Some(&json!({"a": 1})));
    assert_eq!(settled.meta.unwrap()["trace"], json!("t1"));
    let silent = Tool::dynamic("x", json!({"type": "object"}), |_: Value, _| async {
        Ok(Produced::content([]))
    });
    assert!(settle(silent, "{}").await.content.is_empty());
    // What is shown in the end is what its ceiling is for.
    let over = Tool::dynamic("x", json!({"type": "object"}), |_: Value, _| async {
        Ok(Produced::value("canary").with_content([]))
    });
    let settled = settle(over.ceiling(NonZeroUsize::new(5).unwrap()), "{}").await;
    assert_eq!(settled.outcome.kind(), Some("ceiling"));
    let null = Tool::dynamic("x", json!({"type": "object"}), |_: Value, _| async {
        Ok(Produced::value(Value::Null).with_content([]))
    });
    let nothing = settle(null.ceiling(NonZeroUsize::MIN), "{}").await;
    assert_eq!((nothing.outcome.kind(), nothing.content.len()), (None, 0));
    assert!(!format!("{settled:?}").contains("canary"));
}
