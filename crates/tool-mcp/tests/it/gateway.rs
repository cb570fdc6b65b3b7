//! Importing and serving at once: what goes in at one side comes out at the other.

use serde_json::json;
use tool_mcp::Server;

use crate::support::eventually;
use crate::support::fixture::rich;
use crate::support::imported::Imported;
use crate::support::peer::Peer;

#[tokio::test]
async fn content_passes_through_as_it_came() {
    let srv = Imported::new("ordinary").await;
    let mut peer = Peer::connect(&Server::new(srv.registry.clone())).await;
    let answer = peer.call(1, "srv__rich", json!({})).await;

    let mut expected = rich();
    // Padding is what it should be.
    expected[2]["data"] = json!("AAE=");
    // Blocks of no known sort are shown as what they are.
    for block in 6..8 {
        let text = expected[block].to_string();
        expected[block] = json!({"type": "text", "text": text});
    }
    assert_eq!(answer["result"]["content"], expected);
    assert_eq!(answer["result"]["isError"], false);
    // What was retained only the gateway itself can say.
    assert_eq!(answer["result"]["_meta"], json!({"x": 1}));
}

#[tokio::test]
async fn failures_and_structure_pass_through() {
    let srv = Imported::new("ordinary").await;
    let mut peer = Peer::connect(&Server::new(srv.registry.clone())).await;
    let answer = peer.call(1, "srv__fail", json!({})).await;
    assert_eq!(
        answer["result"],
        json!({
            "content": [{"type": "text", "text": "no such row"}],
            "structuredContent": {"code": 17},
            "isError": true,
        })
    );
    let answer = peer.call(2, "srv__structured", json!({})).await;
    assert_eq!(answer["result"]["structuredContent"], json!({"a": 1}));
}

#[tokio::test]
async fn progress_and_cancellation_pass_through() {
    let srv = Imported::new("ordinary").await;
    let mut peer = Peer::connect(&Server::new(srv.registry.clone())).await;
    let params = json!({
        "name": "srv__report",
        "arguments": {"n": 5},
        "_meta": {"progressToken": "p"},
    });
    peer.request(1, "tools/call", params).await;
    for step in 0..5 {
        assert_eq!(
            peer.receive().await["params"],
            json!({
                "progressToken": "p",
                "progress": f64::from(step),
                "total": 5.0,
                "message": format!("step {step}"),
            })
        );
    }
    assert_eq!(peer.receive().await["id"], 1);

    peer.request(2, "tools/call", json!({"name": "srv__wait"}))
        .await;
    eventually("the server is called", || srv.was_called("wait")).await;
    let cancelled = json!({
        "jsonrpc": "2.0",
        "method": "notifications/cancelled",
        "params": {"requestId": 2, "reason": "SECRET"},
    });
    peer.send(&cancelled).await;
    eventually("the server is told", || !srv.cancellations().is_empty()).await;
    assert_eq!(
        srv.cancellations()[0]["reason"],
        "the caller no longer waits"
    );
}

#[tokio::test]
async fn a_client_is_told_when_a_server_behind_the_gateway_changes() {
    let srv = Imported::new("ordinary").await;
    let mut peer = Peer::connect(&Server::new(srv.registry.clone())).await;
    peer.request(1, "tools/call", json!({"name": "srv__grow"}))
        .await;
    let (mut answered, mut told) = (false, false);
    while !(answered && told) {
        let message = peer.receive().await;
        answered |= message["id"] == 1;
        told |= message["method"] == "notifications/tools/list_changed";
    }
}

#[cfg(feature = "stdio")]
#[tokio::test]
async fn our_own_server_is_imported_over_stdio() {
    use crate::support::registry::{permissive, tools};

    let srv = Imported::new("ours").await;
    let original = permissive().build();
    let _registration = original.register(tools().0).expect("well defined");
    let definitions = |registry: &tool_registry::Registry, prefix: &str| {
        let snapshot = registry.snapshot();
        let mut definitions: Vec<serde_json::Value> = snapshot
            .definitions()
            .map(|definition| serde_json::to_value(definition).expect("it is plain data"))
            .collect();
        for definition in &mut definitions {
            let name = definition["name"].as_str().unwrap_or_default();
            definition["name"] = name.trim_start_matches(prefix).into();
        }
        definitions
    };
    assert_eq!(
        definitions(&srv.registry, "srv__"),
        definitions(&original, "")
    );
    assert_eq!(srv.status().protocol.as_deref(), Some("2026-07-28"));

    let settlement = srv.call("add", json!({"a": 1, "b": 2})).await;
    assert_eq!(settlement.output(), Some(&json!({"sum": 3})));
    let (settlement, reports) = srv.call_reporting("steps", json!({"n": 20})).await;
    assert_eq!(settlement.text(), "arrived");
    assert_eq!(reports.len(), 20);
    let settlement = srv.call("fail", json!({})).await;
    assert_eq!(settlement.structured(), Some(&json!({"code": 17})));
    srv.upstreams.shutdown().await;
}
