//! Who is served over HTTP, and what two clients see of each other.

use std::net::SocketAddr;

use serde_json::{Value, json};
use tool_mcp::{BearerToken, HttpOptions, HttpServer, ServeErrorKind};

use crate::support::eventually;
use crate::support::http::{Client, request};
use crate::support::peer::modern;
use crate::support::served::{Served, served};

const ANN: &str = "token-of-ann-0001";
const BOB: &str = "token-of-bob-0001";

async fn for_two() -> (HttpServer, Served) {
    let served = served();
    let token = |secret, name| BearerToken::new(secret).expect("it is one").principal(name);
    let options = HttpOptions::new(SocketAddr::from(([127, 0, 0, 1], 0)))
        .token(token(ANN, "ann"))
        .token(token(BOB, "bob"));
    let http = served.server.serve_http(options).await.expect("it listens");
    (http, served)
}

fn bearer(token: &str) -> String {
    format!("Bearer {token}")
}

fn initialize() -> Value {
    request(
        0,
        "initialize",
        json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        }),
    )
}

#[tokio::test]
async fn a_client_without_a_token_is_turned_away_in_every_way() {
    let served = served();
    let address = SocketAddr::from(([127, 0, 0, 1], 0));
    let http = served.server.serve_http(address).await.expect("it listens");
    let token = http.made_up_token().expect("one was made up").expose();
    assert!(token.len() > 40);
    let client = Client::new(http.address());
    for shown in [
        None,
        Some(bearer("wrong-token-00001")),
        Some(bearer(&token[1..])),
        Some(format!("{token} ")),
        Some(format!("Basic {token}")),
    ] {
        let headers: Vec<_> = shown
            .as_deref()
            .map(|shown| ("Authorization", shown))
            .into_iter()
            .collect();
        let answer = client.post(&initialize(), &headers).await;
        assert_eq!(answer.status, 401, "{shown:?}");
        let challenge = &answer.headers["www-authenticate"];
        assert!(challenge.starts_with("Bearer realm="), "{challenge}");
        assert_eq!(client.listen().await.status, 401);
    }
    let shown = bearer(token);
    let answer = client
        .post(&initialize(), &[("Authorization", &shown)])
        .await;
    assert_eq!(answer.status, 200);
    assert!(!format!("{:?}", http).contains(token));
}

#[tokio::test]
async fn a_session_is_of_no_use_with_the_token_of_somebody_else() {
    let (http, served) = for_two().await;
    let (ann, bob) = (bearer(ANN), bearer(BOB));
    let client = Client::new(http.address());
    let begun = client.post(&initialize(), &[("Authorization", &ann)]).await;
    let session = begun.headers["mcp-session-id"].clone();
    let call = request(1, "tools/call", json!({"name": "hang", "arguments": {}}));
    let own = [
        ("Authorization", ann.as_str()),
        ("Mcp-Session-Id", &session),
    ];
    let _open = client.post(&call, &own).await;
    eventually("the call runs", || served.running.count() == 1).await;

    let cancel = json!({
        "jsonrpc": "2.0",
        "method": "notifications/cancelled",
        "params": {"requestId": 1},
    });
    let foreign = [
        ("Authorization", bob.as_str()),
        ("Mcp-Session-Id", &session),
    ];
    for message in [&call, &cancel, &request(2, "tools/list", json!({}))] {
        assert_eq!(client.post(message, &foreign).await.status, 404);
    }
    assert_eq!(served.running.count(), 1);
    assert_eq!(client.post(&cancel, &own).await.status, 202);
    eventually("the call is dropped", || served.running.count() == 0).await;
}

#[tokio::test]
async fn a_client_without_a_handshake_is_known_by_its_token() {
    let (http, _served) = for_two().await;
    let client = Client::new(http.address());
    let call = request(
        1,
        "tools/call",
        modern(json!({"name": "facts", "arguments": {}})),
    );
    for (token, name) in [(ANN, "ann"), (BOB, "bob")] {
        let shown = bearer(token);
        let headers = [
            ("MCP-Protocol-Version", "2026-07-28"),
            ("Mcp-Method", "tools/call"),
            ("Mcp-Name", "facts"),
            ("Authorization", shown.as_str()),
        ];
        let mut answer = client.post(&call, &headers).await;
        let seen = answer.until(1).await["result"]["structuredContent"].clone();
        assert_eq!(seen["session"], name);
    }
}

#[tokio::test]
async fn a_text_that_is_no_token_is_refused() {
    for text in [
        "",
        "short",
        "with a blank inside it",
        "fünfzehn-und-mehr-zeichen",
    ] {
        let error = BearerToken::new(text).expect_err("it is none");
        assert_eq!(error.kind(), ServeErrorKind::Token);
        assert!(text.is_empty() || !error.to_string().contains(text));
    }
    assert_eq!(
        BearerToken::new(" token-of-ann-0001\n")
            .expect("it is one")
            .expose(),
        ANN
    );
    let one = BearerToken::random().expect("there is randomness");
    let two = BearerToken::random().expect("there is randomness");
    assert_ne!(one.expose(), two.expose());
    assert!(!format!("{one:?}").contains(one.expose()));
}

#[tokio::test]
async fn names_that_only_begin_like_ours_are_turned_away() {
    let (http, _served) = for_two().await;
    let client = Client::new(http.address());
    let ann = bearer(ANN);
    for (header, value) in [
        ("Host", "localhost.evil.example"),
        ("Host", "127.0.0.1.evil.example:80"),
        ("Host", "evil.example@127.0.0.1"),
        ("Host", ""),
        ("Origin", "http://localhost.evil.example"),
        ("Origin", "http://127.0.0.1@evil.example"),
        ("Origin", "file://"),
        ("Origin", "localhost"),
    ] {
        let headers = [("Authorization", ann.as_str()), (header, value)];
        let answer = client.post(&initialize(), &headers).await;
        assert!((400..404).contains(&answer.status), "{header}: {value}");
    }
}
