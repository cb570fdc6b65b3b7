//! Serving what others have written, where it panics.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::time::timeout;
use tool_core::BoxFuture;
use tool_mcp::{
    Completion, HttpOptions, Offer, OfferError, OfferEvents, OfferKind, Offerings, Server,
};
use tool_registry::Registry;

use crate::support::eventually;
use crate::support::http::{Client, request};
use crate::support::peer::{Peer, modern};

/// Resources that hang when they are read first, and panic when that is given up.
#[derive(Default)]
struct Hanging {
    reads: AtomicUsize,
    /// Whether it panics when somebody wants to know of changes.
    breaks: bool,
}

struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("the resource goes off");
    }
}

impl Offerings for Hanging {
    fn kinds(&self) -> Vec<OfferKind> {
        vec![OfferKind::Resource]
    }

    fn list(&self, _: OfferKind) -> BoxFuture<'_, Result<Vec<Offer>, OfferError>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn read<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<Map<String, Value>, OfferError>> {
        Box::pin(async {
            if self.reads.fetch_add(1, Ordering::Relaxed) == 0 {
                let _bomb = Bomb;
                std::future::pending::<()>().await;
            }
            Ok(Map::from_iter([("contents".to_owned(), json!([]))]))
        })
    }

    fn prompt<'a>(
        &'a self,
        _: &'a str,
        arguments: Map<String, Value>,
    ) -> BoxFuture<'a, Result<Map<String, Value>, OfferError>> {
        Box::pin(async { Ok(arguments) })
    }

    fn complete<'a>(
        &'a self,
        _: &'a Completion,
    ) -> BoxFuture<'a, Result<Map<String, Value>, OfferError>> {
        Box::pin(async { Ok(Map::new()) })
    }

    fn events(&self) -> OfferEvents {
        assert!(!self.breaks, "nobody is told of it");
        OfferEvents::none()
    }
}

#[tokio::test]
async fn what_panics_where_it_is_cancelled_keeps_neither_its_connection_nor_its_id() {
    let hanging = Arc::new(Hanging::default());
    let http = Server::new(Registry::default())
        .offerings(Arc::clone(&hanging) as Arc<dyn Offerings>)
        .serve_http(
            HttpOptions::new(SocketAddr::from(([127, 0, 0, 1], 0))).allow_anyone_unchecked(),
        )
        .await
        .expect("a port is free");
    let client = Client::connect(http.address()).await;
    let reading = request(1, "resources/read", json!({"uri": "test:it"}));
    // One that takes no stream is answered where it is served.
    let alone = [("Accept", "application/json")];
    let (first, ()) = tokio::join!(client.post(&reading, &alone), async {
        eventually("it is read", || hanging.reads.load(Ordering::Relaxed) == 1).await;
        let cancelled = json!({
            "jsonrpc": "2.0",
            "method": "notifications/cancelled",
            "params": {"requestId": 1},
        });
        assert_eq!(client.post(&cancelled, &[]).await.status, 202);
    });
    assert_eq!(first.status, 202);

    let mut again = client.post(&reading, &alone).await;
    assert_eq!(again.status, 200);
    assert_eq!(again.until(1).await["result"]["contents"], json!([]));
}

#[tokio::test]
async fn a_subscription_that_panics_is_answered_frees_its_id_and_holds_no_end_up() {
    let breaking = Hanging {
        breaks: true,
        ..Hanging::default()
    };
    let server = Server::new(Registry::default())
        .offerings(Arc::new(breaking))
        .linger(Duration::from_secs(3600));
    let mut peer = Peer::unconnected(&server);
    let wanted = json!({"notifications": {"resourceSubscriptions": ["test:it"]}});
    for _ in 0..2 {
        let asked = peer.ask(1, "subscriptions/listen", modern(wanted.clone()));
        let answer = timeout(Duration::from_secs(20), asked).await;
        let answer = answer.expect("it is answered");
        assert_eq!(answer["error"]["code"], -32603, "{answer}");
    }
    peer.finish().await;
    let ended = timeout(Duration::from_secs(20), peer.leave()).await;
    ended.expect("it ends").expect("it does not panic").unwrap();
}
