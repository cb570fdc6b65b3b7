//! Destructors that panic when what holds them is given up.

use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use serde_json::json;
use tokio::sync::mpsc;
use tool_core::{Call, Facts, Tool};
use tool_registry::{FinishReason, Part, Registry, TurnEvent};

use crate::ports::open;
use crate::tools::{fixed, run};

/// Panics when it is dropped.
struct Mine;

impl Drop for Mine {
    fn drop(&mut self) {
        assert!(std::thread::panicking(), "canary");
    }
}

/// Never ends, and panics when it is given up.
fn mined() -> Tool {
    run(|_| async {
        let mine = Mine;
        std::future::pending::<()>().await;
        drop(mine);
        Ok(json!(null))
    })
}

fn registry() -> Registry {
    let registry = open().build();
    let in_time = mined().timeout(Duration::from_secs(1));
    let tools = [
        ("mined", mined()),
        ("limited", in_time),
        ("bystander", fixed("x")),
    ];
    registry.register(tools).unwrap().keep();
    registry
}

#[tokio::test(start_paused = true)]
async fn a_call_that_ran_out_of_time_takes_no_sibling_along() {
    let calls = ["mined", "limited", "bystander"].map(|name| Call::new(name, "{}"));
    let batch = registry().snapshot().batch(calls, &Facts::new());
    let settled = batch.timeout(Duration::from_secs(9)).settle().await;
    let ends: Vec<_> = settled.iter().map(|one| one.outcome.as_str()).collect();
    assert_eq!(ends, ["timed_out", "timed_out", "completed"]);
}

#[tokio::test]
async fn a_response_that_is_cut_off_answers_every_call() {
    let (send, mut receive) = mpsc::unbounded_channel::<Result<Part, &str>>();
    let parts = stream::poll_fn(move |cx| receive.poll_recv(cx));
    let mut turn = registry().snapshot().turn(&Facts::new()).run(parts);
    for _ in 0..2 {
        send.send(Ok(Part::Call(Call::new("mined", "{}")))).unwrap();
    }
    send.send(Ok(Part::Text("more".to_owned()))).unwrap();
    for _ in 0..3 {
        turn.next().await.unwrap();
    }
    assert!(futures_util::poll!(turn.next()).is_pending());
    send.send(Ok(Part::Finish(FinishReason::Length))).unwrap();
    let rest: Vec<_> = turn.by_ref().collect().await;
    assert_eq!(rest.len(), 3);
    assert!(matches!(rest[2], TurnEvent::Finish(FinishReason::Length)));
    let results = turn.into_history().results();
    assert!(results.iter().all(|result| result.outcome == "cancelled"));
}

#[tokio::test]
async fn whoever_drops_a_call_a_batch_or_a_stream_does_not_panic() {
    let snapshot = registry().snapshot();
    let calls = || ["mined", "mined"].map(|name| Call::new(name, "{}"));
    let one = || snapshot.settle(Call::new("mined", "{}"), &Facts::new());

    let mut call = one().into_future();
    assert!(futures_util::poll!(call.as_mut()).is_pending());
    drop(call);
    let mut call = one().stream();
    assert!(futures_util::poll!(call.next()).is_pending());
    drop(call);
    let mut batch = Box::pin(snapshot.batch(calls(), &Facts::new()).settle());
    assert!(futures_util::poll!(batch.as_mut()).is_pending());
    drop(batch);
    let mut batch = snapshot.batch(calls(), &Facts::new()).stream();
    assert!(futures_util::poll!(batch.next()).is_pending());
    drop(batch);
}
