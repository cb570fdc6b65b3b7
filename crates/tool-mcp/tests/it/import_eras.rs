//! The two eras of the protocol, and how a server's is found.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Map, Value, json};
use tool_core::{BoxFuture, Outcome};
use tool_mcp::{AskKind, InputAnswer, Inputs, Limits, UpstreamState, WantedInput};

use crate::support::eventually;
use crate::support::imported::Imported;

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";

#[tokio::test]
async fn a_server_without_a_handshake_is_spoken_to_without_one() {
    let srv = Imported::new("stateless").await;
    assert_eq!(srv.status().protocol.as_deref(), Some("2026-07-28"));
    assert_eq!(srv.call("echo", json!({"n": 1})).await.text(), "heard");
    let methods = srv.methods();
    assert_eq!(methods[..2], ["server/discover", "tools/list"]);
    assert!(!methods.iter().any(|method| method == "initialize"));
    for message in srv.transcript() {
        if message["id"].is_null() {
            continue;
        }
        let meta = &message["params"]["_meta"];
        assert_eq!(meta[VERSION], "2026-07-28");
        assert_eq!(
            meta["io.modelcontextprotocol/clientCapabilities"],
            json!({})
        );
        assert_eq!(
            meta["io.modelcontextprotocol/clientInfo"]["name"],
            "tool-mcp"
        );
    }
}

#[tokio::test]
async fn a_server_that_refuses_the_probe_is_greeted_with_the_handshake() {
    let srv = Imported::new("ordinary").await;
    assert_eq!(srv.status().protocol.as_deref(), Some("2025-11-25"));
    let methods = srv.methods();
    assert_eq!(
        methods[..4],
        [
            "server/discover",
            "initialize",
            "notifications/initialized",
            "tools/list"
        ]
    );
}

#[tokio::test]
async fn a_server_that_exits_on_the_probe_is_started_once_more_and_remembered() {
    let limits = Limits::default()
        .retries(3)
        .retry_after(Duration::from_millis(1), Duration::from_millis(1));
    let srv = Imported::with("exits-on-probe", limits).await;
    assert!(matches!(srv.status().state, UpstreamState::Ready { .. }));
    assert_eq!(srv.methods()[..2], ["server/discover", "initialize"]);
    srv.call("die", json!({})).await;
    eventually("it is connected again", || srv.status().connects == 2).await;
    let probes = srv.methods().into_iter();
    assert_eq!(
        probes.filter(|method| method == "server/discover").count(),
        1
    );
}

/// Starts a server that answers the probe only when the handshake comes, five seconds later.
async fn slow(mode: &str) -> Imported {
    tokio::time::pause();
    // The clock does not run ahead of the server while something blocks.
    let (release, held) = std::sync::mpsc::channel::<()>();
    let hold = tokio::task::spawn_blocking(move || held.recv());
    let srv = Imported::start(mode, Limits::default().retries(0), |builder| builder);
    eventually("it is probed", || !srv.methods().is_empty()).await;
    tokio::time::advance(Duration::from_secs(6)).await;
    eventually("it is connected or failed", || {
        srv.status().state != UpstreamState::Connecting
    })
    .await;
    drop(release);
    hold.await.expect("no panic").expect_err("nothing is sent");
    // From here on the server's own time counts.
    tokio::time::resume();
    srv
}

#[tokio::test]
async fn a_slow_server_of_the_old_era_is_not_misread_when_its_refusal_comes_late() {
    let srv = slow("late-handshake").await;
    assert_eq!(srv.status().protocol.as_deref(), Some("2025-11-25"));
    assert!(matches!(srv.status().state, UpstreamState::Ready { .. }));
}

#[tokio::test]
async fn a_slow_server_of_the_new_era_is_found_by_its_late_answer() {
    let srv = slow("late-stateless").await;
    assert_eq!(srv.status().protocol.as_deref(), Some("2026-07-28"));
    assert_eq!(srv.call("echo", json!({})).await.text(), "heard");
}

struct Somebody {
    asked: Mutex<Vec<WantedInput>>,
    kind: AskKind,
}

impl Inputs for Somebody {
    fn kinds<'a>(&'a self, _server: &'a str) -> BoxFuture<'a, Vec<AskKind>> {
        Box::pin(async { vec![self.kind] })
    }

    fn provide<'a>(
        &'a self,
        wanted: &'a WantedInput,
    ) -> BoxFuture<'a, Result<InputAnswer, String>> {
        self.asked.lock().expect("no panic").push(wanted.clone());
        let content = Map::from_iter([("name".to_owned(), json!("Ada"))]);
        Box::pin(async { Ok(wanted.accept(content)) })
    }
}

async fn with_somebody(kind: AskKind) -> (Imported, Arc<Somebody>) {
    let somebody = Arc::new(Somebody {
        asked: Mutex::default(),
        kind,
    });
    let inputs = Arc::clone(&somebody);
    let srv = Imported::start("stateless", Limits::default().retries(0), |builder| {
        builder.inputs(inputs)
    });
    srv.upstreams.settled().await;
    (srv, somebody)
}

#[tokio::test]
async fn what_a_server_asks_in_a_call_is_answered_in_the_same_request_under_a_new_id() {
    let (srv, somebody) = with_somebody(AskKind::Form).await;
    let settlement = srv.call("ask", json!({})).await;
    let told: Value = serde_json::from_str(&settlement.text()).expect("it is JSON");
    let accepted = json!({"action": "accept", "content": {"name": "Ada"}});
    assert_eq!(told, json!([{"who": accepted}, "opaque \u{e9}"]));
    let calls: Vec<_> = srv
        .transcript()
        .into_iter()
        .filter(|message| message["method"] == "tools/call")
        .collect();
    assert_eq!(calls.len(), 2);
    assert_ne!(calls[0]["id"], calls[1]["id"]);
    assert_eq!(
        calls[0]["params"]["arguments"],
        calls[1]["params"]["arguments"]
    );
    let asked = somebody.asked.lock().expect("no panic");
    assert_eq!(asked[0].server, "srv");
    assert_eq!(asked[0].key, "who");
    assert_eq!(asked[0].ask.kind(), AskKind::Form);
    assert_eq!(asked[0].ask.params(), &json!({"message": "Who?"}));
}

#[tokio::test]
async fn what_nobody_can_answer_is_refused_by_name() {
    let srv = Imported::new("stateless").await;
    let refused =
        "server srv asked for elicitation/create before it would answer, and that was refused";
    let settlement = srv.call("ask", json!({})).await;
    assert!(matches!(settlement.outcome, Outcome::Failed(_)));
    assert_eq!(settlement.text(), refused);
    // Nor is somebody asked who never said to answer that.
    let (srv, somebody) = with_somebody(AskKind::Sample).await;
    assert_eq!(srv.call("ask", json!({})).await.text(), refused);
    assert!(somebody.asked.lock().expect("no panic").is_empty());
}

#[tokio::test]
async fn a_server_that_never_stops_asking_is_given_up() {
    let srv = Imported::new("stateless").await;
    assert_eq!(
        srv.call("insist", json!({})).await.text(),
        "server srv asked for something 10 times over and never answered"
    );
}

#[tokio::test]
async fn a_result_of_an_unknown_type_is_none() {
    let srv = Imported::new("stateless").await;
    let settlement = srv.call("martian", json!({})).await;
    assert!(matches!(settlement.outcome, Outcome::Failed(_)));
    assert_eq!(
        settlement.text(),
        "the answer of server srv is of a type that is not known here"
    );
}
