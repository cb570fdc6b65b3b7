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

/// Of which pages a client was told that they are done.
fn done(client: &Agreeing) -> Vec<&str> {
    let told = client.told.iter();
    let done = told.filter(|told| told["method"] == "notifications/elicitation/complete");
    done.filter_map(|told| told["params"]["elicitationId"].as_str())
        .collect()
}

fn page(id: &str) -> Value {
    let page = json!({"mode": "url", "url": PAGE, "elicitationId": id, "message": "Log in"});
    json!({"name": "srv__page", "arguments": {"pages": [page]}})
}

#[tokio::test]
async fn a_page_that_is_done_is_told_once_to_the_client_that_was_shown_it_and_to_nobody_else() {
    let gateway = Gateway::of("holding", Decision::Allow).await;
    let mut client = Agreeing::of(&gateway.server, Speaks::Handshake).await;
    let mut other = Agreeing::of(&gateway.server, Speaks::Handshake).await;
    let mut later = Agreeing::of(&gateway.server, Speaks::Stateless).await;
    client.ask(CALL, page("its")).await;
    other.ask(CALL, page("the others")).await;
    // The last one is where everybody has been told of those before.
    let ids = json!(["its", "nobodys", "its", "the others"]);
    let poke = json!({"name": "srv__poke", "arguments": {"done": ids}});
    later.ask(CALL, poke).await;
    for (client, expected) in [(&mut client, "its"), (&mut other, "the others")] {
        while done(client).is_empty() {
            client.ask("ping", json!({})).await;
            tokio::task::yield_now().await;
        }
        // What comes behind would have come by now: events keep their order.
        for id in ["its", "the others", "end"] {
            if id == "end" {
                client.ask(CALL, page(id)).await;
            }
            let poke = json!({"name": "srv__poke", "arguments": {"done": [id]}});
            client.ask(CALL, poke).await;
        }
        while !done(client).contains(&"end") {
            client.ask("ping", json!({})).await;
            tokio::task::yield_now().await;
        }
        assert_eq!(done(client), [expected, "end"]);
    }
    assert!(done(&later).is_empty());
}

#[tokio::test]
async fn a_page_is_told_to_be_done_in_no_revision_without_that_message() {
    let gateway = Gateway::of("stateless", Decision::Allow).await;
    let mut client = Agreeing::of(&gateway.server, Speaks::Handshake).await;
    let ask = json!({"name": "srv__ask", "arguments": {"url": PAGE}});
    client.ask(CALL, ask).await;
    assert_eq!(client.asked.len(), 1);
    assert_eq!(client.asked[0].1["elicitationId"], "e-1");
    let tell = json!({"name": "srv__echo", "arguments": {"done": "e-1"}});
    client.ask(CALL, tell).await;
    // It was counted ahead of the answer, and sent to nobody.
    assert_eq!(gateway.srv.status().stray_messages, 1);
    assert!(done(&client).is_empty());
}
