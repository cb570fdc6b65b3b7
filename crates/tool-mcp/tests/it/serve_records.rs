//! What is on record of calls that clients make: who decided, and what became of those that were
//! turned away.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tool_core::{
    Answer, Approver, ApproverError, Ask, BoxFuture, ClosedPolicy, Event, EventKind, Permission,
    Tool, Word,
};
use tool_mcp::Server;
use tool_registry::{Registration, Registry};

use crate::support::peer::Peer;

/// Writes down how calls were decided and how they ended.
#[derive(Clone, Default)]
struct Record(Arc<Mutex<Vec<String>>>);

impl Record {
    fn lines(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().expect("nobody panics"))
    }

    fn take(&self, event: &Event<'_>) {
        let who = event.facts.identification();
        let who = who.and_then(|who| who.principal.as_deref());
        let line = match &event.kind {
            EventKind::Answered { approved, by, .. } => format!("answered {approved} {by:?}"),
            EventKind::Received { arguments, .. } => {
                format!("received {}", arguments.is_some())
            }
            EventKind::Settled(settlement) => {
                let kind = settlement.outcome.kind().unwrap_or("-");
                let outcome = settlement.outcome.as_str();
                let call = settlement.call.as_ref().map(ToString::to_string);
                let call = call.unwrap_or_default();
                format!("{call}: {} {outcome} {kind} {who:?}", event.tool)
            }
            _ => return,
        };
        self.0.lock().expect("nobody panics").push(line);
    }
}

/// An approver who says yes.
struct Ada;

impl Approver for Ada {
    fn ask<'a>(&'a self, _: Ask<'a>) -> BoxFuture<'a, Result<Word, ApproverError>> {
        Box::pin(async { Ok(Answer::Approved.by("ada")) })
    }
}

/// A server of which every call is asked about.
struct Asking {
    server: Server,
    record: Record,
    _registration: Registration,
}

fn asking() -> Asking {
    let record = Record::default();
    let told = record.clone();
    let registry = Registry::builder()
        .permission(Permission::new(ClosedPolicy, Ada))
        .events(move |event: &Event<'_>| told.take(event))
        .build();
    let look = |_: Value, _| async { Ok(json!("seen")) };
    let look = Tool::dynamic("Looks", json!({"type": "object"}), look);
    let hang = |_: Value, _| async { Ok(std::future::pending::<Value>().await) };
    let hang = Tool::dynamic("Hangs", json!({"type": "object"}), hang);
    let registration = registry.register([("look", look), ("hang", hang)]);
    Asking {
        server: Server::new(registry),
        record,
        _registration: registration.expect("well defined"),
    }
}

fn stateless(name: &str, capabilities: Value) -> Value {
    json!({"name": name, "arguments": {"a": 1}, "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    }})
}

async fn peer(asking: &Asking, capabilities: Value) -> Peer {
    let mut peer = Peer::unconnected(&asking.server);
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": capabilities});
    peer.ask(0, "initialize", params).await;
    peer
}

#[tokio::test]
async fn the_word_of_a_client_is_told_from_an_error_and_from_an_approvers() {
    let asking = asking();
    let yes = json!({"result": {"action": "accept", "content": {"approve": true}}});
    let no = json!({"result": {"action": "decline"}});
    let error = json!({"error": {"code": -32603, "message": "it has no window"}});
    for (word, answered, outcome) in [
        (yes, "answered true Some(\"client\")", "completed -"),
        (no, "answered false Some(\"client\")", "refused declined"),
        (error, "answered false None", "refused declined"),
    ] {
        let mut peer = peer(&asking, json!({"elicitation": {}})).await;
        peer.request(1, "tools/call", json!({"name": "look"})).await;
        let mut reply = word;
        reply["jsonrpc"] = "2.0".into();
        reply["id"] = peer.receive().await["id"].clone();
        peer.send(&reply).await;
        peer.receive().await;
        let lines = asking.record.lines();
        assert_eq!(lines[1], "1: look suspended - None");
        assert!(lines.contains(&answered.to_owned()), "{lines:?}");
        assert_eq!(lines.last(), Some(&format!("1: look {outcome} None")));
    }
    let mut peer = peer(&asking, json!({})).await;
    peer.call(1, "look", json!({})).await;
    let expected = [
        "received true",
        "answered true Some(\"ada\")",
        "1: look completed - None",
    ];
    assert_eq!(asking.record.lines(), expected);
}

#[tokio::test]
async fn a_client_that_can_only_open_pages_leaves_questions_to_the_approver() {
    let asking = asking();
    let pages = json!({"elicitation": {"url": {}}});
    let mut handshake = peer(&asking, pages.clone()).await;
    let answer = handshake.call(1, "look", json!({})).await;
    assert_eq!(answer["result"]["content"][0]["text"], "seen");
    let mut without = Peer::unconnected(&asking.server);
    let params = stateless("look", pages);
    let answer = without.ask(1, "tools/call", params).await;
    assert_eq!(answer["result"]["content"][0]["text"], "seen");
    let expected = [
        "received true",
        "answered true Some(\"ada\")",
        "1: look completed - None",
    ];
    assert_eq!(asking.record.lines(), [expected, expected].concat());
}

#[tokio::test]
async fn a_call_that_is_turned_away_is_on_record_once() {
    let asking = asking();
    let mut peer = Peer::unconnected(&asking.server);
    let can = json!({"elicitation": {}});
    // A state of nobody, and one of another request.
    let mut forged = stateless("look", can.clone());
    forged["requestState"] = "bm9ib2R5".into();
    peer.ask(1, "tools/call", forged).await;
    let first = peer
        .ask(2, "tools/call", stateless("look", can.clone()))
        .await;
    let mut other = stateless("hang", can.clone());
    other["requestState"] = first["result"]["requestState"].clone();
    peer.ask(3, "tools/call", other).await;
    let expected = [
        "received true",
        "1: look refused resume None",
        "received true",
        "2: look suspended - None",
        "received true",
        "3: hang refused resume None",
    ];
    assert_eq!(asking.record.lines(), expected);

    // What does not fit the protocol, what says too little of itself, and an id that is taken.
    peer.ask(4, "tools/call", json!({"name": 5})).await;
    let mut misfit = stateless("look", can.clone());
    misfit["arguments"] = json!([]);
    peer.ask(5, "tools/call", misfit).await;
    let mut unsaid = stateless("look", can);
    let version = "io.modelcontextprotocol/protocolVersion";
    unsaid["_meta"]
        .as_object_mut()
        .expect("one")
        .remove(version);
    peer.ask(6, "tools/call", unsaid).await;
    let hangs = stateless("hang", json!({}));
    peer.request(7, "tools/call", hangs.clone()).await;
    peer.ask(7, "tools/call", hangs).await;
    let settled: Vec<_> = (asking.record.lines().into_iter())
        .filter(|line| line.contains(": "))
        .collect();
    let expected = [
        "4:  refused request None",
        "5: look refused request None",
        "6: look refused request None",
        "7: hang refused request None",
    ];
    assert_eq!(settled, expected);
    // What is no call leaves nothing.
    peer.ask(8, "tools/list", json!({"cursor": 5})).await;
    assert!(asking.record.lines().iter().all(|line| !line.contains("8")));
}

#[cfg(feature = "http")]
#[tokio::test]
async fn over_http_calls_whose_headers_disagree_are_on_record_with_their_caller() {
    use crate::support::http::{Client, request};

    let asking = asking();
    let token = tool_mcp::BearerToken::new(&"t".repeat(32)).expect("long enough");
    let address: std::net::SocketAddr = "127.0.0.1:0".parse().expect("an address");
    let options = tool_mcp::HttpOptions::new(address).token(token.principal("eve"));
    let http = asking.server.serve_http(options).await.expect("a port");
    let bearer = format!("Bearer {}", "t".repeat(32));
    let authorized = ("Authorization", bearer.as_str());
    let client = Client::new(http.address());
    let lying = [
        authorized,
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Name", "hang"),
    ];
    let call = request(1, "tools/call", stateless("look", json!({})));
    assert_eq!(client.post(&call, &lying).await.status, 400);
    // With a session that is over.
    let call = request(2, "tools/call", json!({"name": "look"}));
    let gone = [authorized, ("Mcp-Session-Id", "gone")];
    assert_eq!(client.post(&call, &gone).await.status, 404);
    let expected = [
        "received true",
        "1: look refused request Some(\"eve\")",
        "received false",
        "2: look refused request Some(\"eve\")",
    ];
    assert_eq!(asking.record.lines(), expected);
}
