//! What becomes of a client, of its calls, and of what it is told.

use serde_json::{Value, json};
use tool_core::{Facts, Tool};
use tool_mcp::ServeErrorKind;

use crate::support::eventually;
use crate::support::peer::{Peer, modern};
use crate::support::served::served;

#[tokio::test]
async fn a_cancelled_call_is_dropped_and_not_answered() {
    let served = served();
    let mut peer = Peer::connect(&served.server).await;
    peer.request(1, "tools/call", json!({"name": "hang", "arguments": {}}))
        .await;
    eventually("the call runs", || served.running.count() == 1).await;
    peer.send(&json!({
        "jsonrpc": "2.0",
        "method": "notifications/cancelled",
        "params": {"requestId": 1, "reason": "changed my mind"},
    }))
    .await;
    eventually("the call is dropped", || served.running.count() == 0).await;
    // The next message is the answer to something else.
    peer.request(2, "tools/call", json!({"name": "greet"}))
        .await;
    assert_eq!(peer.receive().await["id"], 2);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_is_gone_takes_its_calls_with_it() {
    let served = served();
    let mut peer = Peer::connect(&served.server).await;
    peer.request(1, "tools/call", json!({"name": "hang", "arguments": {}}))
        .await;
    eventually("the call runs", || served.running.count() == 1).await;
    peer.leave()
        .await
        .expect("no panic")
        .expect("leaving is no error");
    assert_eq!(served.running.count(), 0);
}

#[tokio::test]
async fn a_server_that_is_dropped_takes_its_calls_with_it() {
    let served = served();
    let mut peer = Peer::connect(&served.server).await;
    peer.request(1, "tools/call", json!({"name": "hang", "arguments": {}}))
        .await;
    eventually("the call runs", || served.running.count() == 1).await;
    peer.serving.abort();
    eventually("the call is dropped", || served.running.count() == 0).await;
}

#[tokio::test]
async fn a_client_that_only_waits_for_answers_gets_them() {
    let served = served();
    let mut peer = Peer::connect(&served.server).await;
    for id in 1..=5 {
        peer.request(
            id,
            "tools/call",
            json!({"name": "add", "arguments": {"a": id, "b": 1}}),
        )
        .await;
    }
    peer.finish().await;
    let mut sums: Vec<_> = peer
        .rest()
        .await
        .iter()
        .filter_map(|answer| answer["result"]["structuredContent"]["sum"].as_u64())
        .collect();
    sums.sort_unstable();
    assert_eq!(sums, [2, 3, 4, 5, 6]);
}

#[tokio::test]
async fn every_client_is_told_when_the_list_changes() {
    let served = served();
    let mut first = Peer::connect(&served.server).await;
    let mut second = Peer::connect(&served.server).await;
    for peer in [&mut first, &mut second] {
        // The answer shows that the client has been taken up.
        peer.call(1, "greet", json!({})).await;
    }
    let extra = Tool::dynamic("More", json!({"type": "object"}), |_, _| async move {
        Ok(Value::Null)
    });
    let registration = served
        .registry
        .register([("extra", extra)])
        .expect("well defined");
    for peer in [&mut first, &mut second] {
        assert_eq!(
            peer.receive().await["method"],
            "notifications/tools/list_changed"
        );
    }
    drop(registration);
    for peer in [&mut first, &mut second] {
        assert_eq!(
            peer.receive().await["method"],
            "notifications/tools/list_changed"
        );
    }
}

#[tokio::test]
async fn every_connection_is_a_session_of_its_own() {
    let served = served();
    let mut facts = Vec::new();
    for _ in 0..2 {
        let mut peer = Peer::connect(&served.server).await;
        for id in [7, 8] {
            let answer = peer.call(id, "facts", json!({})).await;
            let seen = answer["result"]["structuredContent"].clone();
            assert_eq!(seen["call"], id.to_string());
            facts.push(seen["session"].as_str().expect("there is one").to_owned());
        }
    }
    assert_eq!(facts[0], facts[1]);
    assert_eq!(facts[2], facts[3]);
    assert_ne!(facts[0], facts[2]);

    let server = served
        .server
        .clone()
        .facts(Facts::new().agent("build").session("s1"));
    let mut peer = Peer::connect(&server).await;
    let answer = peer.call(1, "facts", json!({})).await;
    let seen = &answer["result"]["structuredContent"];
    assert_eq!(
        (&seen["session"], &seen["agent"]),
        (&json!("s1"), &json!("build"))
    );
}

#[tokio::test]
async fn a_subscriber_is_told_when_the_list_changes() {
    let served = served();
    let mut peer = Peer::unconnected(&served.server);
    let params = modern(json!({"notifications": {"toolsListChanged": true}}));
    peer.request(1, "subscriptions/listen", params).await;
    let acknowledged = peer.receive().await;
    assert_eq!(
        acknowledged["method"],
        "notifications/subscriptions/acknowledged"
    );
    // The answer shows that the subscription before it is being listened for.
    peer.ask(2, "tools/list", modern(json!({}))).await;
    let extra = Tool::dynamic("More", json!({"type": "object"}), |_, _| async move {
        Ok(Value::Null)
    });
    let _registration = served
        .registry
        .register([("extra", extra)])
        .expect("well defined");
    let told = peer.receive().await;
    assert_eq!(told["method"], "notifications/tools/list_changed");
    assert_eq!(
        told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"],
        1
    );
}

#[tokio::test]
async fn a_client_that_begins_with_something_else_is_an_error() {
    let served = served();
    let mut peer = Peer::unconnected(&served.server);
    peer.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
        .await;
    let error = peer
        .serving
        .await
        .expect("no panic")
        .expect_err("it is not the protocol");
    assert_eq!(error.kind(), ServeErrorKind::Client);
}

#[tokio::test]
async fn a_client_that_leaves_before_it_began_is_no_error() {
    let served = served();
    let mut peer = Peer::unconnected(&served.server);
    peer.finish().await;
    assert!(peer.serving.await.expect("no panic").is_ok());
}

#[tokio::test]
async fn a_client_that_never_reads_is_cut_off() {
    let served = served();
    let mut peer = Peer::connect(&served.server).await;
    for id in 1..=100 {
        peer.request(id, "tools/call", json!({"name": "large"}))
            .await;
    }
    eventually("the server gives up", || peer.serving.is_finished()).await;
}
