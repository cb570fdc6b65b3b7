//! Serving over HTTP.

use std::net::SocketAddr;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tool_core::Tool;
use tool_mcp::{HttpOptions, HttpServer, ServeErrorKind, Server};
use tool_registry::Registry;

use crate::support::eventually;
use crate::support::http::{Client, request};
use crate::support::peer::modern;
use crate::support::served::{Served, served};

fn loopback() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 0))
}

/// A server that listens, and what it serves.
async fn listening() -> (HttpServer, Served) {
    let served = served();
    let http = served
        .server
        .serve_http(HttpOptions::new(loopback()).allow_anyone_unchecked())
        .await
        .expect("a port is free");
    (http, served)
}

/// The headers that a request of the era without a handshake repeats.
fn modern_headers<'a>(method: &'a str, name: &'a str) -> Vec<(&'a str, &'a str)> {
    let mut headers = vec![
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", method),
    ];
    if !name.is_empty() {
        headers.push(("Mcp-Name", name));
    }
    headers
}

#[tokio::test]
async fn nothing_is_served_at_another_path() {
    let (http, _served) = listening().await;
    for path in ["/", "/mcp/", "/mcp/x", "/MCP", "/%6dcp"] {
        let text = format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
            http.address()
        );
        let mut stream = TcpStream::connect(http.address())
            .await
            .expect("it listens");
        stream.write_all(text.as_bytes()).await.expect("it reads");
        let mut answer = String::new();
        stream
            .read_to_string(&mut answer)
            .await
            .expect("it is closed");
        assert!(answer.starts_with("HTTP/1.1 404 "), "{path}: {answer}");
    }
}

#[tokio::test]
async fn a_client_with_a_session_lists_and_calls() {
    let (http, served) = listening().await;
    assert_eq!(http.url(), format!("http://{}/mcp", http.address()));
    let client = Client::connect(http.address()).await;
    let mut answer = client.post(&request(1, "tools/list", json!({})), &[]).await;
    let list = answer.until(1).await;
    let names: Vec<_> = list["result"]["tools"]
        .as_array()
        .expect("it is a list")
        .iter()
        .map(|tool| tool["name"].clone())
        .collect();
    assert_eq!(names.len(), served.registry.snapshot().entries().len());

    let answer = client.call(2, "add", json!({"a": 1, "b": 2})).await;
    assert_eq!(answer["result"]["structuredContent"], json!({"sum": 3}));
    let answer = client.call(3, "fail", json!({})).await;
    assert_eq!(answer["result"]["isError"], true);
    let answer = client.call(4, "nothing", json!({})).await;
    assert_eq!(answer["error"]["code"], -32602);
}

#[tokio::test]
async fn a_client_without_a_session_lists_and_calls() {
    let (http, _served) = listening().await;
    let client = Client::new(http.address());
    let message = request(1, "server/discover", modern(json!({})));
    let mut answer = client
        .post(&message, &modern_headers("server/discover", ""))
        .await;
    assert_eq!(answer.status, 200);
    let discovered = answer.until(1).await;
    assert_eq!(discovered["result"]["supportedVersions"][4], "2026-07-28");

    let params = modern(json!({"name": "add", "arguments": {"a": 1, "b": 2}}));
    let message = request(2, "tools/call", params);
    let mut answer = client
        .post(&message, &modern_headers("tools/call", "add"))
        .await;
    let result = answer.until(2).await["result"].clone();
    assert_eq!(result["structuredContent"], json!({"sum": 3}));
    assert_eq!(result["resultType"], "complete");

    // Headers that say something else than the body are refused.
    let mut answer = client
        .post(&message, &modern_headers("tools/call", "greet"))
        .await;
    assert_eq!(answer.status, 400);
    assert_eq!(
        answer.message().await.expect("it says why")["error"]["code"],
        -32020
    );
}

#[tokio::test]
async fn progress_comes_in_order_ahead_of_the_answer() {
    let (http, _served) = listening().await;
    let client = Client::connect(http.address()).await;
    let params = json!({
        "name": "steps",
        "arguments": {"n": 10},
        "_meta": {"progressToken": 5},
    });
    let mut answer = client.post(&request(1, "tools/call", params), &[]).await;
    let mut steps = Vec::new();
    loop {
        let message = answer.message().await.expect("the answer comes");
        if message["id"] == 1 {
            break;
        }
        assert_eq!(message["params"]["progressToken"], 5);
        steps.push(
            message["params"]["progress"]
                .as_f64()
                .expect("it is a number"),
        );
    }
    let expected: Vec<_> = (1..=10).map(f64::from).collect();
    assert_eq!(steps, expected);
}

#[tokio::test]
async fn a_stream_that_broke_off_goes_on_behind_the_last_event_that_came() {
    let (http, _served) = listening().await;
    let client = Client::connect(http.address()).await;
    let params = json!({
        "name": "steps",
        "arguments": {"n": 5},
        "_meta": {"progressToken": "p"},
    });
    let mut answer = client
        .post(&request(1, "tools/call", params.clone()), &[])
        .await;
    let mut whole = Vec::new();
    while let Some(message) = answer.message().await {
        whole.push(message);
    }
    assert_eq!(whole.len(), 6);

    let mut broken = client.post(&request(2, "tools/call", params), &[]).await;
    for expected in &whole[..2] {
        assert_eq!(broken.message().await.as_ref(), Some(expected));
    }
    let last = broken.last_id.clone().expect("events have ids");
    drop(broken);
    let mut rest = client.resume(&last).await;
    assert_eq!(rest.status, 200);
    for expected in &whole[2..5] {
        assert_eq!(rest.message().await.as_ref(), Some(expected));
    }
    assert_eq!(rest.message().await.expect("the answer comes")["id"], 2);
    // What is nobody's event is nobody's stream, and another session's is not this one's.
    assert_eq!(client.resume("99-1").await.status, 404);
    let other = Client::connect(http.address()).await;
    assert_eq!(other.resume(&last).await.status, 404);
}

#[tokio::test]
async fn a_cancelled_call_of_a_session_is_dropped() {
    let (http, served) = listening().await;
    let client = Client::connect(http.address()).await;
    let params = json!({"name": "hang", "arguments": {}});
    let _open = client.post(&request(1, "tools/call", params), &[]).await;
    eventually("the call runs", || served.running.count() == 1).await;
    let cancelled = json!({
        "jsonrpc": "2.0",
        "method": "notifications/cancelled",
        "params": {"requestId": 1},
    });
    assert_eq!(client.post(&cancelled, &[]).await.status, 202);
    eventually("the call is dropped", || served.running.count() == 0).await;
}

#[tokio::test]
async fn a_call_of_a_session_goes_on_when_its_client_is_cut_off_before_it_was_told_anything() {
    let (http, served) = listening().await;
    let client = Client::connect(http.address()).await;
    let params = json!({"name": "hang", "arguments": {}});
    let body = request(1, "tools/call", params).to_string();
    // One that takes no stream is told nothing ahead of the answer.
    let text = format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nAccept: application/json\r\n\
         Content-Type: application/json\r\nMcp-Session-Id: {}\r\nContent-Length: {}\r\n\r\n{body}",
        http.address(),
        client.session(),
        body.len()
    );
    let mut stream = TcpStream::connect(http.address())
        .await
        .expect("it listens");
    stream.write_all(text.as_bytes()).await.expect("it reads");
    eventually("the call runs", || served.running.count() == 1).await;
    stream.shutdown().await.expect("it is open");
    let mut answer = String::new();
    stream
        .read_to_string(&mut answer)
        .await
        .expect("it is closed");
    assert_eq!(answer, "");
    assert_eq!(served.running.count(), 1);

    let cancelled = json!({
        "jsonrpc": "2.0",
        "method": "notifications/cancelled",
        "params": {"requestId": 1},
    });
    assert_eq!(client.post(&cancelled, &[]).await.status, 202);
    eventually("the call is dropped", || served.running.count() == 0).await;
}

#[tokio::test]
async fn a_client_without_a_session_cancels_by_leaving() {
    let (http, served) = listening().await;
    let client = Client::new(http.address());
    let params = modern(json!({"name": "hang", "arguments": {}}));
    let message = request(1, "tools/call", params);
    let headers = modern_headers("tools/call", "hang");
    // The server answers nothing before it knows what, so the request itself is what is left.
    let posting = tokio::spawn(async move { client.post(&message, &headers).await.status });
    eventually("the call runs", || served.running.count() == 1).await;
    posting.abort();
    eventually("the call is dropped", || served.running.count() == 0).await;
}

#[tokio::test]
async fn shutting_down_drops_the_calls_and_frees_the_port() {
    let (http, served) = listening().await;
    let address = http.address();
    let client = Client::connect(address).await;
    let params = json!({"name": "hang", "arguments": {}});
    let mut open = client.post(&request(1, "tools/call", params), &[]).await;
    eventually("the call runs", || served.running.count() == 1).await;
    http.shutdown().await;
    eventually("the call is dropped", || served.running.count() == 0).await;
    while open.message().await.is_some() {}
    tokio::net::TcpListener::bind(address)
        .await
        .expect("the port is free");
}

#[tokio::test]
async fn every_client_is_told_when_the_list_changes() {
    let (http, served) = listening().await;
    let first = Client::connect(http.address()).await;
    let second = Client::connect(http.address()).await;
    let mut streams = [first.listen().await, second.listen().await];
    let extra = Tool::dynamic("More", json!({"type": "object"}), |_, _| async move {
        Ok(Value::Null)
    });
    let _registration = served
        .registry
        .register([("extra", extra)])
        .expect("well defined");
    for stream in &mut streams {
        assert_eq!(stream.status, 200);
        let told = stream.message().await.expect("it is told");
        assert_eq!(told["method"], "notifications/tools/list_changed");
    }
}

#[tokio::test]
async fn a_call_carries_the_session_of_its_client_and_none_is_made_up() {
    let (http, _served) = listening().await;
    let client = Client::connect(http.address()).await;
    let answer = client.call(7, "facts", json!({})).await;
    let seen = &answer["result"]["structuredContent"];
    assert_eq!(seen["session"], client.session());
    assert_eq!(seen["call"], "7");

    let params = modern(json!({"name": "facts", "arguments": {}}));
    let stateless = Client::new(http.address());
    let mut answer = stateless
        .post(
            &request(1, "tools/call", params),
            &modern_headers("tools/call", "facts"),
        )
        .await;
    let seen = answer.until(1).await["result"]["structuredContent"].clone();
    assert_eq!(seen["session"], Value::Null);
}

#[tokio::test]
async fn two_sessions_with_the_same_ids_get_their_own_answers() {
    let (http, _served) = listening().await;
    let first = Client::connect(http.address()).await;
    let second = Client::connect(http.address()).await;
    for n in 1..=8 {
        let (one, two) = tokio::join!(
            first.call(n, "add", json!({"a": n, "b": 0})),
            second.call(n, "add", json!({"a": n, "b": 100})),
        );
        assert_eq!(one["result"]["structuredContent"]["sum"], n);
        assert_eq!(two["result"]["structuredContent"]["sum"], n + 100);
    }
}

#[tokio::test]
async fn names_of_others_are_turned_away() {
    let (http, _served) = listening().await;
    let client = Client::new(http.address());
    let message = request(1, "server/discover", modern(json!({})));
    for (header, value, status) in [
        ("Host", "evil.example.com", 403),
        ("Host", "localhost:9999", 200),
        ("Origin", "http://evil.example.com", 403),
        ("Origin", "null", 403),
        ("Origin", "http://localhost:5173", 200),
    ] {
        let mut headers = modern_headers("server/discover", "");
        headers.push((header, value));
        let answer = client.post(&message, &headers).await;
        assert_eq!(answer.status, status, "{header}: {value}");
    }
}

#[tokio::test]
async fn an_address_that_others_can_reach_must_be_allowed_by_name() {
    let server = Server::new(Registry::default());
    let everywhere = SocketAddr::from(([0, 0, 0, 0], 0));
    let error = server
        .serve_http(everywhere)
        .await
        .expect_err("it is not allowed");
    assert_eq!(error.kind(), ServeErrorKind::NotLoopback);

    let options = HttpOptions::new(everywhere)
        .allow_any_interface_unchecked()
        .allow_anyone_unchecked()
        .allow_host("gate.example.com")
        .allow_origin("https://app.example.com:443");
    let http = server.serve_http(options).await.expect("it is allowed");
    let client = Client::new(SocketAddr::from(([127, 0, 0, 1], http.address().port())));
    let message = request(1, "server/discover", modern(json!({})));
    for (host, origin, status) in [
        ("gate.example.com", "https://app.example.com", 200),
        ("other.example.com", "https://app.example.com", 403),
        ("gate.example.com", "https://other.example.com", 403),
    ] {
        let mut headers = modern_headers("server/discover", "");
        headers.extend([("Host", host), ("Origin", origin)]);
        assert_eq!(
            client.post(&message, &headers).await.status,
            status,
            "{host} {origin}"
        );
    }
}

#[tokio::test]
async fn an_address_that_is_taken_says_so() {
    let (http, _served) = listening().await;
    let error = Server::new(Registry::default())
        .serve_http(http.address())
        .await
        .expect_err("it is taken");
    assert_eq!(error.kind(), ServeErrorKind::Listen);
}

#[tokio::test]
async fn s32_headers_of_a_session_that_say_something_else_than_the_body_are_refused() {
    let (http, _served) = listening().await;
    let client = Client::connect(http.address()).await;
    let call = |id| request(id, "tools/call", json!({"name": "greet", "arguments": {}}));
    for headers in [
        [("Mcp-Method", "tools/list"), ("Mcp-Name", "greet")],
        [("Mcp-Method", "tools/call"), ("Mcp-Name", "forbidden")],
    ] {
        let mut answer = client.post(&call(1), &headers).await;
        assert_eq!(answer.status, 400, "{headers:?}");
        let error = answer.until(1).await["error"].clone();
        assert_eq!(error["code"], -32020, "{error}");
    }
    let told =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 9}});
    let other = [("Mcp-Method", "tools/call")];
    assert_eq!(client.post(&told, &other).await.status, 400);
    // They need not be there, and may be right.
    assert_eq!(client.post(&told, &[]).await.status, 202);
    let right = [("Mcp-Method", "tools/call"), ("Mcp-Name", "greet")];
    assert_eq!(client.post(&call(2), &right).await.status, 200);
    assert_eq!(client.post(&call(3), &[]).await.status, 200);
}
