//! Tokens of clients that are kept, added and revoked.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use tool_core::{State, StateReading};
use tool_mcp::{BearerToken, ClientTokens, HttpOptions, HttpServer, TokensError};
use tool_registry::MemoryState;
use tool_testkit::state::{Between, Fault, Operation};

use crate::support::eventually;
use crate::support::http::{Client, request};
use crate::support::peer::modern;
use crate::support::served::{Served, served};

fn kept() -> (Arc<Between>, ClientTokens) {
    let state = Arc::new(Between::new(Arc::new(MemoryState::default())));
    let tokens = ClientTokens::new(Arc::clone(&state) as Arc<dyn State>);
    (state, tokens)
}

async fn listening(tokens: &ClientTokens) -> (HttpServer, Served) {
    let served = served();
    let options =
        HttpOptions::new(SocketAddr::from(([127, 0, 0, 1], 0))).kept_tokens(tokens.clone());
    let http = served.server.serve_http(options).await.expect("it listens");
    (http, served)
}

fn bearer(token: &BearerToken) -> String {
    format!("Bearer {}", token.expose())
}

async fn status(client: &Client, shown: &str) -> u16 {
    let list = request(1, "tools/list", modern(json!({})));
    let headers = [
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "tools/list"),
        ("Authorization", shown),
    ];
    client.post(&list, &headers).await.status
}

/// Asks until the answer has that status, and fails after a minute.
async fn until(client: &Client, shown: &str, wanted: u16) {
    let patience = Instant::now() + Duration::from_secs(60);
    while status(client, shown).await != wanted {
        assert!(Instant::now() < patience, "never answered with {wanted}");
    }
}

async fn pass(seconds: u64) {
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(seconds)).await;
    tokio::time::resume();
}

async fn pass_two_seconds() {
    pass(2).await;
}

/// Begins a session, and tells its id.
async fn session(client: &Client, shown: &str) -> String {
    let begin = request(
        0,
        "initialize",
        json!({"protocolVersion": "2025-11-25",
        "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}),
    );
    let begun = client.post(&begin, &[("Authorization", shown)]).await;
    begun.headers["mcp-session-id"].clone()
}

/// Lists the tools in a session, and tells the status of the answer.
async fn status_in(client: &Client, session: &str, shown: &str) -> u16 {
    let list = request(1, "tools/list", json!({}));
    let headers = [("Mcp-Session-Id", session), ("Authorization", shown)];
    client.post(&list, &headers).await.status
}

#[tokio::test]
async fn a_token_is_one_principals_and_its_secret_is_kept_nowhere() {
    let (state, tokens) = kept();
    let ann = tokens.add("ann").await.expect("it is kept");
    let bob = tokens.add("bob").await.expect("it is kept");
    assert_ne!(ann.expose(), bob.expose());
    let StateReading::Value(text, _) = state.read("mcp/clients", None).await.expect("it is read")
    else {
        panic!("nothing is kept");
    };
    let text = String::from_utf8(text).expect("text");
    assert!(
        text.contains("ann") && !text.contains(ann.expose()),
        "{text}"
    );
    let again = tokens.add("ann").await.expect_err("it is taken");
    assert_eq!(again.to_string(), "client ann has a token; revoke it first");
    let names: Vec<_> = tokens
        .list()
        .await
        .expect("it is read")
        .into_iter()
        .map(|it| it.name)
        .collect();
    assert_eq!(names, ["ann", "bob"]);
}

#[tokio::test]
async fn a_name_has_a_least_and_a_most_and_nothing_that_acts_on_a_log() {
    let (_state, tokens) = kept();
    for name in ["a", &"x".repeat(64), "a.b_c-D9"] {
        tokens.add(name).await.expect("it is a name");
    }
    for name in ["", &"x".repeat(65), "a b", "a\n", "é", "a/b"] {
        let error = tokens.add(name).await.expect_err("it is none");
        assert!(matches!(error, TokensError::Name { .. }), "{error}");
    }
}

#[tokio::test]
async fn s35_a_session_is_no_proof_of_who_asks() {
    let (_state, tokens) = kept();
    let (ann, bob) = (
        tokens.add("ann").await.expect("kept"),
        tokens.add("bob").await.expect("kept"),
    );
    let (http, _served) = listening(&tokens).await;
    assert!(http.made_up_token().is_none());
    let client = Client::new(http.address());
    let (ann, bob) = (bearer(&ann), bearer(&bob));
    let first = session(&client, &ann).await;
    let other = session(&client, &ann).await;
    assert!(first != other && first.len() >= 32);
    let list = request(1, "tools/list", json!({}));
    let alone = client.post(&list, &[("Mcp-Session-Id", &first)]).await;
    assert_eq!(alone.status, 401);
    assert_eq!(status_in(&client, &first, &bob).await, 404);
    assert_eq!(status_in(&client, &first, &ann).await, 200);
    let made_up = "0123456789abcdef0123456789abcdef";
    assert_eq!(status_in(&client, made_up, &ann).await, 404);
}

#[tokio::test]
async fn a_token_that_is_revoked_ends_what_its_client_has_going_on_and_nobody_elses() {
    let (_state, tokens) = kept();
    let ann = bearer(&tokens.add("ann").await.expect("kept"));
    let bob = bearer(&tokens.add("bob").await.expect("kept"));
    let (http, served) = listening(&tokens).await;
    let client = Client::new(http.address());
    let hang = request(
        1,
        "tools/call",
        modern(json!({"name": "hang", "arguments": {}})),
    );
    let (hers, his) = (session(&client, &ann).await, session(&client, &bob).await);
    let mut open = Vec::new();
    for shown in [&ann, &bob] {
        let headers = [
            ("MCP-Protocol-Version", "2026-07-28"),
            ("Mcp-Method", "tools/call"),
            ("Mcp-Name", "hang"),
            ("Authorization", shown.as_str()),
        ];
        // Both are answered with nothing for now.
        let (client, hang, headers) = (
            Client::new(http.address()),
            hang.clone(),
            headers.map(|(a, b)| (a, b.to_owned())),
        );
        open.push(tokio::spawn(async move {
            let headers: Vec<_> = headers.iter().map(|(a, b)| (*a, b.as_str())).collect();
            client.post(&hang, &headers).await
        }));
    }
    eventually("both run", || served.running.count() == 2).await;
    assert!(tokens.revoke("ann").await.expect("it is kept"));
    pass_two_seconds().await;
    eventually("hers is over", || served.running.count() == 1).await;
    assert_eq!(status(&client, &ann).await, 401);
    assert_eq!(status(&client, &bob).await, 200);
    let again = bearer(&tokens.add("ann").await.expect("her name is free"));
    pass_two_seconds().await;
    until(&client, &again, 200).await;
    // A session of the one that was revoked is nobody's, of her name or not.
    assert_eq!(status_in(&client, &hers, &again).await, 404);
    assert_eq!(status_in(&client, &his, &bob).await, 200);
}

#[tokio::test]
async fn while_tokens_cannot_be_read_nobody_comes_in_by_one() {
    let (state, tokens) = kept();
    let ann = bearer(&tokens.add("ann").await.expect("kept"));
    let (http, _served) = listening(&tokens).await;
    let client = Client::new(http.address());
    assert_eq!(status(&client, &ann).await, 200);
    state.set(Operation::Read, Some(Fault::Fails("the disk is gone")));
    pass_two_seconds().await;
    until(&client, &ann, 503).await;
    let options = HttpOptions::new(SocketAddr::from(([127, 0, 0, 1], 0))).kept_tokens(tokens);
    let error = served()
        .server
        .serve_http(options)
        .await
        .expect_err("nobody knows who may come");
    assert_eq!(error.to_string(), "tokens of clients cannot be used");
}

#[tokio::test]
async fn while_the_state_does_not_answer_nobody_comes_in_by_a_token_of_it() {
    let (state, tokens) = kept();
    let ann = bearer(&tokens.add("ann").await.expect("kept"));
    let (http, _served) = listening(&tokens).await;
    let client = Client::new(http.address());
    assert_eq!(status(&client, &ann).await, 200);
    state.set(Operation::Read, Some(Fault::Hangs));
    pass_two_seconds().await;
    pass(5).await;
    until(&client, &ann, 503).await;
    state.set(Operation::Read, None);
    pass_two_seconds().await;
    until(&client, &ann, 200).await;
}

#[tokio::test]
async fn without_any_token_one_is_made_up_and_one_that_is_added_later_counts() {
    let (_state, tokens) = kept();
    let (http, _served) = listening(&tokens).await;
    let client = Client::new(http.address());
    let made_up = format!(
        "Bearer {}",
        http.made_up_token().expect("one is made up").expose()
    );
    assert_eq!(status(&client, &made_up).await, 200);
    let ann = bearer(&tokens.add("ann").await.expect("kept"));
    pass_two_seconds().await;
    until(&client, &ann, 200).await;
    assert_eq!(status(&client, &made_up).await, 200);
}
