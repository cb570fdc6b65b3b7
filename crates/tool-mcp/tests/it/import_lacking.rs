//! What a server needs and the client whose call it is does not say that it can do.

use serde_json::{Value, json};
use tool_core::Decision;

use crate::support::agreeing::{Agreeing, Speaks};
use crate::support::gateway::Gateway;
use crate::support::peer::{Peer, modern};

const CALL: &str = "tools/call";

fn needing(needed: Value) -> Value {
    json!({"name": "srv__needs", "arguments": {"needed": needed}})
}

fn failure(answer: &Value) -> &Value {
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    &answer["result"]["content"][0]["text"]
}

#[tokio::test]
async fn a_client_that_lacks_what_a_server_needs_is_told_by_the_protocols_own_error() {
    let gateway = Gateway::of("stateless", Decision::Allow).await;
    let mut peer = Peer::unconnected(&gateway.server);
    let needed = json!({"sampling": {}, "elicitation": {"url": {}}});
    let call = needing(needed.clone());
    let answer = peer.ask(1, CALL, modern(call.clone())).await;
    assert_eq!(answer["error"]["code"], -32021, "{answer}");
    assert_eq!(
        answer["error"]["data"],
        json!({"requiredCapabilities": needed})
    );
    // One that says that it can do it is served.
    let mut able = Agreeing::of(&gateway.server, Speaks::Stateless).await;
    let answer = able.ask(CALL, call).await;
    assert_eq!(
        answer["result"]["content"][0]["text"], "it is there",
        "{answer}"
    );
    // It is told what it lacks, and not what it has.
    let mut half = modern(needing(json!({"sampling": {}, "roots": {}})));
    half["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({"roots": {}});
    let answer = peer.ask(2, CALL, half).await;
    assert_eq!(
        answer["error"]["data"],
        json!({"requiredCapabilities": {"sampling": {}}}),
        "{answer}"
    );
}

#[tokio::test]
async fn what_a_client_could_not_mend_stays_a_failure_that_the_model_reads() {
    let told = "server srv answered with error -32021: Missing";
    let sampling = || needing(json!({"sampling": {}}));
    // No rule lets the server ask for it.
    for decision in [Decision::Ask, Decision::Deny] {
        let gateway = Gateway::of("stateless", decision).await;
        let mut peer = Peer::unconnected(&gateway.server);
        assert_eq!(*failure(&peer.ask(1, CALL, modern(sampling())).await), told);
    }
    let gateway = Gateway::of("stateless", Decision::Allow).await;
    // It is nothing that is passed on.
    let mut peer = Peer::unconnected(&gateway.server);
    let tasks = json!({"sampling": {}, "extensions": {"io.modelcontextprotocol/tasks": {}}});
    assert_eq!(
        *failure(&peer.ask(1, CALL, modern(needing(tasks))).await),
        told
    );
    // The era with a handshake has no such error.
    let mut peer = Peer::connect(&gateway.server).await;
    assert_eq!(*failure(&peer.ask(1, CALL, sampling()).await), told);
}

fn pages(urls: &[&str]) -> Value {
    let pages: Vec<_> = urls
        .iter()
        .map(|url| json!({"mode": "url", "url": url, "elicitationId": "e-1", "message": "Log\u{202e} in"}))
        .collect();
    json!({"name": "srv__page", "arguments": {"pages": pages}})
}

const PAGE: &str = "https://login.example.com/x?y";

#[tokio::test]
async fn pages_that_a_server_wants_opened_reach_a_client_of_the_era_that_knows_the_error() {
    let gateway = Gateway::of("holding", Decision::Allow).await;
    let mut client = Agreeing::of(&gateway.server, Speaks::Handshake).await;
    let answer = client.ask(CALL, pages(&[PAGE])).await;
    assert_eq!(answer["error"]["code"], -32042, "{answer}");
    assert_eq!(
        answer["error"]["data"]["elicitations"],
        json!([{
            "mode": "url", "url": PAGE, "elicitationId": "e-1",
            "message": "srv asks to open a page on login.example.com: Log in",
        }])
    );
}

#[tokio::test]
async fn pages_are_passed_on_to_nobody_who_could_not_open_them_or_where_no_rule_allows_it() {
    let told = "server srv answered with error -32042: Open it";
    let gateway = Gateway::of("holding", Decision::Allow).await;
    let mut client = Agreeing::of(&gateway.server, Speaks::Handshake).await;
    // All of them are pages that are opened for a server, or none is passed on.
    for urls in [&["http://example.com/"][..], &[PAGE, "file:///x"], &[]] {
        assert_eq!(*failure(&client.ask(CALL, pages(urls)).await), told);
    }
    let mut unable = Peer::connect(&gateway.server).await;
    assert_eq!(*failure(&unable.ask(1, CALL, pages(&[PAGE])).await), told);
    let mut later = Agreeing::of(&gateway.server, Speaks::Stateless).await;
    assert_eq!(*failure(&later.ask(CALL, pages(&[PAGE])).await), told);
    let gateway = Gateway::of("holding", Decision::Ask).await;
    let mut client = Agreeing::of(&gateway.server, Speaks::Handshake).await;
    assert_eq!(*failure(&client.ask(CALL, pages(&[PAGE])).await), told);
}
