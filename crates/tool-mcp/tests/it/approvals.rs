//! Calls that need a person's word, which the client is asked for.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use tool_core::Tool;
use tool_mcp::Server;
use tool_registry::Registration;

use crate::support::peer::Peer;
use crate::support::registry::permissive;

/// A server with a tool that needs approval, and how often that ran.
struct Guarded {
    server: Server,
    ran: Arc<AtomicUsize>,
    _registration: Registration,
}

fn guarded() -> Guarded {
    let ran = Arc::<AtomicUsize>::default();
    let inside = Arc::clone(&ran);
    let erase = Tool::dynamic(
        "Erases",
        json!({"type": "object", "properties": {"path": {"type": "string"}}}),
        move |_: Value, _| {
            inside.fetch_add(1, Ordering::SeqCst);
            async move { Ok(json!("erased")) }
        },
    )
    .needs_approval(true);
    let registry = permissive().build();
    let registration = registry.register([("erase", erase)]).expect("well defined");
    Guarded {
        server: Server::new(registry),
        ran,
        _registration: registration,
    }
}

impl Guarded {
    fn ran(&self) -> usize {
        self.ran.load(Ordering::SeqCst)
    }

    async fn peer(&self, capabilities: Value) -> Peer {
        let mut peer = Peer::unconnected(&self.server);
        let params = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": capabilities,
            "clientInfo": {"name": "test", "version": "1"},
        });
        peer.ask(0, "initialize", params).await;
        peer
    }
}

fn call(path: &str) -> Value {
    json!({"name": "erase", "arguments": {"path": path}})
}

fn stateless(mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
    });
    params
}

/// The second round of a call.
fn again(path: &str, word: Value, state: &Value) -> Value {
    let mut params = stateless(call(path));
    params["inputResponses"] = json!({"approval": word});
    params["requestState"] = state.clone();
    params
}

fn approve() -> Value {
    json!({"action": "accept", "content": {"approve": true}})
}

#[tokio::test]
async fn a_client_with_a_handshake_is_asked_while_the_call_waits() {
    let guarded = guarded();
    for (word, runs) in [
        (json!({"action": "decline"}), 0),
        (
            json!({"action": "accept", "content": {"approve": false}}),
            0,
        ),
        // Neither an answer without a word nor an error is an approval.
        (json!({"action": "accept"}), 0),
        (json!({"action": "accept", "content": {}}), 0),
        (approve(), 1),
    ] {
        let mut peer = guarded.peer(json!({"elicitation": {}})).await;
        peer.request(1, "tools/call", call("a")).await;
        let asked = peer.receive().await;
        assert_eq!(asked["method"], "elicitation/create");
        let message = asked["params"]["message"].as_str().expect("it is text");
        assert!(message.contains("erase") && message.contains(r#"{"path":"a"}"#));
        assert_eq!(guarded.ran(), 0);
        peer.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": word}))
            .await;
        let answer = peer.receive().await;
        assert_eq!(answer["result"]["isError"], runs == 0, "{word}");
        assert_eq!(guarded.ran(), runs, "{word}");
    }
}

#[tokio::test]
async fn a_client_without_a_handshake_calls_again_with_the_word() {
    let guarded = guarded();
    let mut peer = Peer::unconnected(&guarded.server);
    let first = peer.ask(1, "tools/call", stateless(call("a"))).await["result"].clone();
    assert_eq!(first["resultType"], "input_required");
    assert_eq!(
        first["inputRequests"]["approval"]["method"],
        "elicitation/create"
    );
    let state = &first["requestState"];
    // Nobody can read what it holds.
    assert!(!state.as_str().expect("it is text").contains("erase"));

    // Other arguments were not approved.
    let answer = peer
        .ask(2, "tools/call", again("b", approve(), state))
        .await;
    assert_eq!(answer["error"]["code"], -32602);
    // What is no word is asked for again, and decides nothing.
    let params = again("a", json!({"action": "accept"}), state);
    let answer = peer.ask(3, "tools/call", params).await;
    assert_eq!(answer["result"]["resultType"], "input_required");
    assert_eq!(guarded.ran(), 0);

    let answer = peer
        .ask(4, "tools/call", again("a", approve(), state))
        .await;
    assert_eq!(answer["result"]["content"][0]["text"], "erased");
    assert_eq!(guarded.ran(), 1);
    // A word is good once.
    let answer = peer
        .ask(5, "tools/call", again("a", approve(), state))
        .await;
    assert_eq!(answer["result"]["isError"], true);
    assert_eq!(guarded.ran(), 1);
}

#[tokio::test]
async fn a_state_is_of_no_use_to_another_client_or_another_server() {
    let guarded = guarded();
    let mut peer = Peer::unconnected(&guarded.server);
    let first = peer.ask(1, "tools/call", stateless(call("a"))).await["result"].clone();
    let params = again("a", approve(), &first["requestState"]);
    let mut other_client = Peer::unconnected(&guarded.server);
    let mut other_server = Peer::unconnected(&Server::new(permissive().build()));
    for other in [&mut other_client, &mut other_server] {
        let answer = other.ask(1, "tools/call", params.clone()).await;
        assert_eq!(answer["error"]["code"], -32602);
    }
    assert_eq!(guarded.ran(), 0);
}

#[tokio::test]
async fn a_client_that_cannot_ask_is_refused_by_name() {
    let guarded = guarded();
    let mut peer = guarded.peer(json!({})).await;
    let answer = peer.ask(1, "tools/call", call("a")).await;
    assert_eq!(answer["result"]["isError"], true);
    let text = answer["result"]["content"][0]["text"]
        .as_str()
        .expect("it is text");
    assert!(text.contains("erase"), "{text}");
    // Nor is one asked where the host keeps questions to itself.
    let host = Guarded {
        server: guarded.server.clone().leave_questions(),
        ran: Arc::clone(&guarded.ran),
        _registration: guarded._registration,
    };
    let mut peer = host.peer(json!({"elicitation": {}})).await;
    peer.request(1, "tools/call", call("a")).await;
    assert_eq!(peer.receive().await["result"]["isError"], true);
    assert_eq!(host.ran(), 0);
}

#[cfg(feature = "http")]
#[tokio::test]
async fn a_client_that_takes_no_stream_is_refused_and_not_asked_for_ever() {
    use crate::support::http::{Client, request};

    let guarded = guarded();
    let address = "127.0.0.1:0".parse().expect("an address");
    let options = tool_mcp::HttpOptions::new(address).allow_anyone_unchecked();
    let http = guarded.server.serve_http(options).await.expect("a port");
    let client = Client::connect_with(http.address(), json!({"elicitation": {}})).await;
    let json_alone = [("Accept", "application/json")];
    let request = request(1, "tools/call", call("a"));
    let asked = client.post(&request, &json_alone);
    let mut answer = tokio::time::timeout(std::time::Duration::from_secs(20), asked)
        .await
        .expect("it is answered");
    assert_eq!(answer.until(1).await["result"]["isError"], true);
    assert_eq!(guarded.ran(), 0);
}

#[tokio::test]
async fn a_call_that_is_too_long_to_be_carried_on_is_said_to_be_at_once() {
    let guarded = guarded();
    let mut peer = Peer::unconnected(&guarded.server);
    let long = "x".repeat(1024 * 1024);
    let answer = peer.ask(1, "tools/call", stateless(call(&long))).await;
    assert_eq!(answer["error"]["code"], -32602);
    let message = answer["error"]["message"].as_str().expect("text");
    assert!(
        message.starts_with("arguments and answers of the request take ")
            && message.ends_with("and the most is 1048576; send less"),
        "{message}"
    );
    assert_eq!(guarded.ran(), 0);
    let fits = "x".repeat(128 * 1024);
    let first = peer.ask(2, "tools/call", stateless(call(&fits))).await["result"].clone();
    let params = again(&fits, approve(), &first["requestState"]);
    let answer = peer.ask(3, "tools/call", params).await;
    assert_eq!(answer["result"]["content"][0]["text"], "erased");
}
