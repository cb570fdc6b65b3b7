//! Calls that are not started because of how another one ended.

use std::convert::Infallible;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};

use futures_util::{StreamExt as _, stream};
use serde_json::{Value, json};
use tool_core::{
    Answer, Approver, ApproverError, Ask, BoxFuture, Call, Decision, Event, EventKind, Facts,
    Outcome, Permission, Policy, PolicyError, Request, Ruling, Settlement, Tool, ToolFailure, Word,
};
use tool_registry::{FinishReason, Part, Registry, SettlementEvent, TurnEvent};

use crate::ports::open;

const ONE: NonZeroUsize = NonZeroUsize::MIN;

/// A tool that fails when it is told to, and the calls that it got.
fn told() -> (Tool, Arc<Mutex<Vec<String>>>) {
    let runs = Arc::<Mutex<Vec<String>>>::default();
    let seen = Arc::clone(&runs);
    let schema = json!({"type": "object", "properties": {"fails": {"type": "boolean"}}});
    let tool = Tool::dynamic("Does as it is told", schema, move |input: Value, cx| {
        let id = cx.call_id().map(ToString::to_string);
        seen.lock().unwrap().extend(id);
        async move {
            // Siblings begin before it ends.
            tokio::task::yield_now().await;
            if input["fails"] == true {
                return Err(ToolFailure::new("as it was told").into());
            }
            Ok(json!("done"))
        }
    });
    (tool, runs)
}

fn calls(fail: &[&str]) -> Vec<Call> {
    let calls = ["c0", "c1", "c2", "c3"].into_iter();
    calls
        .map(|id| Call::new("tool", json!({"fails": fail.contains(&id)})).id(id))
        .collect()
}

fn registry() -> (Registry, Arc<Mutex<Vec<String>>>) {
    let (tool, runs) = told();
    let registry = open().build();
    registry.register([("tool", tool)]).unwrap().keep();
    (registry, runs)
}

fn words(settled: &[Settlement]) -> Vec<&'static str> {
    let settled = settled.iter();
    settled
        .map(|settlement| settlement.outcome.as_str())
        .collect()
}

fn stopped_by(settlement: &Settlement) -> Option<&str> {
    match &settlement.outcome {
        Outcome::NotDispatched { stopped_by } => stopped_by.as_ref().map(|id| id.as_str()),
        _ => None,
    }
}

/// A person who stops at the first question.
struct Stops;

impl Approver for Stops {
    fn ask<'a>(&'a self, ask: Ask<'a>) -> BoxFuture<'a, Result<Word, ApproverError>> {
        let stops = ask.request.call.is_some_and(|id| id.as_str() == "c1");
        Box::pin(async move {
            let stopped = || Answer::Stopped {
                note: Some("enough".to_owned()),
            };
            Ok(match stops {
                true => stopped().into(),
                false => Answer::Approved.into(),
            })
        })
    }
}

/// Everything is asked.
struct Asks;

impl Policy for Asks {
    fn decide<'a>(&'a self, _: &'a Request<'a>) -> BoxFuture<'a, Result<Ruling, PolicyError>> {
        Box::pin(async { Ok(Ruling::new(Decision::Ask, "it is asked")) })
    }
}

#[tokio::test]
async fn a_person_stops_a_batch_and_a_turn_whatever_the_host_says() {
    let (tool, runs) = told();
    let registry = Registry::builder()
        .permission(Permission::new(Asks, Stops))
        .build();
    registry.register([("tool", tool)]).unwrap().keep();
    let expected = ["completed", "refused", "not_dispatched", "not_dispatched"];
    let check = |settled: &[Settlement]| {
        assert_eq!(words(settled), expected);
        assert_eq!(
            settled[1].text(),
            "the user declined this call and stopped: enough"
        );
        assert!(
            settled[2..]
                .iter()
                .all(|later| stopped_by(later) == Some("c1"))
        );
        assert_eq!(std::mem::take(&mut *runs.lock().unwrap()), ["c0"]);
    };
    let batch = || {
        let snapshot = registry.snapshot();
        snapshot.batch(calls(&[]), &Facts::new()).concurrency(ONE)
    };
    check(&batch().settle().await);
    check(&batch().stop_when(|_| false).settle().await);

    let parts = calls(&[]).into_iter().map(Part::Call);
    let response = stream::iter(parts.map(Ok::<_, Infallible>));
    let turn = registry.snapshot().turn(&Facts::new()).concurrency(ONE);
    let events = turn.run(response).filter_map(async |event| match event {
        TurnEvent::Settled { settlement, .. } => Some(*settlement),
        _ => None,
    });
    check(&events.collect::<Vec<_>>().await);
}

#[tokio::test]
async fn nothing_stops_unless_the_host_says_so() {
    let (registry, runs) = registry();
    let batch = registry.snapshot().batch(calls(&["c0"]), &Facts::new());
    let settled = batch.concurrency(ONE).settle().await;
    assert_eq!(
        words(&settled),
        ["failed", "completed", "completed", "completed"]
    );
    assert_eq!(runs.lock().unwrap().len(), 4);
}

#[tokio::test]
async fn one_after_the_other_exactly_those_after_it_are_not_started_and_name_it() {
    let (registry, runs) = registry();
    let batch = registry.snapshot().batch(calls(&["c1"]), &Facts::new());
    let batch = batch.concurrency(ONE).stop_when(Settlement::is_error);
    let settled = batch.settle().await;
    let expected = ["completed", "failed", "not_dispatched", "not_dispatched"];
    assert_eq!(words(&settled), expected);
    assert_eq!(*runs.lock().unwrap(), ["c0", "c1"]);
    for (settlement, id) in settled.iter().zip(["c0", "c1", "c2", "c3"]) {
        assert_eq!(settlement.call.as_ref().unwrap().as_str(), id);
    }
    assert_eq!(stopped_by(&settled[2]), Some("c1"));
    assert_eq!(
        settled[3].text(),
        "the call was not started, because of how call c1 ended"
    );
    assert!(settled[3].identity.is_some());
}

#[tokio::test]
async fn calls_that_have_begun_go_on_and_the_first_that_stops_is_named() {
    let (registry, runs) = registry();
    let batch = registry
        .snapshot()
        .batch(calls(&["c0", "c1"]), &Facts::new());
    let two = NonZeroUsize::new(2).unwrap();
    let batch = batch.concurrency(two).stop_when(Settlement::is_error);
    let settled = batch.settle().await;
    let expected = ["failed", "failed", "not_dispatched", "not_dispatched"];
    assert_eq!(words(&settled), expected);
    assert_eq!(*runs.lock().unwrap(), ["c0", "c1"]);
    // Whichever ended first.
    let by = stopped_by(&settled[2]);
    assert!(matches!(by, Some("c0" | "c1")), "{by:?}");
    assert_eq!(stopped_by(&settled[3]), by);
}

#[tokio::test]
async fn a_stream_stops_as_the_batch_does_and_settles_each_position_once() {
    let (registry, _runs) = registry();
    let batch = registry.snapshot().batch(calls(&["c1"]), &Facts::new());
    let batch = batch.concurrency(ONE).stop_when(Settlement::is_error);
    let mut events = batch.stream();
    let mut settled = Vec::new();
    while let Some((position, event)) = events.next().await {
        if let SettlementEvent::Settled(settlement) = event {
            settled.push((position, settlement.outcome.as_str()));
        }
    }
    let expected = ["completed", "failed", "not_dispatched", "not_dispatched"];
    assert_eq!(
        settled,
        expected.into_iter().enumerate().collect::<Vec<_>>()
    );
}

#[tokio::test]
async fn a_turn_answers_every_call_that_the_model_made_after_it_stopped() {
    let (registry, runs) = registry();
    let parts = calls(&["c1"]).into_iter().map(Part::Call);
    let parts = parts.chain([Part::Finish(FinishReason::ToolCalls)]);
    let response = stream::iter(parts.map(Ok::<_, Infallible>));
    let turn = registry.snapshot().turn(&Facts::new()).concurrency(ONE);
    let mut turn = turn.stop_when(Settlement::is_error).run(response);
    let mut answered = Vec::new();
    let mut finish = None;
    while let Some(event) = turn.next().await {
        match event {
            TurnEvent::Settled { settlement, .. } => answered.push(*settlement),
            TurnEvent::Finish(reason) => finish = Some(reason),
            _ => {}
        }
    }
    let expected = ["completed", "failed", "not_dispatched", "not_dispatched"];
    assert_eq!(words(&answered), expected);
    assert_eq!(stopped_by(&answered[3]), Some("c1"));
    assert_eq!(finish, Some(FinishReason::ToolCalls));
    assert_eq!(turn.history().results().len(), 4);
    assert_eq!(*runs.lock().unwrap(), ["c0", "c1"]);
}

#[tokio::test]
async fn a_predicate_that_panics_stops() {
    let (registry, runs) = registry();
    let batch = registry.snapshot().batch(calls(&[]), &Facts::new());
    let batch = batch.concurrency(ONE).stop_when(|_| panic!("on purpose"));
    let settled = batch.settle().await;
    assert_eq!(words(&settled)[..2], ["completed", "not_dispatched"]);
    assert_eq!(*runs.lock().unwrap(), ["c0"]);
}

#[tokio::test]
async fn a_host_is_told_of_calls_that_were_not_started() {
    let told = Arc::<Mutex<Vec<String>>>::default();
    let sink = Arc::clone(&told);
    let events = move |event: &Event<'_>| {
        if let EventKind::Settled(settlement) = &event.kind {
            let word = settlement.outcome.as_str();
            sink.lock().unwrap().push(word.to_owned());
        }
    };
    let registry = open().events(events).build();
    registry.register([("tool", told_tool())]).unwrap().keep();
    let batch = registry.snapshot().batch(calls(&["c0"]), &Facts::new());
    let batch = batch.concurrency(ONE).stop_when(Settlement::is_error);
    batch.settle().await;
    let expected = [
        "failed",
        "not_dispatched",
        "not_dispatched",
        "not_dispatched",
    ];
    assert_eq!(*told.lock().unwrap(), expected);
}

fn told_tool() -> Tool {
    told().0
}
