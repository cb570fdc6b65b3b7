//! Time limits on calls. The clock stands still but for what the tests do to it.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tool_core::{Call, Decision, Facts, Outcome};

use crate::support::eventually;
use crate::support::gateway::Gateway;
use crate::support::imported::Imported;
use crate::support::peer::Peer;

#[tokio::test]
async fn a_call_without_a_sign_of_life_ends_and_is_cancelled() {
    let srv = Imported::new("ordinary").await;
    tokio::time::pause();
    let settlement = srv.call("wait", json!({})).await;
    assert!(matches!(settlement.outcome, Outcome::Failed(_)));
    assert!(
        settlement
            .text()
            .contains("did not answer within 120 seconds")
    );
    eventually("the server is told", || !srv.cancellations().is_empty()).await;
    assert_eq!(
        srv.cancellations()[0]["reason"],
        "the caller no longer waits"
    );
}

#[tokio::test]
async fn progress_extends_the_time_between_signs_and_never_the_whole() {
    let srv = Arc::new(Imported::new("ordinary").await);
    tokio::time::pause();
    // The clock does not run ahead of the server while something blocks.
    let (release, held) = std::sync::mpsc::channel::<()>();
    let hold = tokio::task::spawn_blocking(move || held.recv());

    let (reports, mut reported) = tokio::sync::mpsc::unbounded_channel();
    let call = Call::new("srv__beat", json!({}));
    let calling = tokio::spawn(
        srv.registry
            .snapshot()
            .settle(call, &Facts::new())
            .progress(move |report: tool_core::Progress| {
                reports.send(report.done).expect("the test listens");
            })
            .into_future(),
    );
    eventually("the server is called", || srv.was_called("beat")).await;
    for beat in 1..=5 {
        tokio::time::advance(Duration::from_secs(100)).await;
        assert_eq!(srv.call("poke", json!({})).await.text(), "poked");
        assert_eq!(reported.recv().await, Some(Some(f64::from(beat))));
    }
    // 500 s have passed, more than four times what may pass without a sign.
    assert!(!calling.is_finished());
    tokio::time::advance(Duration::from_secs(101)).await;
    let settlement = calling.await.expect("no panic");
    assert!(
        settlement
            .text()
            .contains("did not answer within 600 seconds")
    );

    drop(release);
    let _ = hold.await;
}

#[tokio::test]
async fn a_call_that_its_client_cancels_ends_at_once_though_its_server_stays_silent() {
    let gateway = Gateway::of("ordinary", Decision::Deny).await;
    let mut peer = Peer::connect(&gateway.server).await;
    peer.request(7, "tools/call", json!({"name": "srv__wait"}))
        .await;
    eventually("the server is called", || gateway.srv.was_called("wait")).await;
    tokio::time::pause();
    // As long as something blocks the clock stands still: whatever waited for it would wait on.
    let (release, held) = std::sync::mpsc::channel::<()>();
    let hold = tokio::task::spawn_blocking(move || held.recv());

    let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": {"requestId": 7}});
    peer.send(&cancelled).await;
    // Its id is free once it is over.
    let mut over = false;
    for _ in 0..1_000 {
        let answer = peer.ask(7, "ping", json!({})).await;
        over = answer.get("result").is_some();
        if over {
            break;
        }
    }
    assert!(over, "it runs on");
    eventually("the server is told", || {
        !gateway.srv.cancellations().is_empty()
    })
    .await;
    drop(release);
    let _ = hold.await;
}
