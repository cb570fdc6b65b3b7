//! Servers over streamable HTTP.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tool_core::{Call, Facts, Namespace, Outcome, Settlement};
use tool_mcp::{Limits, ServerConfig, ServersConfig, UpstreamState, Upstreams};
use tool_registry::Registry;

use crate::support::eventually;
use crate::support::http_server::{Asked, HttpServer, Reply};
use crate::support::registry::permissive;

pub(crate) struct Remote {
    pub(crate) registry: Registry,
    pub(crate) upstreams: Upstreams,
}

impl Remote {
    pub(crate) async fn new(url: String, set: impl FnOnce(ServerConfig) -> ServerConfig) -> Self {
        Self::with(url, Limits::default().retries(0), set).await
    }

    pub(crate) async fn with(
        url: String,
        limits: Limits,
        set: impl FnOnce(ServerConfig) -> ServerConfig,
    ) -> Self {
        let name = Namespace::new("srv").expect("it is legal");
        Self::of(
            permissive().build(),
            set(ServerConfig::http(name, url)),
            limits,
        )
        .await
    }

    /// One server of a registry that is set up otherwise.
    pub(crate) async fn of(registry: Registry, server: ServerConfig, limits: Limits) -> Self {
        let upstreams = Upstreams::builder(ServersConfig::default().with(server))
            .limits(limits)
            .connect(&registry);
        upstreams.settled().await;
        Self {
            registry,
            upstreams,
        }
    }

    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Settlement {
        let call = Call::new(format!("srv__{tool}"), arguments);
        self.registry.snapshot().settle(call, &Facts::new()).await
    }

    fn state(&self) -> UpstreamState {
        self.upstreams.statuses().remove(0).state
    }
}

fn tools(names: &[&str]) -> Value {
    let tools: Vec<_> = names
        .iter()
        .map(|name| json!({"name": name, "inputSchema": {"type": "object"}}))
        .collect();
    json!({ "tools": tools })
}

pub(crate) fn said(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

/// A server of the era with a handshake; calls are the test's.
pub(crate) fn old(asked: &Asked, call: impl FnOnce(&Asked) -> Reply) -> Reply {
    match (asked.verb.as_str(), asked.method()) {
        ("GET", _) => Reply::empty(405),
        ("DELETE", _) => Reply::empty(200),
        (_, "server/discover") => Reply::empty(400),
        (_, "initialize") => asked
            .result(json!({
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "old", "version": "1"},
            }))
            .with("mcp-session-id", "s-1"),
        (_, "tools/list") => asked.result(tools(&["echo"])),
        (_, "tools/call") => call(asked),
        _ => Reply::empty(202),
    }
}

/// A server of the era without.
pub(crate) fn new(asked: &Asked, call: impl FnOnce(&Asked) -> Reply) -> Reply {
    match asked.method() {
        "server/discover" => asked.result(json!({
            "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {}
        })),
        "tools/list" => asked.result(json!({"resultType": "complete", "tools": [
            {"name": "plain é", "inputSchema": {"type": "object", "properties": {
                "region": {"type": "string", "x-mcp-header": "Region"}}}},
            {"name": "wrong", "inputSchema": {"type": "object", "properties": {
                "region": {"type": "string", "x-mcp-header": "a b"}}}},
            {"name": "echo", "inputSchema": {"type": "object"}},
        ]})),
        "tools/call" => call(asked),
        _ => asked.error(404, -32601),
    }
}

#[tokio::test]
async fn a_server_is_listened_to_before_it_is_asked_for_anything() {
    let server = HttpServer::start(|asked| old(asked, |asked| asked.result(said("heard")))).await;
    let remote = Remote::new(server.url(), |config| config).await;
    assert_eq!(remote.call("echo", json!({})).await.text(), "heard");
    let asked = server.asked();
    let listened = asked.iter().position(|asked| asked.verb == "GET");
    let listed = asked
        .iter()
        .position(|asked| asked.method() == "tools/list");
    assert!(listened.is_some() && listened < listed, "{asked:?}");
}

#[tokio::test]
async fn a_server_with_a_handshake_keeps_its_session_its_revision_and_its_headers() {
    let server = HttpServer::start(|asked| {
        old(asked, |asked| {
            Reply::events(format!(": hi\n\n{}", asked.event(said("heard"))), true)
        })
    })
    .await;
    let remote = Remote::new(server.url(), |config| {
        config.header("X-Own", "mine").bearer_env("PATH")
    })
    .await;
    assert_eq!(remote.call("echo", json!({})).await.text(), "heard");
    let statuses = remote.upstreams.statuses();
    assert_eq!(statuses[0].protocol.as_deref(), Some("2025-06-18"));
    let token = format!("Bearer {}", std::env::var("PATH").expect("there is one"));
    for asked in server.asked() {
        assert_eq!(asked.header("x-own"), Some("mine"));
        assert_eq!(asked.header("authorization"), Some(token.as_str()));
        if asked.verb == "POST" {
            let accept = asked.header("accept");
            assert_eq!(accept, Some("application/json, text/event-stream"));
        }
    }
    for method in ["notifications/initialized", "tools/list", "tools/call"] {
        let asked = server.first(method).expect("it was sent");
        assert_eq!(asked.header("mcp-session-id"), Some("s-1"), "{method}");
        assert_eq!(asked.header("mcp-protocol-version"), Some("2025-06-18"));
    }
    assert!(
        server
            .first("initialize")
            .is_some_and(|asked| asked.header("mcp-session-id").is_none())
    );
    remote.upstreams.shutdown().await;
    let ended = server
        .asked()
        .into_iter()
        .any(|asked| asked.verb == "DELETE");
    assert!(ended, "the session is ended");
}

#[tokio::test]
async fn a_server_without_a_handshake_is_told_in_headers_what_stands_in_the_body() {
    let server = HttpServer::start(|asked| new(asked, |asked| asked.result(said("heard")))).await;
    let remote = Remote::new(server.url(), |config| config).await;
    let UpstreamState::Ready { refused, .. } = remote.state() else {
        panic!("it is {:?}", remote.state());
    };
    assert_eq!(refused.len(), 1);
    assert_eq!(refused[0].name, "wrong");
    let snapshot = remote.registry.snapshot();
    let wire = snapshot
        .entries()
        .find(|entry| entry.identity().name().as_str() == "plain é")
        .map(|entry| entry.wire_name().as_str().to_owned())
        .expect("it is there");
    let call = Call::new(wire, json!({"region": "eu"}));
    assert_eq!(snapshot.settle(call, &Facts::new()).await.text(), "heard");
    let called = server.first("tools/call").expect("it was called");
    assert_eq!(called.header("mcp-protocol-version"), Some("2026-07-28"));
    assert_eq!(called.header("mcp-method"), Some("tools/call"));
    assert_eq!(called.header("mcp-name"), Some("=?base64?cGxhaW4gw6k=?="));
    assert_eq!(called.header("mcp-param-region"), Some("eu"));
    let discovered = server.first("server/discover").expect("it was asked");
    assert_eq!(discovered.header("mcp-method"), Some("server/discover"));
    assert!(server.first("initialize").is_none());
}

#[tokio::test]
async fn a_stream_that_breaks_off_is_taken_up_where_it_was() {
    let server = HttpServer::start(|asked| {
        if asked.verb == "GET" && asked.header("last-event-id") == Some("e-7") {
            // The call that waits is the fourth request.
            let answer = json!({"jsonrpc": "2.0", "id": 4, "result": said("after all")});
            return Reply::events(format!("data: {answer}\n\n"), true);
        }
        old(asked, |asked| {
            assert_eq!(asked.body["id"], 4);
            Reply::events("id: e-7\nretry: 1\ndata: \n\n".to_owned(), false)
        })
    })
    .await;
    let remote = Remote::new(server.url(), |config| config).await;
    assert_eq!(remote.call("echo", json!({})).await.text(), "after all");
}

#[tokio::test]
async fn a_dropped_call_closes_its_stream_and_sends_nothing() {
    let server =
        HttpServer::start(|asked| new(asked, |_| Reply::events(": hi\n\n".into(), true))).await;
    let remote = Remote::new(server.url(), |config| config).await;
    let snapshot = remote.registry.snapshot();
    let call = Call::new("srv__echo", json!({}));
    let calling = tokio::spawn(async move { snapshot.settle(call, &Facts::new()).await });
    eventually("it is called", || server.first("tools/call").is_some()).await;
    tokio::task::yield_now().await;
    assert_eq!(server.hung_up(), 0);
    calling.abort();
    eventually("the stream is closed", || server.hung_up() == 1).await;
    assert!(server.first("notifications/cancelled").is_none());
}

#[tokio::test]
async fn a_session_that_is_no_longer_known_is_begun_anew() {
    let calls = AtomicU32::new(0);
    let server = HttpServer::start(move |asked| {
        old(asked, |asked| match calls.fetch_add(1, Ordering::Relaxed) {
            0 => Reply::empty(404),
            _ => asked.result(said("heard")),
        })
    })
    .await;
    let limits = Limits::default().retry_after(Duration::from_millis(1), Duration::from_millis(1));
    let remote = Remote::with(server.url(), limits, |config| config).await;
    let settlement = remote.call("echo", json!({})).await;
    assert_eq!(
        settlement.text(),
        "server srv is not available; the call was not sent to it"
    );
    let mut upstreams = remote.upstreams;
    while upstreams.statuses()[0].connects < 2
        || !matches!(upstreams.statuses()[0].state, UpstreamState::Ready { .. })
    {
        upstreams.changed().await;
    }
    let call = Call::new("srv__echo", json!({}));
    let settlement = remote.registry.snapshot().settle(call, &Facts::new()).await;
    assert_eq!(settlement.text(), "heard");
}

#[tokio::test]
async fn what_is_no_answer_fails_the_call_by_its_kind() {
    let server = HttpServer::start(|asked| {
        new(
            asked,
            |asked| match asked.body["params"]["arguments"]["kind"].as_str() {
                Some("redirect") => Reply::empty(307).with("location", "http://127.0.0.1:9/x"),
                Some("status") => Reply::empty(503),
                Some("error") => asked.error(400, -32602),
                Some("huge") => asked.result(said(&"x".repeat(100_000))),
                Some("event") => Reply::events(asked.event(said(&"x".repeat(100_000))), false),
                Some("html") => Reply::empty(200).with("content-type", "text/html"),
                _ => Reply::events(": gone\n\n".to_owned(), false),
            },
        )
    })
    .await;
    let limits = Limits::default().retries(0).frame_bytes(64 * 1024);
    let remote = Remote::with(server.url(), limits, |config| config).await;
    for (kind, text) in [
        ("redirect", "server srv answered with HTTP status 307"),
        ("status", "server srv answered with HTTP status 503"),
        ("error", "server srv answered with error -32602: no"),
        ("html", "the answer of server srv cannot be read"),
        (
            "huge",
            "the answer of server srv is longer than 65536 bytes and was not taken; ask for less",
        ),
        (
            "event",
            "the answer of server srv is longer than 65536 bytes and was not taken; ask for less",
        ),
        (
            "end",
            "server srv is not available; the call may have run in part",
        ),
    ] {
        let settlement = remote.call("echo", json!({"kind": kind})).await;
        assert!(matches!(settlement.outcome, Outcome::Failed(_)));
        assert_eq!(settlement.text(), text, "{kind}");
    }
}

#[tokio::test]
async fn a_server_that_cannot_be_reached_or_has_no_token_says_which() {
    let unused = HttpServer::start(|_| Reply::empty(500)).await.url();
    let remote = Remote::new(unused, |config| config).await;
    assert!(matches!(remote.state(), UpstreamState::Failed { .. }));
    let remote = Remote::new("http://127.0.0.1:9/mcp".to_owned(), |config| {
        config.bearer_env("NO_SUCH_VARIABLE")
    })
    .await;
    assert_eq!(
        remote.state(),
        UpstreamState::Failed {
            reason: "needs a token in the variable \"NO_SUCH_VARIABLE\"".to_owned()
        }
    );
}

#[tokio::test]
async fn a_call_that_finds_nobody_was_not_sent_and_the_server_is_away() {
    let server = HttpServer::start(|asked| new(asked, |asked| asked.result(said("heard")))).await;
    let limits =
        Limits::default().retry_after(Duration::from_secs(3600), Duration::from_secs(3600));
    let remote = Remote::with(server.url(), limits, |config| config).await;
    assert_eq!(remote.call("echo", json!({})).await.text(), "heard");
    drop(server);
    let settlement = remote.call("echo", json!({})).await;
    assert_eq!(
        settlement.text(),
        "server srv is not available; the call was not sent to it"
    );
    let mut upstreams = remote.upstreams;
    while !matches!(upstreams.statuses()[0].state, UpstreamState::Away { .. }) {
        upstreams.changed().await;
    }
}

#[cfg(feature = "http")]
#[tokio::test]
async fn our_own_server_is_imported_over_http() {
    use crate::support::registry::tools;
    use tool_mcp::{BearerToken, HttpOptions, Server};

    let original = permissive().build();
    let (registered, running) = tools();
    let _registration = original.register(registered).expect("well defined");
    let address = "127.0.0.1:0".parse().expect("an address");
    let token = BearerToken::random().expect("random bytes");
    let shown = token.expose().to_owned();
    let served = Server::new(original.clone())
        .serve_http(HttpOptions::new(address).token(token))
        .await
        .expect("a port is free");
    let mut remote = Remote::new(served.url(), |config| {
        config.header("authorization", format!("Bearer {shown}"))
    })
    .await;
    let statuses = remote.upstreams.statuses();
    assert_eq!(statuses[0].protocol.as_deref(), Some("2026-07-28"));
    let settlement = remote.call("add", json!({"a": 1, "b": 2})).await;
    assert_eq!(settlement.output(), Some(&json!({"sum": 3})));
    let settlement = remote.call("fail", json!({})).await;
    assert_eq!(settlement.structured(), Some(&json!({"code": 17})));

    // Dropped here, it is dropped there.
    let snapshot = remote.registry.snapshot();
    let call = Call::new("srv__hang", json!({}));
    let calling = tokio::spawn(async move { snapshot.settle(call, &Facts::new()).await });
    while running.count() == 0 {
        tokio::task::yield_now().await;
    }
    calling.abort();
    while running.count() > 0 {
        tokio::task::yield_now().await;
    }

    // What it gains is seen here.
    let gained = tool_core::Tool::dynamic("New", json!({"type": "object"}), |_, _cx| async {
        Ok(tool_core::Produced::value("new"))
    });
    let _gained = original
        .register([("gained", gained)])
        .expect("well defined");
    while remote.registry.snapshot().get("srv__gained").is_none() {
        remote.upstreams.changed().await;
    }
    remote.upstreams.shutdown().await;
    served.shutdown().await;
}

#[tokio::test]
async fn a_server_that_asks_without_end_is_not_answered_without_end() {
    // Answers are accepted and never answered themselves.
    let held = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&held);
    let server = HttpServer::start(move |asked| {
        if asked.body.get("method").is_none() && asked.verb == "POST" {
            counted.fetch_add(1, Ordering::SeqCst);
            return Reply::events(String::new(), true);
        }
        old(asked, |_| {
            let pings = (0..10_000).map(|id| {
                let ping = json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
                format!("data: {ping}\n\n")
            });
            Reply::events(pings.collect(), true)
        })
    })
    .await;
    let idle = Duration::from_secs(2);
    let limits = Limits::default().retries(0).idle(idle);
    let remote = Remote::with(server.url(), limits, |config| config).await;
    let (settlement, ()) = tokio::join!(
        remote.call("echo", json!({})),
        eventually("some are answered", || held.load(Ordering::SeqCst) == 16),
    );
    assert!(settlement.is_error());
    assert_eq!(held.load(Ordering::SeqCst), 16);
}

#[tokio::test]
async fn what_a_server_is_told_waits_for_none_of_the_requests_that_fill_it() {
    let server =
        HttpServer::start(|asked| old(asked, |_| Reply::events(String::new(), true))).await;
    let limits = Limits::default().retries(0);
    let remote = Remote::with(server.url(), limits, |config| config).await;
    let sent = |method: &str| {
        let asked = server.asked();
        asked
            .iter()
            .filter(|asked| asked.method() == method)
            .count()
    };
    let (registry, mut calls) = (remote.registry.clone(), tokio::task::JoinSet::new());
    let mut call = || {
        let settling = registry
            .snapshot()
            .settle(Call::new("srv__echo", json!({})), &Facts::new());
        calls.spawn(settling.into_future())
    };
    let first = call();
    eventually("the first is sent", || sent("tools/call") == 1).await;
    for _ in 0..100 {
        call();
    }
    eventually("the server is full", || sent("tools/call") == 64).await;
    first.abort();
    eventually("it is told", || sent("notifications/cancelled") == 1).await;
}
