//! What a tool declares of its failures, and that they are held to it.

use std::error::Error;

use serde_json::{Value, json};
use tool_core::{
    Context, DefectKind, Encoder, FailureOrigin, HandlerError, Outcome, ProblemKind, Serde,
    Settlement, Tool, ToolFailure,
};

use crate::ports::open;
use crate::tools::{output, settle};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Find {
    id: u32,
}

/// Some of what it says of its schema is not so, and some has no JSON form.
#[derive(Debug, schemars::JsonSchema, thiserror::Error)]
#[error("nobody has the number {id}")]
struct Missing {
    id: u32,
}

impl serde::Serialize for Missing {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.id {
            404 => serde::Serialize::serialize(&json!({"id": 404}), serializer),
            405 => serializer.serialize_str("canary"),
            _ => Err(serde::ser::Error::custom("canary")),
        }
    }
}

/// Writes what is missing as a code.
struct Codes;

impl Encoder<Missing> for Codes {
    fn schema(&self) -> Option<Value> {
        Some(json!({"type": "string"}))
    }

    fn encode(&self, missing: &Missing) -> Result<Value, Box<dyn Error + Send + Sync>> {
        Ok(json!(format!("E{}", missing.id)))
    }
}

async fn find(find: Find, _: Context) -> Result<Result<u32, Missing>, HandlerError> {
    match find.id {
        1 => Ok(Ok(1)),
        2 => Err(ToolFailure::new("come back tomorrow").into()),
        id => Ok(Err(Missing { id })),
    }
}

/// Fails with these data.
fn failing(data: Value) -> Tool {
    Tool::dynamic("Fails", json!({"type": "object"}), move |_, _| {
        let failure = ToolFailure::new("it did not work").structured(data.clone());
        async move { Err::<Value, _>(failure.into()) }
    })
}

#[track_caller]
fn is_fault_of_the_result(settled: &Settlement) {
    let Outcome::Defect(defect) = &settled.outcome else {
        panic!("expected a defect, got {}", settled.outcome.as_str())
    };
    assert_eq!(defect.kind(), DefectKind::Output);
    assert_eq!(settled.outcome.origin(), Some(FailureOrigin::Result));
    assert!(defect.source().is_some(), "the operator reads why");
    assert!(!settled.text().contains("canary"));
    assert_eq!(settled.structured(), None);
}

#[tokio::test]
async fn a_typed_failure_that_cannot_be_encoded_or_does_not_fit_is_a_fault_of_the_result() {
    let tool = Tool::from(Tool::fallible("Finds", find));
    let settled = settle(tool.clone(), r#"{"id":404}"#).await;
    assert_eq!(settled.outcome.as_str(), "failed");
    assert_eq!(settled.structured(), Some(&json!({"id": 404})));
    for unfit in [r#"{"id":405}"#, r#"{"id":406}"#] {
        is_fault_of_the_result(&settle(tool.clone(), unfit).await);
    }
    // A failure that brings no data has none that could be wrong.
    let settled = settle(tool, r#"{"id":2}"#).await;
    assert_eq!(settled.outcome.as_str(), "failed");
    assert_eq!(settled.text(), "come back tomorrow");
}

#[tokio::test]
async fn a_failure_is_encoded_by_a_codec_of_its_own() {
    let tool = Tool::fallible_with_codecs("Finds", Serde::new(), Serde::new(), Codes, find);
    let tool = Tool::from(tool);
    assert_eq!(
        tool.failure().unwrap().as_value(),
        &json!({"type": "string"})
    );
    assert_eq!(
        output(&settle(tool.clone(), r#"{"id":1}"#).await),
        &json!(1)
    );
    let settled = settle(tool, r#"{"id":406}"#).await;
    assert_eq!(settled.text(), "nobody has the number 406");
    assert_eq!(settled.structured(), Some(&json!("E406")));
}

#[tokio::test]
async fn a_tool_without_types_declares_its_failures_and_is_held_to_them() {
    let schema = json!({"type": "object", "required": ["code"]});
    let fits = failing(json!({"code": 7})).failure_schema(schema.clone());
    let settled = settle(fits, "{}").await;
    assert_eq!(settled.outcome.as_str(), "failed");
    assert_eq!(settled.structured(), Some(&json!({"code": 7})));
    let unfit = failing(json!({"canary": 7})).failure_schema(schema);
    is_fault_of_the_result(&settle(unfit.clone(), "{}").await);
    let settled = settle(unfit.advisory_output(), "{}").await;
    assert_eq!(settled.structured(), Some(&json!({"canary": 7})));
}

#[test]
fn a_failure_schema_that_cannot_be_used_is_refused_at_definition() {
    for schema in [json!("none"), json!({"type": "nothing"})] {
        let tool = failing(json!({})).failure_schema(schema.clone());
        let refused = open().build().register([("tool", tool)]).unwrap_err();
        let problem = &refused.refused()[0].problems()[0];
        assert_eq!(problem.kind(), ProblemKind::Schema, "{schema}");
        assert!(problem.to_string().contains("failure"), "{problem}");
    }
}
