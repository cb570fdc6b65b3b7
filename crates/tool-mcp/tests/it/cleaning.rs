//! What calls leave to be cleaned up, and when it runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use tool_core::{Context, HandlerError, TeardownScope, Tool};
use tool_mcp::Server;
use tool_registry::Registration;

use crate::support::eventually;
use crate::support::peer::Peer;
use crate::support::registry::permissive;

/// A server with a tool that registers a cleanup and never ends.
struct Served {
    server: Server,
    begun: Arc<AtomicUsize>,
    cleaned: Arc<AtomicUsize>,
    _registration: Registration,
}

fn served() -> Served {
    let (begun, cleaned) = (Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default());
    let (inside, after) = (Arc::clone(&begun), Arc::clone(&cleaned));
    let open = Tool::dynamic(
        "Opens something",
        json!({"type": "object"}),
        move |_input: Value, cx: Context| {
            let (inside, after) = (Arc::clone(&inside), Arc::clone(&after));
            async move {
                cx.on_teardown(TeardownScope::Call, "opened", move || async move {
                    // A cleanup may well wait for something, longer than it takes to end without it.
                    for _ in 0..200 {
                        tokio::task::yield_now().await;
                    }
                    after.fetch_add(1, Ordering::SeqCst);
                })?;
                inside.fetch_add(1, Ordering::SeqCst);
                std::future::pending::<Result<Value, HandlerError>>().await
            }
        },
    );
    let registry = permissive().build();
    let registration = registry.register([("open", open)]).expect("well defined");
    Served {
        server: Server::new(registry),
        begun,
        cleaned,
        _registration: registration,
    }
}

impl Served {
    async fn begun(&self) {
        let begun = || self.begun.load(Ordering::SeqCst) == 1;
        eventually("the call runs", begun).await;
    }

    fn cleaned(&self) -> usize {
        self.cleaned.load(Ordering::SeqCst)
    }
}

#[tokio::test]
async fn a_call_that_its_client_cancels_is_cleaned_up_after() {
    let served = served();
    let mut peer = Peer::connect(&served.server).await;
    peer.request(1, "tools/call", json!({"name": "open"})).await;
    served.begun().await;
    let params = json!({"requestId": 1});
    peer.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}))
        .await;
    eventually("it is cleaned up", || served.cleaned() == 1).await;
}

#[tokio::test(start_paused = true)]
async fn a_connection_ends_when_its_calls_are_cleaned_up_after() {
    let served = served();
    let mut peer = Peer::connect(&served.server).await;
    peer.request(1, "tools/call", json!({"name": "open"})).await;
    served.begun().await;
    let ended = peer.leave().await.expect("no panic");
    ended.expect("leaving is no error");
    assert_eq!(served.cleaned(), 1);
}

#[tokio::test]
async fn what_a_dropped_connection_left_is_cleaned_up_with_the_next() {
    let served = served();
    let mut dropped = Peer::connect(&served.server).await;
    dropped
        .request(1, "tools/call", json!({"name": "open"}))
        .await;
    served.begun().await;
    dropped.serving.abort();
    let _ = dropped.leave().await;
    assert_eq!(served.cleaned(), 0);
    let next = Peer::connect(&served.server).await;
    next.leave().await.expect("no panic").expect("it leaves");
    assert_eq!(served.cleaned(), 1);
}

#[cfg(feature = "http")]
#[tokio::test]
async fn what_a_dropped_connection_left_is_cleaned_up_when_a_listener_ends() {
    let served = served();
    let mut dropped = Peer::connect(&served.server).await;
    dropped
        .request(1, "tools/call", json!({"name": "open"}))
        .await;
    served.begun().await;
    dropped.serving.abort();
    let _ = dropped.leave().await;
    let address = std::net::SocketAddr::from(([127, 0, 0, 1], 0));
    let http = served.server.serve_http(address).await.expect("it listens");
    assert_eq!(served.cleaned(), 0);
    http.shutdown().await;
    assert_eq!(served.cleaned(), 1);
}

#[cfg(feature = "http")]
#[tokio::test]
async fn a_server_that_is_told_to_end_cleans_up_after_its_calls() {
    use crate::support::http::{Client, request};

    let served = served();
    let address = std::net::SocketAddr::from(([127, 0, 0, 1], 0));
    let options = tool_mcp::HttpOptions::new(address).allow_anyone_unchecked();
    let http = served.server.serve_http(options).await.expect("it listens");
    let client = Client::connect(http.address()).await;
    let call = request(1, "tools/call", json!({"name": "open"}));
    let _answer = client.post(&call, &[]).await;
    served.begun().await;
    http.shutdown().await;
    assert_eq!(served.cleaned(), 1);
}
