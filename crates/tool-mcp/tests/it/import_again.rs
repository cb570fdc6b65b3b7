//! Servers that end and are connected again.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::json;
use tool_core::Outcome;
use tool_mcp::{Limits, UpstreamEvent, UpstreamState};

use crate::support::eventually;
use crate::support::imported::Imported;

fn soon() -> Limits {
    Limits::default().retry_after(Duration::from_millis(1), Duration::from_millis(1))
}

#[tokio::test]
async fn a_server_that_ended_comes_back_with_its_tools_compared() {
    let srv = Imported::with("ordinary", soon()).await;
    let definitions = |srv: &Imported| {
        let snapshot = srv.registry.snapshot();
        serde_json::to_value(snapshot.definitions().collect::<Vec<_>>()).expect("plain data")
    };
    let before = definitions(&srv);
    let mut events = srv.upstreams.events();
    let settlement = srv.call("die", json!({})).await;
    assert_eq!(
        settlement.text(),
        "server srv is not available; the call may have run in part"
    );
    assert_eq!(
        events.next().await,
        Some(UpstreamEvent::Lost {
            server: "srv".to_owned(),
            reason: "exited with status 3".to_owned(),
        })
    );
    // The same list is no change.
    assert_eq!(
        events.next().await,
        Some(UpstreamEvent::Connected {
            server: "srv".to_owned(),
            protocol: "2025-11-25".to_owned(),
        })
    );
    assert_eq!(definitions(&srv), before);
    assert_eq!(srv.call("poke", json!({})).await.text(), "poked");
    // What was sent and never answered is not sent again.
    let deaths = srv.transcript().into_iter();
    let deaths = deaths.filter(|message| message["params"]["name"] == "die");
    assert_eq!(deaths.count(), 1);
}

#[tokio::test]
async fn a_list_that_changed_while_a_server_was_away_is_told_before_it_is_registered() {
    let srv = Imported::with("changing", soon()).await;
    let mut events = srv.upstreams.events();
    srv.call("die", json!({})).await;
    assert!(matches!(
        events.next().await,
        Some(UpstreamEvent::Lost { .. })
    ));
    let Some(UpstreamEvent::ToolsChanged {
        server,
        added,
        removed,
        changed,
    }) = events.next().await
    else {
        panic!("the change is told first");
    };
    assert_eq!((server.as_str(), added.len(), changed.len()), ("srv", 1, 1));
    assert_eq!(added, ["added"]);
    assert_eq!(changed, ["echo"]);
    assert!(removed.contains(&"poke".to_owned()));
    assert!(matches!(
        events.next().await,
        Some(UpstreamEvent::Connected { .. })
    ));
    assert!(srv.registry.snapshot().get("srv__added").is_some());
    assert!(srv.registry.snapshot().get("srv__poke").is_none());
}

#[tokio::test]
async fn calls_of_a_server_that_is_away_are_refused_at_once_and_by_name() {
    let limits =
        Limits::default().retry_after(Duration::from_secs(3600), Duration::from_secs(3600));
    let srv = Imported::with("ordinary", limits).await;
    srv.call("die", json!({})).await;
    eventually("it is away", || {
        srv.status().state
            == UpstreamState::Away {
                reason: "exited with status 3".to_owned(),
                attempt: 1,
            }
    })
    .await;
    let settlement = srv.call("echo", json!({})).await;
    assert!(matches!(settlement.outcome, Outcome::Failed(_)));
    assert_eq!(
        settlement.text(),
        "server srv is not available; the call was not sent to it"
    );
    srv.upstreams.shutdown().await;
    assert_eq!(srv.registry.snapshot().entries().count(), 0);
}

#[tokio::test]
async fn a_server_that_keeps_failing_is_given_up_after_so_many_waits() {
    let limits = soon().retries(3);
    let draws = Arc::new(AtomicU32::new(0));
    let drawn = Arc::clone(&draws);
    let mut srv = Imported::start("exits", limits, |builder| {
        builder.jitter(move || {
            drawn.fetch_add(1, Ordering::Relaxed);
            0.0
        })
    });
    let mut attempts = std::collections::BTreeSet::new();
    loop {
        match srv.status().state {
            UpstreamState::Away { attempt, .. } => {
                attempts.insert(attempt);
            }
            UpstreamState::Failed { reason } => {
                assert_eq!(reason, "exited with status 4 before it was ready");
                break;
            }
            _ => {}
        }
        srv.upstreams.changed().await;
    }
    assert_eq!(draws.load(Ordering::Relaxed), 3);
    assert!(attempts.iter().all(|attempt| (1..=3).contains(attempt)));
    assert!(attempts.contains(&3));
}

#[tokio::test]
async fn a_command_that_does_not_exist_is_not_tried_again() {
    use tool_mcp::{ServerConfig, ServersConfig, Upstreams};

    let name = tool_core::Namespace::new("none").expect("legal");
    let config = ServersConfig::default().with(ServerConfig::new(name, "/nowhere/none"));
    let upstreams = Upstreams::builder(config).connect(&tool_registry::Registry::default());
    upstreams.settled().await;
    let state = upstreams.statuses().remove(0).state;
    assert!(matches!(state, UpstreamState::Failed { .. }), "{state:?}");
}
