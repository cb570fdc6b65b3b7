use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use reqwest::Url;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::{Lookup, MOST_BYTES, PATIENCE, Trouble, Web};
use crate::oauth::OAuthClient;
use crate::oauth::rules::Rules;

fn rules(server: &str) -> Arc<Rules> {
    let server = Url::parse(server).expect("it is one");
    Arc::new(Rules::new(&server, &OAuthClient::default()))
}

/// Answers that lead to these addresses, one after the other, and how many were given.
fn answers(addresses: &'static [&'static str]) -> (Arc<Lookup>, Arc<AtomicUsize>) {
    let given = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&given);
    let lookup = move |_| -> tool_core::BoxFuture<'static, _> {
        let at = count
            .fetch_add(1, Ordering::SeqCst)
            .min(addresses.len() - 1);
        let address = addresses[at].parse().expect("it is one");
        Box::pin(async move { Ok(vec![SocketAddr::new(address, 0)]) })
    };
    (Arc::new(lookup), given)
}

async fn get(web: &Web, url: &str) -> Result<u16, Trouble> {
    let request = http::Request::get(url).body(Vec::new()).expect("it is one");
    web.fetch(request)
        .await
        .map(|answer| answer.status().as_u16())
}

/// A server that says these bytes to whoever connects, and stays open.
async fn saying(bytes: Vec<u8>) -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a port is free");
    let address = listener.local_addr().expect("it has one");
    let connected = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&connected);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            count.fetch_add(1, Ordering::SeqCst);
            let bytes = bytes.clone();
            tokio::spawn(async move {
                let mut request = [0; 4096];
                let _ = stream.read(&mut request).await;
                let _ = stream.write_all(&bytes).await;
                let _ = stream.read(&mut request).await;
            });
        }
    });
    (address, connected)
}

fn body(bytes: usize) -> Vec<u8> {
    let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {bytes}\r\n\r\n");
    [head.into_bytes(), vec![b'x'; bytes]].concat()
}

#[tokio::test]
async fn a_name_is_looked_at_whenever_it_is_connected_to() {
    let (address, connected) =
        saying(b"HTTP/1.1 503 x\r\nconnection: close\r\ncontent-length: 0\r\n\r\n".to_vec()).await;
    let port = address.port();
    // A name of the open net that leads to this machine all the same.
    let (lookup, given) = answers(&["127.0.0.1", "10.0.0.9", "169.254.169.254"]);
    let web = Web::with(rules("https://mcp.example.com/mcp"), lookup, PATIENCE);
    let web = web.expect("it starts");
    for _ in 0..3 {
        let refused = get(&web, &format!("https://as.example.com:{port}/x")).await;
        assert!(matches!(refused, Err(Trouble::Unsafe(_))), "{refused:?}");
    }
    assert_eq!(given.load(Ordering::SeqCst), 3, "each time anew");

    // For a server of this machine it may lead there, and from one moment to the next not elsewhere.
    let (lookup, _) = answers(&["127.0.0.1", "10.0.0.9"]);
    let web = Web::with(rules("http://localhost:1/mcp"), lookup, PATIENCE);
    let web = web.expect("it starts");
    let url = format!("http://as.localhost:{port}/x");
    assert_eq!(get(&web, &url).await, Ok(503));
    let refused = get(&web, &url).await;
    assert!(matches!(refused, Err(Trouble::Unsafe(_))), "{refused:?}");
    assert_eq!(connected.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn an_answer_is_read_to_its_bound_and_no_further() {
    for (bytes, fits) in [(MOST_BYTES, true), (MOST_BYTES + 1, false)] {
        let (address, _) = saying(body(bytes)).await;
        let web = Web::new(rules("http://localhost:1/mcp")).expect("it starts");
        let answer = get(&web, &format!("http://{address}/x")).await;
        assert_eq!(answer.is_ok(), fits, "{bytes}");
        if let Err(trouble) = answer {
            assert!(trouble.to_string().contains("more than"), "{trouble}");
        }
    }
}

#[tokio::test]
async fn a_server_that_says_nothing_or_never_ends_is_not_waited_for() {
    for said in [
        b"".to_vec(),
        b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nx".to_vec(),
    ] {
        let (address, _) = saying(said).await;
        let (lookup, _) = answers(&["127.0.0.1"]);
        let patience = Duration::from_millis(100);
        let web = Web::with(rules("http://localhost:1/mcp"), lookup, patience);
        let answer = get(&web.expect("it starts"), &format!("http://{address}/x")).await;
        let trouble = answer.expect_err("it does not answer");
        assert!(matches!(trouble, Trouble::Unreachable(_)));
        assert!(trouble.to_string().contains("did not answer within 0.1 s"));
    }
}

#[tokio::test]
async fn a_redirect_is_handed_back_and_not_followed() {
    let (inner, connected) = saying(body(1)).await;
    let to = format!("HTTP/1.1 302 x\r\nlocation: http://{inner}/x\r\ncontent-length: 0\r\n\r\n");
    let (outer, _) = saying(to.into_bytes()).await;
    let web = Web::new(rules("http://localhost:1/mcp")).expect("it starts");
    assert_eq!(get(&web, &format!("http://{outer}/x")).await, Ok(302));
    assert_eq!(connected.load(Ordering::SeqCst), 0);
    let told = web.trouble();
    assert!(matches!(told, Some(Trouble::Unsafe(_))), "{told:?}");
}
