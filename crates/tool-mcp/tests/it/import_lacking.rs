//! What a server needs and the client whose call it is does not say that it can do.

use serde_json::{Value, json};
use tool_core::Decision;
use tool_mcp::{Server, ServersConfig, Upstreams};

use crate::support::agreeing::{Agreeing, Speaks};
use crate::support::gateway::{Gateway, passed_on};
use crate::support::imported::server;
use crate::support::peer::{Peer, modern};
use crate::support::registry::permissive;

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
            "mode": "url", "url": PAGE, "elicitationId": "3:srv:e-1",
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

fn page(server: &str, id: &str) -> Value {
    let page = json!({"mode": "url", "url": PAGE, "elicitationId": id, "message": "Log in"});
    json!({"name": format!("{server}__page"), "arguments": {"pages": [page]}})
}

/// Has a server say that pages are done.
fn poke(server: &str, done: &[&str]) -> Value {
    json!({"name": format!("{server}__poke"), "arguments": {"done": done}})
}

/// Has a client told of all that a server said: events keep their order.
async fn hears_all_of(client: &mut Agreeing, server: &str) {
    client.ask(CALL, page(server, "end")).await;
    client.ask(CALL, poke(server, &["end"])).await;
    let end = format!("{}:{server}:end", server.len());
    while !done(client).contains(&end.as_str()) {
        client.ask("ping", json!({})).await;
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_page_that_is_done_is_told_once_to_the_client_that_was_shown_it_and_to_nobody_else() {
    let gateway = Gateway::of("holding", Decision::Allow).await;
    let mut client = Agreeing::of(&gateway.server, Speaks::Handshake).await;
    let mut other = Agreeing::of(&gateway.server, Speaks::Handshake).await;
    let mut later = Agreeing::of(&gateway.server, Speaks::Stateless).await;
    client.ask(CALL, page("srv", "its")).await;
    other.ask(CALL, page("srv", "the others")).await;
    let ids = ["its", "nobodys", "its", "the others"];
    later.ask(CALL, poke("srv", &ids)).await;
    for (client, expected) in [(&mut client, "3:srv:its"), (&mut other, "3:srv:the others")] {
        client.ask(CALL, poke("srv", &ids)).await;
        hears_all_of(client, "srv").await;
        assert_eq!(done(client), [expected, "3:srv:end"]);
    }
    assert!(done(&later).is_empty());
}

#[tokio::test]
async fn a_page_that_was_shown_in_the_middle_of_a_call_is_told_to_be_done_once() {
    let gateway = Gateway::of("holding", Decision::Allow).await;
    let mut client = Agreeing::of(&gateway.server, Speaks::Handshake).await;
    let shows = json!({"name": "srv__shows", "arguments": {"id": "mid"}});
    let answer = client.ask(CALL, shows).await;
    assert_eq!(answer["result"]["content"][0]["text"], "accept", "{answer}");
    assert_eq!(client.asked.len(), 1);
    assert_eq!(client.asked[0].1["elicitationId"], "3:srv:mid");
    client.ask(CALL, poke("srv", &["mid", "mid"])).await;
    hears_all_of(&mut client, "srv").await;
    assert_eq!(done(&client), ["3:srv:mid", "3:srv:end"]);
}

#[tokio::test]
async fn pages_of_two_servers_have_two_ids_and_each_server_says_of_its_own_that_they_are_done() {
    let config = ["a", "b"]
        .into_iter()
        .fold(ServersConfig::default(), |config, name| {
            config.with(server(name, "holding"))
        });
    let registry = permissive().build();
    let upstreams = Upstreams::builder(config)
        .inputs(passed_on(Decision::Allow))
        .connect(&registry);
    upstreams.settled().await;
    let server = Server::new(registry).offerings(upstreams.offerings());
    let mut client = Agreeing::of(&server, Speaks::Handshake).await;
    for (server, expected) in [("a", "1:a:1"), ("b", "1:b:1")] {
        let answer = client.ask(CALL, page(server, "1")).await;
        let shown = &answer["error"]["data"]["elicitations"][0]["elicitationId"];
        assert_eq!(*shown, expected, "{answer}");
    }
    // Neither does it help a server to know how the page of another one is shown.
    client.ask(CALL, poke("a", &["1", "1:b:1"])).await;
    hears_all_of(&mut client, "a").await;
    assert_eq!(done(&client), ["1:a:1", "1:a:end"]);
    client.ask(CALL, poke("b", &["1"])).await;
    hears_all_of(&mut client, "b").await;
    assert_eq!(done(&client)[2..], ["1:b:1", "1:b:end"]);
    upstreams.shutdown().await;
}

#[tokio::test]
async fn a_page_with_an_id_that_is_too_long_is_shown_and_not_told_to_be_done() {
    let gateway = Gateway::of("holding", Decision::Allow).await;
    let mut client = Agreeing::of(&gateway.server, Speaks::Handshake).await;
    let long = "x".repeat(1_025);
    let answer = client.ask(CALL, page("srv", &long)).await;
    assert_eq!(answer["error"]["code"], -32042, "{answer}");
    client.ask(CALL, poke("srv", &[&long])).await;
    assert_eq!(gateway.srv.status().stray_messages, 1);
    hears_all_of(&mut client, "srv").await;
    assert_eq!(done(&client), ["3:srv:end"]);
}

#[tokio::test]
async fn a_page_is_told_to_be_done_in_no_revision_without_that_message() {
    let gateway = Gateway::of("stateless", Decision::Allow).await;
    let mut client = Agreeing::of(&gateway.server, Speaks::Handshake).await;
    let ask = json!({"name": "srv__ask", "arguments": {"url": PAGE}});
    client.ask(CALL, ask).await;
    assert_eq!(client.asked.len(), 1);
    assert_eq!(client.asked[0].1["elicitationId"], "3:srv:e-1");
    let tell = json!({"name": "srv__echo", "arguments": {"done": "e-1"}});
    client.ask(CALL, tell).await;
    // It was counted ahead of the answer, and sent to nobody.
    assert_eq!(gateway.srv.status().stray_messages, 1);
    assert!(done(&client).is_empty());
}
