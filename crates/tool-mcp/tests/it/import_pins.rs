//! Servers that are not what they were when they were trusted.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::sync::Notify;
use tool_core::{BoxFuture, Call, Facts, Namespace, State};
use tool_mcp::{
    AskKind, InputAnswer, Inputs, Limits, Pins, ServersConfig, UpstreamState, Upstreams,
    WantedInput,
};
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

/// Answers once it is told to.
#[derive(Default)]
struct Slow {
    asked: Notify,
    answers: Notify,
}

impl Inputs for Slow {
    fn kinds<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Vec<AskKind>> {
        Box::pin(async { vec![AskKind::Form] })
    }

    fn provide<'a>(
        &'a self,
        wanted: &'a WantedInput,
    ) -> BoxFuture<'a, Result<InputAnswer, String>> {
        Box::pin(async move {
            self.asked.notify_one();
            self.answers.notified().await;
            Ok(wanted.accept(serde_json::Map::new()))
        })
    }
}

#[tokio::test]
async fn a_tool_that_changes_while_a_person_is_asked_is_not_called_again() {
    for keeps in [true, false] {
        let slow = Arc::new(Slow::default());
        let inputs = Arc::clone(&slow);
        let imported = Imported::start("turning-stateless", Limits::default(), |builder| {
            let builder = builder.inputs(inputs);
            match keeps {
                true => builder.pins(pins()),
                false => builder,
            }
        });
        imported.upstreams.settled().await;
        let answered = async {
            slow.asked.notified().await;
            eventually("the new list is taken in", || {
                let snapshot = imported.registry.snapshot();
                snapshot.get("srv__needs").is_none()
            })
            .await;
            slow.answers.notify_one();
        };
        let (settlement, ()) = tokio::join!(imported.call("ask", json!({})), answered);
        let calls = imported.transcript().into_iter();
        let calls = calls.filter(|sent| sent["params"]["name"] == "ask").count();
        assert_eq!(calls, if keeps { 1 } else { 2 });
        let text = settlement.text();
        let refused = "server srv has changed this tool, and the call cannot go on; \
                       it may have run in part";
        assert_eq!(text == refused, keeps, "{text}");
    }
}

#[cfg(feature = "http-client")]
#[tokio::test]
async fn a_call_that_waits_for_its_turn_is_not_sent_once_its_tool_has_changed() {
    use std::sync::atomic::{AtomicBool, Ordering};

    use tool_mcp::ServerConfig;

    use crate::import_http::old;
    use crate::support::http_server::{HttpServer, Reply};

    const AT_ONCE: usize = 64;
    let turned = AtomicBool::new(false);
    let server = HttpServer::start(move |asked| match asked.method() {
        "tools/list" => {
            let description = match turned.load(Ordering::Relaxed) {
                true => "Does something else",
                false => "Echoes",
            };
            let tool = json!({
                "name": "echo", "description": description, "inputSchema": {"type": "object"},
            });
            asked.result(json!({"tools": [tool]}))
        }
        // It says so when the next best is sent to it.
        "notifications/cancelled" => {
            turned.store(true, Ordering::Relaxed);
            let told = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
            Reply::events(format!("data: {told}\n\n"), false)
        }
        _ => old(asked, |_| Reply::events(": hi\n\n".to_owned(), true)),
    })
    .await;
    let calls = || {
        let asked = server.asked().into_iter();
        asked.filter(|asked| asked.method() == "tools/call").count()
    };
    let registry = crate::support::registry::permissive().build();
    let upstreams =
        Upstreams::builder(ServersConfig::default().with(ServerConfig::http(srv(), server.url())))
            .limits(Limits::default().retries(0))
            .pins(pins())
            .connect(&registry);
    upstreams.settled().await;
    let call = || {
        let snapshot = registry.snapshot();
        tokio::spawn(async move {
            let call = Call::new("srv__echo", json!({}));
            snapshot.settle(call, &Facts::new()).await
        })
    };
    let busy: Vec<_> = (0..AT_ONCE).map(|_| call()).collect();
    eventually("every place is taken", || calls() == AT_ONCE).await;
    let (waiting, given_up) = (call(), call());
    for _ in 0..50 {
        tokio::task::yield_now().await;
    }
    assert!(!waiting.is_finished());
    given_up.abort();
    eventually("the new list is looked at", || {
        registry.snapshot().get("srv__echo").is_none()
    })
    .await;
    assert_eq!(calls(), AT_ONCE);
    for call in busy {
        call.abort();
    }
    assert_eq!(
        waiting.await.expect("it ends").text(),
        "server srv has changed this tool, and the call was not sent; \
         the tool can be called again once that was looked at"
    );
    assert_eq!(calls(), AT_ONCE);
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
