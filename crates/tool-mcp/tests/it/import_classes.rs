//! Calls that do not run beside each other, whoever makes them.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tool_core::{Call, Decision, Facts, Settlement};

use crate::support::agreeing::{Agreeing, Speaks};
use crate::support::eventually;
use crate::support::gateway::{Gateway, passed_on};
use crate::support::imported::Imported;

/// A call of its own batch that lasts until it is given up.
fn start(srv: &Imported, arguments: Value) -> JoinHandle<Settlement> {
    let call = Call::new("srv__beat", arguments);
    let settling = srv.registry.snapshot().settle(call, &Facts::new());
    tokio::spawn(settling.into_future())
}

fn sent(srv: &Imported) -> usize {
    let transcript = srv.transcript();
    let calls = transcript.iter();
    calls
        .filter(|message| message["params"]["name"] == "beat")
        .count()
}

/// Shows that whatever could be sent was sent: another tool is not held up, and comes behind it.
async fn all_is_sent(srv: &Imported) -> usize {
    assert_eq!(srv.call("poke", json!({})).await.text(), "poked");
    sent(srv)
}

#[tokio::test]
async fn calls_of_an_exclusive_tool_run_one_at_a_time_and_one_that_gives_up_takes_no_turn_along() {
    let overlay = json!({"tools": {"beat": {"concurrency": "exclusive"}}});
    let srv = Imported::dressed("ordinary", overlay).await;
    let first = start(&srv, json!({}));
    eventually("the first is sent", || sent(&srv) == 1).await;
    let (second, third) = (start(&srv, json!({"n": 2})), start(&srv, json!({"n": 3})));
    assert_eq!(all_is_sent(&srv).await, 1);
    // One that waits goes, then the one that runs: the turn is the third's.
    second.abort();
    assert!(second.await.expect_err("it was dropped").is_cancelled());
    assert_eq!(all_is_sent(&srv).await, 1);
    first.abort();
    eventually("the third is sent", || sent(&srv) == 2).await;
    let transcript = srv.transcript();
    let last = transcript.iter().rfind(|it| it["params"]["name"] == "beat");
    assert_eq!(
        last.expect("it was sent")["params"]["arguments"],
        json!({"n": 3})
    );
    third.abort();
}

#[tokio::test]
async fn calls_with_an_equal_key_run_one_at_a_time_and_others_beside_them() {
    let overlay =
        json!({"concurrency": {"key": "/n"}, "tools": {"poke": {"concurrency": "parallel"}}});
    let srv = Imported::dressed("ordinary", overlay).await;
    let first = start(&srv, json!({"n": 1}));
    eventually("the first is sent", || sent(&srv) == 1).await;
    let equal = start(&srv, json!({"n": 1.0}));
    let other = start(&srv, json!({"n": 2}));
    eventually("the other is sent", || sent(&srv) == 2).await;
    let without = (start(&srv, json!({})), start(&srv, json!({"m": 1})));
    eventually("one without a key is sent", || sent(&srv) == 3).await;
    assert_eq!(all_is_sent(&srv).await, 3);
    first.abort();
    eventually("the equal one is sent", || sent(&srv) == 4).await;
    without.0.abort();
    without.1.abort();
    equal.abort();
    other.abort();
}

#[tokio::test]
async fn a_call_that_waits_for_its_turn_keeps_its_time_limits_and_says_that_it_was_not_sent() {
    let overlay = json!({
        "timeout": {"idle": 5},
        "concurrency": "exclusive",
        "tools": {"poke": {"concurrency": "parallel"}},
    });
    let srv = Arc::new(Imported::dressed("ordinary", overlay).await);
    tokio::time::pause();
    let (release, held) = std::sync::mpsc::channel::<()>();
    // The clock does not run ahead of the server.
    tokio::task::spawn_blocking(move || held.recv());
    let first = start(&srv, json!({}));
    eventually("the first is sent", || sent(&srv) == 1).await;
    let second = start(&srv, json!({}));
    for _ in 0..8 {
        // A sign of life of the first, which outlasts the patience of the second.
        assert_eq!(all_is_sent(&srv).await, 1);
        tokio::time::advance(Duration::from_secs(1)).await;
    }
    assert_eq!(
        second.await.expect("no panic").text(),
        "tool beat of server srv runs no two such calls at the same time, and the one before did \
         not end within 5 s; the call was not sent"
    );
    first.abort();
    drop(release);
}

#[tokio::test]
async fn a_call_whose_client_is_asked_keeps_its_turn_while_its_server_waits() {
    let overlay = json!({"concurrency": "exclusive", "timeout": {"idle": 2}});
    let srv = Imported::start_dressed("conformance-handshake", overlay, |builder| {
        builder.inputs(passed_on(Decision::Allow))
    });
    let gateway = Gateway::serving(srv).await;
    let mut client = Agreeing::of(&gateway.server, Speaks::Stateless).await;
    let tool = "test_input_required_result_multi_round";
    let call = json!({"name": format!("srv__{tool}")});
    let first = client.exchange("tools/call", call.clone()).await;
    assert_eq!(first["result"]["resultType"], "input_required", "{first}");

    tokio::time::pause();
    let text = gateway.srv.call(tool, json!({})).await.text();
    assert!(text.contains("runs no two such calls"), "{text}");
    tokio::time::resume();
    let mut answer = first;
    while answer["result"]["resultType"] == "input_required" {
        answer = client.round("tools/call", &call, &answer, 1).await;
    }
    assert_eq!(answer["result"]["content"][0]["text"], "Ada likes Ada");
    assert_eq!(
        client.ask("tools/call", call).await["result"]["isError"],
        false
    );
}
