//! Servers that are not what they were when they were trusted.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tool_core::{Call, Facts, Namespace, State};
use tool_mcp::{Limits, Pins, ServersConfig, UpstreamState, Upstreams};
use tool_registry::{MemoryState, Registry};

use crate::support::eventually;
use crate::support::imported::{Imported, server};

fn pins() -> Pins {
    Pins::new(Arc::new(MemoryState::default()) as Arc<dyn State>)
}

fn srv() -> Namespace {
    Namespace::new("srv").expect("a name")
}

async fn pinned(mode: &str, pins: &Pins) -> Imported {
    let soon = Limits::default().retry_after(Duration::from_millis(1), Duration::from_millis(1));
    let imported = Imported::start(mode, soon, |builder| builder.pins(pins.clone()));
    imported.upstreams.settled().await;
    imported
}

fn refused(imported: &Imported) -> Vec<String> {
    match imported.status().state {
        UpstreamState::Ready { refused, .. } => refused.into_iter().map(|tool| tool.name).collect(),
        other => panic!("the server is {}", other.as_str()),
    }
}

#[tokio::test]
async fn a_server_that_is_reached_in_another_way_is_not_started_until_that_is_approved() {
    let pins = pins();
    let first = Upstreams::builder(ServersConfig::default().with(server("srv", "ordinary")))
        .pins(pins.clone())
        .connect(&Registry::default());
    first.settled().await;
    assert_eq!(first.statuses()[0].state.as_str(), "ready");
    first.shutdown().await;

    // One variable more: the fixture of `Imported` writes down what it is sent.
    let second = pinned("ordinary", &pins).await;
    assert_eq!(second.status().state.as_str(), "held");
    assert!(second.transcript().is_empty());
    assert!(second.registry.snapshot().entries().len() == 0);

    let waiting = pins.changes(&srv()).await.unwrap();
    assert_eq!(waiting.len(), 1);
    assert!(
        waiting[0]
            .differences()
            .iter()
            .any(|one| one.pointer == "/env/1")
    );
    pins.approve(&srv(), &waiting[0].code()).await.unwrap();
    eventually("it is started", || {
        second.status().state.as_str() == "ready"
    })
    .await;
    assert_eq!(second.call("poke", json!({})).await.text(), "poked");
}

#[tokio::test]
async fn what_changed_while_a_server_was_away_waits_and_the_rest_goes_on() {
    let pins = pins();
    let srv_ = pinned("changing", &pins).await;
    srv_.call("die", json!({})).await;
    eventually("it is back", || {
        srv_.status().connects == 2 && srv_.status().state.as_str() == "ready"
    })
    .await;
    assert_eq!(refused(&srv_), ["echo", "added"]);
    assert!(srv_.registry.snapshot().get("srv__echo").is_none());
    assert!(srv_.registry.snapshot().get("srv__die").is_some());

    let waiting = pins.changes(&srv()).await.unwrap();
    let echo = waiting
        .iter()
        .find(|change| change.tool.as_deref() == Some("echo"))
        .unwrap();
    assert_eq!(echo.differences()[0].pointer, "/description");
    pins.approve(&srv(), &echo.code()).await.unwrap();
    eventually("it is taken in", || {
        srv_.registry.snapshot().get("srv__echo").is_some()
    })
    .await;
    assert_eq!(refused(&srv_), ["added"]);
}

#[tokio::test]
async fn a_tool_that_changed_between_list_and_call_is_not_called() {
    for keeps in [true, false] {
        let pins = pins();
        let limits = Limits::default().retries(0);
        let imported = Imported::start("turning", limits, |builder| match keeps {
            true => builder.pins(pins.clone()),
            false => builder,
        });
        imported.upstreams.settled().await;
        let before = imported.registry.snapshot();
        assert_eq!(imported.call("turn", json!({})).await.text(), "turned");
        // At once: whether the new list is there already must not matter.
        let call = Call::new("srv__echo", json!({"n": 1}));
        let settlement = before.settle(call, &Facts::new()).await;
        assert_eq!(imported.was_called("echo"), !keeps);
        if keeps {
            assert_eq!(
                settlement.text(),
                "server srv has changed this tool, and the call was not sent; \
                 the tool can be called again once that was looked at"
            );
            assert!(imported.registry.snapshot().get("srv__echo").is_none());
            assert_eq!(imported.call("turn", json!({})).await.text(), "turned");
        }
    }
}

#[tokio::test]
async fn what_was_forgotten_is_not_used_on_though_the_list_stays_the_same() {
    let pins = pins();
    let srv_ = pinned("misbehaving", &pins).await;
    assert!(pins.forget(&srv(), Some("echo")).await.unwrap());
    // The list is looked at once more, and nothing in it has changed.
    srv_.call("flood", json!({"n": 1})).await;
    eventually("it is held", || refused(&srv_).contains(&"echo".to_owned())).await;
    assert!(srv_.registry.snapshot().get("srv__echo").is_none());

    assert!(pins.forget(&srv(), None).await.unwrap());
    srv_.call("flood", json!({"n": 1})).await;
    eventually("all of it is at first sight", || {
        srv_.registry.snapshot().get("srv__echo").is_some()
    })
    .await;
    assert!(pins.trusted(&srv()).await.unwrap().is_some());
}

#[tokio::test]
async fn without_knowing_what_was_trusted_nothing_is_started() {
    struct Broken;

    impl State for Broken {
        fn claim<'a>(
            &'a self,
            _: &'a str,
            _: std::time::SystemTime,
        ) -> tool_core::BoxFuture<'a, Result<bool, tool_core::StateError>> {
            Box::pin(async { Ok(true) })
        }
    }

    let pins = Pins::new(Arc::new(Broken));
    let imported = pinned("ordinary", &pins).await;
    assert_eq!(
        imported.status().state,
        UpstreamState::Held {
            reason: "what was trusted of server \"srv\" could not be read or kept".to_owned()
        }
    );
    assert!(imported.transcript().is_empty());
}
