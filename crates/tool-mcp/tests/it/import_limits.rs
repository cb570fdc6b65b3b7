//! Limits on how many calls there may be. The clock stands still but for what the tests do to it.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, json};
use tool_core::{Call, Facts};
use tool_mcp::{Completion, OfferErrorKind, OfferKind};

use crate::support::eventually;
use crate::support::imported::Imported;

/// Stops the clock, which does not run ahead of the server while this is held.
struct Stopped(#[expect(dead_code, reason = "held, not read")] std::sync::mpsc::Sender<()>);

impl Stopped {
    fn now() -> Self {
        tokio::time::pause();
        let (release, held) = std::sync::mpsc::channel::<()>();
        tokio::task::spawn_blocking(move || held.recv());
        Self(release)
    }
}

fn sent(srv: &Imported, tool: &str) -> usize {
    let transcript = srv.transcript();
    let calls = transcript
        .iter()
        .filter(|message| message["params"]["name"] == tool);
    calls.count()
}

#[tokio::test]
async fn s30_a_server_takes_so_many_calls_in_a_time_and_says_when_to_call_again() {
    let srv = Imported::dressed("ordinary", json!({"calls": {"most": 2, "per": 30}})).await;
    let _stopped = Stopped::now();
    assert_eq!(srv.call("poke", json!({})).await.text(), "poked");
    tokio::time::advance(Duration::from_secs(10)).await;
    assert!(!srv.call("echo", json!({})).await.is_error());
    let over = srv.call("poke", json!({})).await;
    assert!(over.is_error());
    assert_eq!(
        over.text(),
        "server srv takes at most 2 calls in 30 s and has had them; call again in 20 s"
    );
    assert_eq!(sent(&srv, "poke"), 1);
    tokio::time::advance(Duration::from_millis(19_999)).await;
    assert!(
        srv.call("poke", json!({}))
            .await
            .text()
            .ends_with("call again in 1 s")
    );
    tokio::time::advance(Duration::from_millis(1)).await;
    assert_eq!(srv.call("poke", json!({})).await.text(), "poked");
}

#[tokio::test]
async fn s30_a_tool_has_a_limit_of_its_own_and_spares_that_of_its_server() {
    let overlay = json!({
        "calls": {"most": 2},
        "tools": {"poke": {"calls": {"most": 1}}},
    });
    let srv = Imported::dressed("ordinary", overlay).await;
    let _stopped = Stopped::now();
    assert_eq!(srv.call("poke", json!({})).await.text(), "poked");
    for _ in 0..3 {
        let over = srv.call("poke", json!({})).await.text();
        assert!(
            over.starts_with("tool poke of server srv takes at most 1 calls in 60 s"),
            "{over}"
        );
    }
    assert!(!srv.call("echo", json!({})).await.is_error());
    assert!(
        srv.call("echo", json!({}))
            .await
            .text()
            .starts_with("server srv takes at most 2")
    );
}

#[tokio::test]
async fn s30_calls_beside_each_other_are_limited_and_wait_for_a_place() {
    let overlay = json!({"timeout": {"idle": 5}, "tools": {"beat": {"calls": {"atOnce": 1}}}});
    let srv = Arc::new(Imported::dressed("ordinary", overlay).await);
    let _stopped = Stopped::now();
    let start = || {
        let call = Call::new("srv__beat", json!({}));
        let settling = srv.registry.snapshot().settle(call, &Facts::new());
        tokio::spawn(settling.into_future())
    };
    let first = start();
    eventually("the first is sent", || sent(&srv, "beat") == 1).await;
    let second = start();
    // Another tool is not held up, and the second is not sent.
    assert_eq!(srv.call("poke", json!({})).await.text(), "poked");
    assert_eq!(sent(&srv, "beat"), 1);
    // Whoever goes leaves the place to the next.
    first.abort();
    eventually("the second is sent", || sent(&srv, "beat") == 2).await;

    let third = start();
    for _ in 0..20 {
        // A sign of life of the second, which outlasts the patience of the third.
        assert_eq!(srv.call("poke", json!({})).await.text(), "poked");
        tokio::time::advance(Duration::from_secs(1)).await;
    }
    assert!(third.is_finished());
    let text = third.await.expect("no panic").text();
    assert_eq!(
        text,
        "tool beat of server srv takes at most 1 calls at the same time, and none of them ended \
         within 5 s; the call was not sent"
    );
    assert_eq!(sent(&srv, "beat"), 2);
    second.abort();
}

#[tokio::test]
async fn what_a_server_has_beside_tools_counts_against_its_limit_as_its_calls_do() {
    let srv = Imported::dressed("offers", json!({"calls": {"most": 4, "per": 30}})).await;
    let offers = srv.upstreams.offerings();
    // Lists are the gateway's own, and kept.
    let prompts = offers.list(OfferKind::Prompt).await.expect("it lists");
    let _stopped = Stopped::now();
    offers.read("test://a").await.expect("it reads");
    let prompt = offers.prompt(&prompts[0].key, Map::new());
    prompt.await.expect("it is got");
    let argument = Map::from_iter([("name".to_owned(), json!("id"))]);
    let completion = Completion::new(OfferKind::Template, "test://t/{id}/x", argument);
    offers.complete(&completion).await.expect("it completes");
    srv.call("poke", json!({})).await;

    let over = "server srv takes at most 4 calls in 30 s and has had them; call again in 30 s";
    let refused = [
        offers.read("test://a").await.expect_err("it is over"),
        offers
            .prompt(&prompts[0].key, Map::new())
            .await
            .expect_err("it is over"),
        offers.complete(&completion).await.expect_err("it is over"),
    ];
    for error in refused {
        assert_eq!(error.to_string(), over);
        assert_eq!(error.kind(), OfferErrorKind::Unavailable);
    }
    assert_eq!(srv.call("poke", json!({})).await.text(), over);
    let asked = srv.methods();
    let reads = asked.iter().filter(|method| *method == "resources/read");
    assert_eq!(reads.count(), 1);
    tokio::time::advance(Duration::from_secs(30)).await;
    offers.read("test://a").await.expect("it reads");
}
