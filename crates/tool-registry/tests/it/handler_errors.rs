//! What a handler may return, and what comes of it.

use std::error::Error as _;
use std::num::NonZeroUsize;

use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use tool_core::{
    Answer, Content, Context, Decision, Defect, DefectKind, HandlerError, NobodyToAsk, Outcome,
    Permission, Produced, Refusal, Settlement, Tool, ToolFailure,
};

use crate::ports::{Always, Answers, Count};
use crate::tools::{refusal, run, settle};

#[track_caller]
fn defect(settlement: &Settlement) -> &Defect {
    match &settlement.outcome {
        Outcome::Defect(defect) => defect,
        other => panic!("expected a defect, got {}", other.as_str()),
    }
}

/// Settles a call of a tool that ends with this error.
async fn ends(error: impl Fn() -> HandlerError + Send + Sync + 'static) -> Settlement {
    let tool = run(move |_| {
        let error = error();
        async move { Err(error) }
    });
    settle(tool, "{}").await
}

#[tokio::test]
async fn an_ordinary_error_is_a_defect_with_one_fixed_text() {
    let settled = ends(|| std::io::Error::other("canary: /home/ada/.ssh").into()).await;
    assert_eq!(defect(&settled).kind(), DefectKind::Handler);
    assert_eq!(settled.text(), Defect::MODEL_TEXT);
    let cause = defect(&settled).source().unwrap().to_string();
    assert_eq!(cause, "canary: /home/ada/.ssh");
    assert!(!defect(&settled).to_string().contains("canary"));
}

#[tokio::test]
async fn a_text_that_is_made_an_error_is_a_defect() {
    let settled = ends(|| HandlerError::defect("canary")).await;
    assert_eq!(defect(&settled).kind(), DefectKind::Handler);
    assert!(!settled.text().contains("canary"));
}

#[tokio::test]
async fn a_tool_failure_is_a_failure_that_the_model_reads() {
    let settled = ends(|| {
        ToolFailure::new("no such file; list the folder first")
            .structured(json!({"code": 404}))
            .because(std::io::Error::other("canary"))
            .into()
    })
    .await;
    assert!(matches!(settled.outcome, Outcome::Failed(_)));
    assert!(settled.is_error());
    assert_eq!(settled.text(), "no such file; list the folder first");
    assert_eq!(settled.structured(), Some(&json!({"code": 404})));
    assert_eq!(settled.output(), None);
}

#[tokio::test]
async fn a_failure_can_show_blocks_and_is_never_silent() {
    let settled = ends(|| {
        let image = Content::image("image/png", vec![1_u8]);
        ToolFailure::new("unused")
            .content([Content::text("see"), image])
            .into()
    })
    .await;
    assert_eq!(settled.content.len(), 2);
    assert_eq!(settled.text(), "see");

    let settled = ends(|| ToolFailure::new("said at least").content([]).into()).await;
    assert_eq!(settled.text(), "said at least");
}

#[tokio::test]
async fn an_error_that_merely_wraps_a_failure_is_a_defect() {
    let settled = ends(|| std::io::Error::other(ToolFailure::new("inner")).into()).await;
    assert_eq!(defect(&settled).kind(), DefectKind::Handler);
}

#[tokio::test]
async fn a_boxed_failure_and_a_boxed_refusal_keep_their_sort() {
    let settled = ends(|| HandlerError::defect(ToolFailure::new("deliberate"))).await;
    assert!(matches!(settled.outcome, Outcome::Failed(_)));
    let settled = ends(|| Refusal::Declined { note: None }.into()).await;
    assert!(matches!(refusal(&settled), Refusal::Declined { .. }));
}

/// A tool whose handler does something with the answer to an assertion.
fn asserting<F>(permission: Permission, then: F) -> Tool
where
    F: Fn(Result<(), Refusal>) -> Result<Value, HandlerError> + Clone + Send + Sync + 'static,
{
    run(move |cx: Context| {
        let (permission, then) = (permission.clone(), then.clone());
        async move {
            let answer = permission.assert(&cx, "write", ["victim.txt"]).await;
            then(answer)
        }
    })
}

#[tokio::test]
async fn a_refusal_from_an_assertion_passes_through_the_question_mark() {
    let tool = asserting(
        Permission::new(Always(Decision::Deny), NobodyToAsk),
        |answer| {
            answer?;
            Ok(json!("written"))
        },
    );
    let settled = settle(tool, "{}").await;
    assert_eq!(
        settled.text(),
        "permission for write was denied; calling again will not change that"
    );
}

#[tokio::test]
async fn no_error_mapping_of_the_handler_turns_a_refusal_into_anything_else() {
    type Then = fn(Result<(), Refusal>) -> Result<Value, HandlerError>;
    let mappings: [Then; 4] = [
        |_| Ok(json!("canary: written all the same")),
        |answer| {
            answer.map_err(|refusal| ToolFailure::new(format!("canary {refusal}")))?;
            Ok(Value::Null)
        },
        |answer| {
            answer.map_err(|_| std::io::Error::other("canary"))?;
            Ok(Value::Null)
        },
        |_| panic!("canary"),
    ];
    for then in mappings {
        let declining = Answers(
            Answer::Declined {
                note: Some("not this file".to_owned()),
            },
            Count::default(),
        );
        let tool = asserting(Permission::new(Always(Decision::Ask), declining), then);
        let settled = settle(tool, "{}").await;
        assert!(matches!(refusal(&settled), Refusal::Declined { .. }));
        assert_eq!(settled.text(), "the user declined: not this file");
        assert_eq!((settled.output(), settled.structured()), (None, None));
        assert!(!format!("{settled:?}").contains("canary"));
    }
}

#[tokio::test]
async fn the_first_of_several_refusals_stands() {
    let deny = Permission::new(Always(Decision::Deny), NobodyToAsk);
    let tool = run(move |cx| {
        let deny = deny.clone();
        async move {
            let _ = deny.assert(&cx, "first", ["a"]).await;
            deny.assert(&cx, "second", ["b"]).await?;
            Ok(Value::Null)
        }
    });
    let settled = settle(tool, "{}").await;
    assert!(
        settled.text().contains("permission for first"),
        "{}",
        settled.text()
    );
}

#[tokio::test]
async fn a_tool_that_declares_to_assert_and_completes_without_is_a_defect() {
    let tool = run(|_| async { Ok(json!("canary")) }).asserts_permission();
    let settled = settle(tool, "{}").await;
    assert_eq!(defect(&settled).kind(), DefectKind::Unasserted);
    assert!(!format!("{settled:?}").contains("canary"));
    assert_eq!(settled.output(), None);
}

#[tokio::test]
async fn a_tool_that_asserts_and_is_allowed_completes() {
    let allow = Permission::new(Always(Decision::Allow), NobodyToAsk);
    let tool = asserting(allow, |answer| {
        answer?;
        Ok(json!("written"))
    })
    .asserts_permission();
    assert_eq!(settle(tool, "{}").await.text(), "written");
}

#[tokio::test]
async fn a_failure_before_the_assertion_stays_a_failure() {
    let tool = run(|_| async { Err(ToolFailure::new("no such file").into()) }).asserts_permission();
    let settled = settle(tool, "{}").await;
    assert!(matches!(settled.outcome, Outcome::Failed(_)));
}

#[derive(schemars::JsonSchema)]
struct Unserialisable(#[expect(dead_code, reason = "never read")] u8);

impl Serialize for Unserialisable {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(serde::ser::Error::custom("canary has no form"))
    }
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

async fn gives<O>(output: impl Fn() -> O + Send + Sync + 'static) -> Settlement
where
    O: Serialize + schemars::JsonSchema + Send + 'static,
{
    let tool = Tool::new("Gives something", move |_: Nothing, _: Context| {
        let output = output();
        async move { Ok(output) }
    });
    settle(tool, "{}").await
}

#[tokio::test]
async fn output_that_has_no_json_form_is_a_defect() {
    let settled = gives(|| Unserialisable(1)).await;
    assert_eq!(defect(&settled).kind(), DefectKind::Output);
    assert!(!settled.text().contains("canary"));
    let settled = gives(|| std::collections::BTreeMap::from([(vec![1_u8], 1_u8)])).await;
    assert_eq!(defect(&settled).kind(), DefectKind::Output);
    let settled = gives(|| u128::MAX).await;
    assert_eq!(defect(&settled).kind(), DefectKind::Output);
}

#[tokio::test]
async fn a_number_that_is_none_is_a_defect() {
    for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let settled = gives(move || number).await;
        assert_eq!(defect(&settled).kind(), DefectKind::Output, "{number}");
        let settled = gives(move || vec![1.0, number]).await;
        assert_eq!(defect(&settled).kind(), DefectKind::Output, "{number}");
    }
}

#[tokio::test]
async fn output_that_its_schema_does_not_take_is_never_a_success() {
    let schema = json!({"type": "object", "required": ["id"]});
    let with = |produced: Produced| {
        let schema = schema.clone();
        async move {
            let tool = Tool::dynamic("Gives", json!({"type": "object"}), move |_, _| {
                let produced = produced.clone();
                async move { Ok(produced) }
            });
            settle(tool.output_schema(schema), "{}").await
        }
    };
    let settled = with(Produced::value(json!({"canary": 1}))).await;
    assert_eq!(defect(&settled).kind(), DefectKind::Output);
    assert!(!format!("{settled:?}").contains("canary"));
    // A tool that promises data and shows only blocks breaks its promise too.
    let settled = with(Produced::content([Content::text("canary")])).await;
    assert_eq!(defect(&settled).kind(), DefectKind::Output);
    let settled = with(Produced::value(json!({"id": 1}))).await;
    assert!(matches!(settled.outcome, Outcome::Completed));
}

#[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct OneWay {
    /// Written under one name and read under another.
    #[serde(rename(serialize = "out", deserialize = "back"))]
    value: u8,
}

#[tokio::test]
async fn a_projection_that_cannot_read_the_encoded_value_is_a_defect() {
    let tool = Tool::new("One way", |_: Nothing, _: Context| async {
        Ok(OneWay { value: 1 })
    });
    let shown = tool
        .clone()
        .model(|_, output| [Content::text(output.value.to_string())]);
    assert_eq!(
        defect(&settle(shown, "{}").await).kind(),
        DefectKind::Projection
    );
    let structured = tool.structured(|output| output.value);
    assert_eq!(
        defect(&settle(structured, "{}").await).kind(),
        DefectKind::Projection
    );
}

#[tokio::test]
async fn a_result_over_the_ceiling_reaches_no_channel() {
    let most = NonZeroUsize::new(4).unwrap();
    let tool = |text: &'static str| {
        run(move |_| async move { Ok(json!(text)) })
            .ceiling(most)
            .narrow_by(["from", "to"])
    };
    // Counted are characters, not bytes, and the most is still taken.
    assert_eq!(settle(tool("äöüß"), "{}").await.text(), "äöüß");
    let settled = settle(tool("canary"), "{}").await;
    assert_eq!(
        settled.text(),
        "the result has 6 characters and the most is 4; no data was returned; \
         narrow it by from, to"
    );
    assert_eq!((settled.output(), settled.structured()), (None, None));
    assert!(!format!("{settled:?}").contains("canary"));
}

#[tokio::test]
async fn a_result_and_what_is_projected_of_it_are_both_held_to_the_ceiling() {
    let most = NonZeroUsize::new(4).unwrap();
    for (gives, shows, refused) in [
        ("äöüß", "äöüß", None),
        ("tiny", "canary", Some(6)),
        ("canary", "tiny", Some(6)),
        ("longer", "canaries", Some(6)),
    ] {
        let tool = run(move |_| async move { Ok(json!(gives)) })
            .model(move |_, _| [Content::text(shows), Content::image("image/png", &b"i"[..])])
            .ceiling(most);
        let settled = settle(tool, "{}").await;
        let Some(measured) = refused else {
            assert_eq!(settled.text(), shows);
            continue;
        };
        let Refusal::Ceiling { chars, .. } = refusal(&settled) else {
            panic!("{gives}: {}", settled.text())
        };
        assert_eq!(*chars, measured, "{gives}");
        assert_eq!((settled.output(), settled.structured()), (None, None));
        assert_eq!(settled.content.len(), 1, "the image is withheld as well");
        assert!(!format!("{settled:?}").contains("canar"));
    }
    // Without a ceiling a projection may say as much as it likes.
    let free = run(|_| async { Ok(json!("tiny")) }).model(|_, _| [Content::text("canary")]);
    assert_eq!(settle(free, "{}").await.text(), "canary");
}

#[tokio::test]
async fn a_void_tool_completes_with_nothing_to_show() {
    let settled = gives(|| ()).await;
    assert!(matches!(settled.outcome, Outcome::Completed));
    assert!(settled.content.is_empty());
}
