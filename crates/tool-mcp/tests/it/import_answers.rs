//! What counts as an answer of an imported tool, and what does not.

use serde_json::{Value, json};
use tool_core::Outcome;

use crate::import_http::{Remote, new};
use crate::support::http_server::HttpServer;

/// Calls a tool that answers with exactly that.
async fn answered(result: Value) -> tool_core::Settlement {
    let server = HttpServer::start(move |asked| new(asked, |asked| asked.result(result.clone())));
    let server = server.await;
    let remote = Remote::new(server.url(), |config| config).await;
    remote.call("echo", json!({})).await
}

#[tokio::test]
async fn what_an_old_server_gives_beside_empty_content_is_the_answer() {
    let earlier = json!({"rows": [1, 2]});
    for result in [
        json!({"content": [], "toolResult": earlier}),
        json!({"toolResult": earlier}),
        json!({"content": null, "toolResult": earlier}),
    ] {
        let settlement = answered(result).await;
        assert!(matches!(settlement.outcome, Outcome::Completed));
        assert_eq!(settlement.output(), Some(&earlier));
        assert_eq!(settlement.text(), r#"{"rows":[1,2]}"#);
    }
    let failed = answered(json!({"toolResult": {"code": 3}, "isError": true})).await;
    assert!(matches!(failed.outcome, Outcome::Failed(_)));
    assert_eq!(failed.structured(), Some(&json!({"code": 3})));
}

#[tokio::test]
async fn content_and_structure_are_the_answer_before_what_is_old() {
    let block = json!([{"type": "text", "text": "new"}]);
    let settlement = answered(json!({"content": block, "toolResult": "old"})).await;
    assert_eq!(
        (settlement.text().as_str(), settlement.output()),
        ("new", None)
    );
    let both = json!({"content": [], "structuredContent": {"a": 1}, "toolResult": "old"});
    assert_eq!(answered(both).await.output(), Some(&json!({"a": 1})));
    let nothing = answered(json!({"content": []})).await;
    assert!(matches!(nothing.outcome, Outcome::Completed));
    assert_eq!(nothing.text(), "");
}

#[tokio::test]
async fn of_an_answer_that_cannot_be_read_its_shape_is_told_and_nothing_else() {
    for (result, shape) in [
        (json!("SECRET"), "a string"),
        (json!(["SECRET", 1]), "an array of 2"),
        (json!(7), "a number"),
        (
            json!({"SECRET": 1, "result": "SECRET"}),
            "an object of 2 members with no content",
        ),
        (
            json!({"content": "SECRET"}),
            "an object of 1 members with a string for content",
        ),
        (
            json!({"content": {"SECRET": 1}, "isError": false}),
            "an object of 2 members with an object of 1 members for content",
        ),
    ] {
        let settlement = answered(result).await;
        assert!(matches!(settlement.outcome, Outcome::Failed(_)), "{shape}");
        let text = format!("server srv answered with {shape}, which is no result of a tool");
        assert_eq!(settlement.text(), text);
        assert_eq!((settlement.output, settlement.meta), (None, None));
    }
}
