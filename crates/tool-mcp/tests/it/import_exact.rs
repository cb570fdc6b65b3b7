//! What servers answer, to the last digit, and what of it is not what they promised.

use serde_json::json;
use tool_core::Outcome;

use crate::support::imported::Imported;

#[tokio::test]
async fn numbers_are_exact_and_those_that_no_value_holds_are_kept_as_written() {
    let srv = Imported::new("misbehaving").await;
    let settlement = srv.call("exact", json!({})).await;
    let output = settlement.output().expect("it is structured");
    assert_eq!(output["exact"].to_string(), "9007199254740993");
    assert_eq!(output["short"].to_string(), "0.1");
    let meta = settlement.meta.as_ref().expect("it is told");
    assert_eq!(
        meta["tool-runtime/rounded"],
        json!({"/structuredContent/long": "123456789012345678901234567890.12345"})
    );
    // Arguments go out with every digit, too.
    srv.call(
        "echo",
        json!({"n": 1, "big": 18_446_744_073_709_551_615_u64, "x": 0.1}),
    )
    .await;
    let sent = srv.transcript().into_iter();
    let sent = sent.filter(|message| message["params"]["name"] == "echo");
    let arguments: Vec<_> = sent
        .map(|call| call["params"]["arguments"].to_string())
        .collect();
    assert_eq!(arguments, [r#"{"big":18446744073709551615,"n":1,"x":0.1}"#]);
}

#[tokio::test]
async fn output_that_is_not_what_its_schema_says_is_given_with_a_warning() {
    let srv = Imported::new("misbehaving").await;
    let settlement = srv.call("lies", json!({})).await;
    assert!(matches!(settlement.outcome, Outcome::Completed));
    assert_eq!(settlement.output(), Some(&json!({"a": "five"})));
    assert_eq!(settlement.text(), "t");
    let meta = settlement.meta.as_ref().expect("there is a warning");
    let warning = &meta["tool-runtime/output_mismatch"];
    assert!(
        warning[0].as_str().is_some_and(|text| text.contains("/a")),
        "{warning}"
    );
    assert!(!warning.to_string().contains("five"));

    let settlement = srv.call("silent-success", json!({})).await;
    assert!(matches!(settlement.outcome, Outcome::Completed));
    assert!(
        settlement
            .meta
            .is_some_and(|meta| meta.contains_key("tool-runtime/output_mismatch"))
    );
}

#[tokio::test]
async fn an_error_is_never_held_against_the_schema_of_output() {
    let srv = Imported::new("misbehaving").await;
    let settlement = srv.call("lies-in-error", json!({})).await;
    assert!(matches!(settlement.outcome, Outcome::Failed(_)));
    assert_eq!(settlement.text(), "bad");
    assert_eq!(settlement.structured(), Some(&json!({"a": "five"})));
    assert!(settlement.output.is_none());
    let meta = settlement.meta.unwrap_or_default();
    assert!(!meta.contains_key("tool-runtime/output_mismatch"));
}
