//! Arguments that name artifacts.

use serde_json::{Value, json};
use tool_core::{
    Artifact, ArtifactKind, Call, Context, Facts, RefusalKind, Settlement, Tool, Validation,
};
use tool_registry::Registry;

use crate::ports::{Count, Shelf, open};
use crate::tools::{output, refusal};

fn report() -> ArtifactKind {
    ArtifactKind::new("report").unwrap()
}

/// Gives back what it is given and what it was told of the artifact.
fn wanting(schema: Value, runs: &Count) -> Tool {
    let runs = runs.clone();
    Tool::dynamic(
        "Reads a report",
        schema,
        move |input: Value, cx: Context| {
            runs.add();
            let kind = cx.wanted("ref").map(ToString::to_string);
            async move { Ok(json!([input, kind])) }
        },
    )
    .wants("ref", report())
}

fn schema(kinds: &Value, required: bool) -> Value {
    let required = if required { json!(["ref"]) } else { json!([]) };
    json!({
        "type": "object",
        "properties": {"ref": {"type": kinds}},
        "required": required
    })
}

async fn settle(tool: Tool, arguments: Value) -> Settlement {
    let registry = open()
        .artifacts(Shelf(|reference: &str| {
            Ok(match reference {
                "art_1" => Some(Artifact::new(report(), json!({"rows": [1, 2]}))),
                "art_2" => Some(Artifact::new(
                    ArtifactKind::new("report/old").unwrap(),
                    "old",
                )),
                _ => None,
            })
        }))
        .build();
    registry.register([("tool", tool)]).unwrap().keep();
    let call = Call::new("tool", arguments);
    registry.snapshot().settle(call, &Facts::new()).await
}

#[tokio::test]
async fn the_handler_gets_the_data_and_its_kind() {
    let runs = Count::default();
    let tool = wanting(schema(&json!("string"), true), &runs);
    let settled = settle(tool, json!({"ref": "art_1"})).await;
    let expected = json!([{"ref": {"rows": [1, 2]}}, "report"]);
    assert_eq!(output(&settled), &expected);
}

#[tokio::test]
async fn what_may_be_left_out_is_left_out_also_as_a_null_that_the_schema_takes() {
    let runs = Count::default();
    let left_out = settle(wanting(schema(&json!("string"), false), &runs), json!({})).await;
    assert_eq!(output(&left_out), &json!([{}, null]));
    let tool = wanting(schema(&json!(["string", "null"]), false), &runs);
    let null = settle(tool, json!({"ref": null})).await;
    assert_eq!(output(&null), &json!([{"ref": null}, null]));
}

#[tokio::test]
async fn without_validation_each_wrong_reference_is_still_refused_by_name() {
    let runs = Count::default();
    let tool = |required| {
        wanting(schema(&json!("string"), required), &runs).validation(Validation::Advertise)
    };
    for (arguments, required, says) in [
        (json!({}), true, "ref must be a reference, got nothing"),
        (
            json!({"ref": null}),
            false,
            "ref must be a reference, got null",
        ),
        (
            json!({"ref": 5}),
            false,
            "ref must be a reference, got integer",
        ),
        (
            json!({"ref": "  "}),
            false,
            "ref must be a reference, got blank text",
        ),
        (
            json!({"ref": ["art_1"]}),
            false,
            "ref must be a reference, got array",
        ),
        (
            json!({"ref": "art_9"}),
            true,
            "ref names nothing that is there; it must be report",
        ),
        (
            json!({"ref": "art_2"}),
            true,
            "ref must be report, got report/old",
        ),
    ] {
        let settled = settle(tool(required), arguments).await;
        assert_eq!(refusal(&settled).kind(), RefusalKind::Artifact);
        assert_eq!(settled.text(), says);
    }
    assert_eq!(runs.get(), 0);
    assert!(!settle(tool(false), json!({})).await.is_error());
}

#[test]
fn where_nothing_can_be_redeemed_a_tool_that_wants_is_refused_with_all_else_that_is_wrong() {
    let registry = Registry::default();
    let tool = wanting(schema(&json!("string"), true), &Count::default());
    let error = registry.register([("reader", tool.clone())]).unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("\"reader\"") && text.contains("\"ref\" as report"),
        "{text}"
    );
    assert!(
        text.contains("no artifact store; give it one or leave this out"),
        "{text}"
    );
    let error = registry
        .register([("execute", tool.described(" "))])
        .unwrap_err();
    assert_eq!(error.refused()[0].problems().len(), 3);
}
