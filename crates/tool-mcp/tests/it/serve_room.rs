//! How much clients may have going on at once over HTTP.

use std::net::SocketAddr;
use std::num::NonZeroUsize;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tool_mcp::{BearerToken, HttpOptions, HttpServer};

use crate::support::http::{Answer, Client, request};
use crate::support::peer::modern;
use crate::support::served::{Served, served};

/// A server for several clients, with a token for each.
async fn listening(clients: &[&str], options: HttpOptions) -> (HttpServer, Served) {
    let served = served();
    let options = clients.iter().fold(options, |options, client| {
        let token = BearerToken::new(&secret(client)).expect("long enough");
        options.token(token.principal(*client))
    });
    let http = served.server.serve_http(options).await;
    (http.expect("a port is free"), served)
}

fn options() -> HttpOptions {
    HttpOptions::new(SocketAddr::from(([127, 0, 0, 1], 0)))
}

fn secret(client: &str) -> String {
    client.repeat(16)
}

async fn post(http: &HttpServer, client: &str, method: &str, params: Value) -> Answer {
    let bearer = format!("Bearer {}", secret(client));
    let name = params["name"].as_str().unwrap_or_default().to_owned();
    let mut headers = vec![
        ("Authorization", bearer.as_str()),
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", method),
    ];
    if !name.is_empty() {
        headers.push(("Mcp-Name", &name));
    }
    let request = request(1, method, modern(params));
    Client::new(http.address()).post(&request, &headers).await
}

/// The head of a short request and the body that comes behind it.
fn behind(http: &HttpServer, client: &str) -> (String, String) {
    let body = request(1, "tools/list", modern(json!({}))).to_string();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\
         Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
         MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/list\r\n\
         Content-Length: {}\r\n\r\n",
        http.address(),
        secret(client),
        body.len()
    );
    (head, body)
}

#[tokio::test]
async fn one_client_cannot_open_streams_of_changes_without_end() {
    const MOST: usize = 256;
    // One that has two tokens has no more room for that.
    let second = BearerToken::new(&secret("second")).expect("long enough");
    let options = options().token(second.principal("a"));
    let (http, _served) = listening(&["a", "b"], options).await;
    let wanted = || json!({"notifications": {"toolsListChanged": true}});
    let mut open = Vec::new();
    for _ in 0..MOST {
        let mut stream = post(&http, "a", "subscriptions/listen", wanted()).await;
        assert_eq!(stream.status, 200);
        stream.message().await.expect("it is acknowledged");
        open.push(stream);
    }
    let mut full = post(&http, "a", "subscriptions/listen", wanted()).await;
    assert_eq!(full.status, 429);
    assert_eq!(full.headers["retry-after"], "1");
    let by_second = post(&http, "second", "subscriptions/listen", wanted()).await;
    assert_eq!(by_second.status, 429);
    let error = full.message().await.expect("it says why")["error"]["message"].clone();
    assert_eq!(
        error,
        "256 streams of changes of this client are open; close one, or ask for more on one"
    );
    // Neither another client nor what it asks besides has less room.
    let mut other = post(&http, "b", "subscriptions/listen", wanted()).await;
    assert!(other.message().await.is_some());
    let greet = || json!({"name": "greet", "arguments": {}});
    assert_eq!(post(&http, "a", "tools/call", greet()).await.status, 200);
    // What is closed leaves its room.
    drop(open.pop());
    let mut status = full.status;
    for _ in 0..1_000 {
        status = post(&http, "a", "subscriptions/listen", wanted())
            .await
            .status;
        if status == 200 {
            break;
        }
    }
    assert_eq!(status, 200);
}

#[tokio::test]
async fn one_connection_too_many_is_told_so_and_closed() {
    let most = NonZeroUsize::new(2).expect("not zero");
    let (http, _served) = listening(&["a"], options().connections(most)).await;
    let (one, other) = tokio::join!(
        TcpStream::connect(http.address()),
        TcpStream::connect(http.address())
    );
    let mut third = TcpStream::connect(http.address())
        .await
        .expect("it listens");
    let mut answer = String::new();
    third
        .read_to_string(&mut answer)
        .await
        .expect("it is closed");
    assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}");
    assert!(answer.ends_with("too many connections are open; try again later\r\n"));
    drop((one, other));
    // Whoever leaves makes room.
    let mut status = 503;
    for _ in 0..1_000 {
        let greet = json!({"name": "greet", "arguments": {}});
        status = post(&http, "a", "tools/call", greet).await.status;
        if status == 200 {
            break;
        }
    }
    assert_eq!(status, 200);
}

#[tokio::test]
async fn a_body_that_does_not_come_is_not_waited_for() {
    let (http, _served) = listening(&["a"], options()).await;
    let mut stream = TcpStream::connect(http.address())
        .await
        .expect("it listens");
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\
         Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{{",
        http.address(),
        secret("a")
    );
    stream.write_all(head.as_bytes()).await.expect("it reads");
    tokio::time::pause();
    let mut answer = String::new();
    stream
        .read_to_string(&mut answer)
        .await
        .expect("it is closed");
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
    assert!(answer.contains("the body did not come within 60 seconds"));
}

#[tokio::test]
async fn long_bodies_of_one_client_take_only_so_much_room() {
    const LONG: usize = 16 * 1024 * 1024;
    let (http, _served) = listening(&["a", "b"], options()).await;
    let begin = async |client: &str| {
        let mut stream = TcpStream::connect(http.address())
            .await
            .expect("it listens");
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\
             Content-Type: application/json\r\nContent-Length: {LONG}\r\n\r\n{{",
            http.address(),
            secret(client)
        );
        stream.write_all(head.as_bytes()).await.expect("it reads");
        stream
    };
    let mut waiting = Vec::new();
    let mut answer = [0; 12];
    // The ninth has no room any more.
    for _ in 0..9 {
        waiting.push(begin("a").await);
    }
    let mut turned_away = 0;
    while turned_away == 0 {
        for stream in &mut waiting {
            match stream.try_read(&mut answer) {
                Ok(_) => turned_away += 1,
                Err(_) => tokio::task::yield_now().await,
            }
        }
    }
    assert_eq!((turned_away, &answer), (1, b"HTTP/1.1 429"));
    // Short ones and those of others are taken.
    let list = post(&http, "a", "tools/list", json!({})).await;
    assert_eq!(list.status, 200);
    let mut late = TcpStream::connect(http.address())
        .await
        .expect("it listens");
    let (head, body) = behind(&http, "a");
    late.write_all(head.as_bytes()).await.expect("it reads");
    // By the time that another one was answered its head has been read.
    assert_eq!(post(&http, "a", "tools/list", json!({})).await.status, 200);
    late.write_all(body.as_bytes()).await.expect("it reads");
    late.read_exact(&mut answer).await.expect("it answers");
    assert_eq!(&answer, b"HTTP/1.1 200");
    let other = begin("b").await;
    drop(waiting);
    let again = begin("a").await;
    for stream in [&other, &again] {
        assert!(stream.try_read(&mut answer).is_err(), "it is waited for");
    }
}

#[tokio::test]
async fn whoever_is_not_served_keeps_no_connection() {
    let (http, _served) = listening(&["a"], options()).await;
    for (path, status) in [("/mcp", 401), ("/other", 404)] {
        let mut stream = TcpStream::connect(http.address())
            .await
            .expect("it listens");
        let head = format!(
            "GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: keep-alive\r\n\r\n",
            http.address()
        );
        stream.write_all(head.as_bytes()).await.expect("it reads");
        let mut answer = String::new();
        stream
            .read_to_string(&mut answer)
            .await
            .expect("it is closed");
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status} ")),
            "{answer}"
        );
    }
}
