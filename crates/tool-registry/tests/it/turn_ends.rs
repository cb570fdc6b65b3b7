//! How turns end, and what they are held to on the way.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::{Stream, StreamExt as _, stream};
use serde_json::{Map, Value, json};
use tool_core::{
    Call, CallId, Decision, Event, EventKind, Facts, FailureMode, FailureOrigin, NeedsApproval,
    NobodyToAsk, Permission, Tool, ToolFailure, Verdict,
};
use tool_registry::{
    Approvals, AssistantPart, FinishReason, Part, Registry, ResultPart, Turn, TurnEvent,
};

use crate::ports::{Always, Answers, Count, Log, open};
use crate::tools::{echo, mirror, run};
use crate::waits::{any, asking, resume};

fn call(name: &str, id: &str) -> Part {
    Part::Call(Call::new(name, "{}").id(id))
}

fn parts(parts: impl IntoIterator<Item = Part>) -> impl Stream<Item = Result<Part, &'static str>> {
    stream::iter(parts.into_iter().map(Ok).collect::<Vec<_>>())
}

fn registry_of(tool: impl Into<Tool>) -> Registry {
    let registry = open().build();
    registry.register([("tool", tool.into())]).unwrap().keep();
    registry
}

fn turn(registry: &Registry) -> Turn {
    registry.snapshot().turn(&Facts::new())
}

/// The word of each event that ends a call or the turn.
fn ends(events: &[TurnEvent<&'static str>]) -> Vec<String> {
    let end = |event: &TurnEvent<&'static str>| match event {
        TurnEvent::Settled {
            position,
            settlement,
        } => Some(format!("{position} {}", settlement.outcome.as_str())),
        TurnEvent::Finish(reason) => Some(format!("{reason:?}")),
        TurnEvent::Failed(error) => Some(format!("failed {error}")),
        TurnEvent::Malformed(_) => Some("malformed".to_owned()),
        _ => None,
    };
    events.iter().filter_map(end).collect()
}

#[tokio::test]
async fn a_connection_that_stays_open_after_the_end_holds_no_finish_back() {
    for reason in [FinishReason::ToolCalls, FinishReason::Length] {
        let registry = registry_of(mirror(any(), &Count::default()));
        let response = parts([call("tool", "a"), Part::Finish(reason.clone())]);
        let mut turn = turn(&registry).run(response.chain(stream::pending()));
        let mut last = None;
        while let Some(event) = turn.next().await {
            last = Some(event);
        }
        assert!(matches!(last, Some(TurnEvent::Finish(end)) if end == reason));
        assert_eq!(turn.history().results().len(), 1);
    }
}

#[tokio::test]
async fn a_malformed_later_part_of_a_whole_response_lets_nothing_run() {
    let runs = Count::default();
    let registry = registry_of(mirror(any(), &runs));
    let broken = Part::CallComplete { index: 9 };
    let response = parts([call("tool", "a"), call("tool", "b"), broken]);
    let events: Vec<_> = turn(&registry).run(response).collect().await;
    assert_eq!(
        ends(&events),
        ["0 not_dispatched", "1 not_dispatched", "malformed"]
    );
    assert_eq!(runs.get(), 0);
}

#[tokio::test]
async fn a_whole_response_of_many_calls_that_was_cut_off_or_is_malformed_lets_nothing_run() {
    let incomplete = [
        FinishReason::Length,
        FinishReason::ContentFilter,
        FinishReason::Error,
        FinishReason::Other("other".to_owned()),
    ];
    let lasts = incomplete.map(|reason| vec![Part::Finish(reason)]);
    let malformed = [
        vec![Part::CallComplete { index: 9 }],
        vec![
            Part::Finish(FinishReason::ToolCalls),
            Part::Text("more".to_owned()),
        ],
    ];
    for last in lasts.into_iter().chain(malformed) {
        let runs = Count::default();
        let registry = registry_of(mirror(any(), &runs));
        let many = (0..40).map(|number| call("tool", &number.to_string()));
        let what = format!("{last:?}");
        let mut turn = turn(&registry).run_whole(many.chain(last));
        while turn.next().await.is_some() {}
        assert_eq!(runs.get(), 0, "{what}");
        let results = turn.into_history().results();
        let left_out = results.iter().filter(|one| one.outcome == "not_dispatched");
        assert_eq!((results.len(), left_out.count()), (40, 40), "{what}");
    }
}

#[tokio::test]
async fn a_whole_response_runs_every_call_that_it_makes() {
    let runs = Count::default();
    let registry = registry_of(mirror(any(), &runs));
    let many = (0..40).map(|number| call("tool", &number.to_string()));
    let last = Part::Finish(FinishReason::ToolCalls);
    let mut turn = turn(&registry).run_whole(many.chain([last]));
    let mut finished = None;
    while let Some(event) = turn.next().await {
        finished = Some(event);
    }
    let finished = finished.unwrap();
    assert!(matches!(
        finished,
        TurnEvent::Finish(FinishReason::ToolCalls)
    ));
    assert_eq!((runs.get(), turn.history().results().len()), (40, 40));
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_a_failed_result_and_the_finish_still_arrives() {
    for mode in [FailureMode::Return, FailureMode::Error] {
        let registry = registry_of(echo().failure_mode(mode));
        let response = parts([call("tool", "a"), Part::Finish(FinishReason::ToolCalls)]);
        let mut turn = turn(&registry).run(response);
        let events: Vec<_> = turn.by_ref().collect().await;
        assert_eq!(ends(&events), ["0 refused", "ToolCalls"]);
        let result = turn.into_history().results().remove(0);
        assert_eq!(result.kind.as_deref(), Some("invalid_arguments"));
        assert_eq!(result.origin, Some(FailureOrigin::Validation));
        assert!(result.is_error && result.is_retryable);
    }
}

#[tokio::test]
async fn approval_checks_are_bounded_like_the_calls_themselves() {
    for limit in [1, 2] {
        let (active, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (now, peak) = (Arc::clone(&active), Arc::clone(&most));
        let checks = NeedsApproval::when(move |_: Value, _| {
            let (now, peak) = (Arc::clone(&now), Arc::clone(&peak));
            async move {
                peak.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                for _ in 0..3 {
                    tokio::task::yield_now().await;
                }
                now.fetch_sub(1, Ordering::SeqCst);
                Ok(false)
            }
        });
        let registry = registry_of(mirror(any(), &Count::default()).needs_approval(checks));
        let limit: std::num::NonZeroUsize = limit.try_into().unwrap();
        let response = parts(["a", "b", "c", "d"].map(|id| call("tool", id)));
        let events: Vec<_> = turn(&registry)
            .concurrency(limit)
            .run(response)
            .collect()
            .await;
        assert_eq!(ends(&events).len(), 5);
        assert_eq!(most.swap(0, Ordering::SeqCst), limit.get());

        let calls = ["a", "b", "c", "d"].map(|id| Call::new("tool", "{}").id(id));
        let batch = registry.snapshot().batch(calls, &Facts::new());
        assert_eq!(batch.concurrency(limit).settle().await.len(), 4);
        assert_eq!(most.load(Ordering::SeqCst), limit.get());
        assert_eq!(active.load(Ordering::SeqCst), 0);
    }
}

#[tokio::test]
async fn thousands_of_calls_with_one_id_are_told_apart_in_good_time() {
    let registry = open().build();
    let repeated = (0..20_000).map(|_| call("missing", "call_0"));
    let mut turn = turn(&registry).run(parts(repeated));
    while turn.next().await.is_some() {}
    let results = turn.into_history().results();
    let ids: std::collections::HashSet<_> = results.iter().map(|one| one.id.clone()).collect();
    assert_eq!((results.len(), ids.len()), (20_000, 20_000));
}

#[tokio::test]
async fn a_call_of_the_provider_that_repeats_an_id_keeps_its_own_result() {
    let registry = registry_of(mirror(any(), &Count::default()));
    let provider = || Part::ProviderCall(Call::new("search", "{}").id("x"));
    let result = |result: &str| Part::ProviderResult {
        id: "x".into(),
        result: json!(result),
        is_error: false,
    };
    let response = parts([
        call("tool", "x"),
        provider(),
        result("first"),
        provider(),
        result("second"),
    ]);
    let mut turn = turn(&registry).run(response);
    while turn.next().await.is_some() {}
    let history = turn.into_history();
    let mut pairs = Vec::new();
    for part in history.assistant() {
        match part {
            AssistantPart::Call { id, .. } => pairs.push((id.clone(), None)),
            AssistantPart::ProviderResult { id, result, .. } => {
                assert_eq!(pairs.last().unwrap().0, Some(id.clone()));
                pairs.last_mut().unwrap().1 = result.as_str().map(str::to_owned);
            }
            _ => {}
        }
    }
    let results: Vec<_> = pairs.iter().map(|(_, result)| result.as_deref()).collect();
    assert_eq!(results, [None, Some("first"), Some("second")]);
    assert_eq!(history.results()[0].id, Some(CallId::from("x")));
}

/// The design answers every call on its own, so that one bad call of a provider, which has run
/// already, does not make the whole response worthless.
#[tokio::test]
async fn arguments_of_the_provider_are_checked_and_told_and_stop_nothing() {
    let runs = Count::default();
    let schema = json!({"type": "object", "properties": {"q": {}}, "required": ["q"]});
    let registry = registry_of(mirror(any(), &runs));
    let search = Tool::provider_defined("acme.search", "search_1", Map::new()).input_schema(schema);
    registry.register([("search", search)]).unwrap().keep();
    let provider = |name: &str, arguments: &str| Part::ProviderCall(Call::new(name, arguments));
    let response = parts([
        provider("search", r#"{"q":1}"#),
        provider("search", "{}"),
        provider("search", r#"{"q":"#),
        provider("unheard-of", "{}"),
        call("tool", "a"),
    ]);
    let events: Vec<_> = turn(&registry).run(response).collect().await;
    let fits: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            TurnEvent::ProviderCall { invalid, .. } => Some(invalid.is_none()),
            _ => None,
        })
        .collect();
    assert_eq!(fits, [true, false, false, true]);
    assert_eq!(ends(&events), ["0 completed", "Stop"]);
    assert_eq!(runs.get(), 1);
}

#[tokio::test]
async fn an_approved_call_is_answered_before_the_next_response_and_runs_once_for_ever() {
    let runs = Count::default();
    let registry = asking().build();
    registry
        .register([("tool", mirror(any(), &runs))])
        .unwrap()
        .keep();
    let mut first = turn(&registry)
        .approvals(Approvals::Suspend)
        .run(parts([call("tool", "a"), call("tool", "b")]));
    while first.next().await.is_some() {}
    let history = first.into_history();
    assert!(history.results().is_empty() && runs.get() == 0);
    let waiting: Vec<_> = history.waiting().into_iter().cloned().collect();
    let [approved, declined] = waiting.try_into().unwrap();

    let yes = resume(&registry, approved.clone(), Verdict::Approve).await;
    let note = Some("not on a Friday".to_owned());
    let no = resume(&registry, declined, Verdict::Decline { note }).await;
    // This is what the next request carries.
    let results = [ResultPart::from(&yes), ResultPart::from(&no)];
    assert_eq!(
        (results[0].outcome.as_str(), results[0].is_error),
        ("completed", false)
    );
    assert_eq!(results[1].kind.as_deref(), Some("declined"));
    assert_eq!(results[1].origin, Some(FailureOrigin::Denied));
    assert!(format!("{:?}", results[1].content).contains("not on a Friday"));

    for _ in 0..2 {
        let again = resume(&registry, approved.clone(), Verdict::Approve).await;
        let next = turn(&registry).resolved([yes.clone(), no.clone()]);
        let response = parts([Part::Text("thank you".to_owned())]);
        let events: Vec<_> = next.run(response).collect().await;
        let TurnEvent::Resolved(settlement) = &events[0] else {
            panic!("resolved calls come first")
        };
        assert_eq!(settlement.call, Some("a".into()));
        assert!(matches!(&events[1], TurnEvent::Resolved(_)));
        assert!(matches!(&events[2], TurnEvent::Text(_)));
        assert!(again.is_error());
    }
    assert_eq!(runs.get(), 1);
}

#[tokio::test(start_paused = true)]
async fn each_call_of_a_turn_or_a_batch_has_its_own_limit() {
    let registry = registry_of(run(|_| std::future::pending()));
    registry
        .register([("fast", mirror(any(), &Count::default()))])
        .unwrap()
        .keep();
    let limit = Duration::from_secs(2);
    let began = tokio::time::Instant::now();
    let response = parts([call("tool", "a"), call("fast", "b"), call("tool", "c")]);
    let events: Vec<_> = turn(&registry).timeout(limit).run(response).collect().await;
    assert_eq!(
        ends(&events),
        ["1 completed", "0 timed_out", "2 timed_out", "Stop"]
    );
    assert_eq!(began.elapsed(), limit);

    let one: std::num::NonZeroUsize = 1.try_into().unwrap();
    let calls = ["tool", "fast", "tool"].map(|name| Call::new(name, "{}"));
    let batch = registry.snapshot().batch(calls, &Facts::new());
    let settled = batch.timeout(limit).concurrency(one).settle().await;
    let words: Vec<_> = settled.iter().map(|one| one.outcome.as_str()).collect();
    assert_eq!(words, ["timed_out", "completed", "timed_out"]);
    // One after the other, each from its own beginning.
    assert_eq!(began.elapsed(), limit * 3);
}

#[tokio::test]
async fn every_call_of_a_turn_is_told_as_settled_whether_or_not_it_ran() {
    let log = Log::default();
    let seen = log.clone();
    let registry = open()
        .events(move |event: &Event<'_>| {
            if let EventKind::Settled(settlement) = event.kind {
                let id = event.call.map_or("none", |id| id.as_str());
                seen.write(format!("{id} {}", settlement.outcome.as_str()));
            }
        })
        .build();
    registry
        .register([("tool", run(|_| std::future::pending()))])
        .unwrap()
        .keep();
    let (send, receive) = tokio::sync::mpsc::unbounded_channel::<Result<Part, &'static str>>();
    let mut receive = receive;
    let mut turn = turn(&registry).run(stream::poll_fn(move |cx| receive.poll_recv(cx)));
    send.send(Ok(call("tool", "runs"))).unwrap();
    send.send(Ok(call("tool", "newest"))).unwrap();
    let started = Part::CallStarted {
        index: 0,
        id: Some("pieces".into()),
        name: "tool".to_owned(),
    };
    send.send(Ok(started)).unwrap();
    for _ in 0..2 {
        turn.next().await;
    }
    assert!(futures_util::poll!(Box::pin(turn.next())).is_pending());
    send.send(Err("connection reset")).unwrap();
    let events: Vec<_> = turn.by_ref().collect().await;
    assert_eq!(ends(&events).last().unwrap(), "failed connection reset");
    let mut lines = log.lines();
    lines.sort();
    assert_eq!(
        lines,
        [
            "newest cancelled",
            "pieces not_dispatched",
            "runs cancelled"
        ]
    );
    for result in turn.into_history().results() {
        assert_eq!(result.origin, Some(FailureOrigin::Interrupted));
    }
}

#[tokio::test]
async fn bodies_of_the_provider_and_of_refusals_survive_json_unchanged() {
    let registry = open().build();
    for result in [
        json!({"type": "execution-denied", "reason": "no"}),
        json!({"type": "execution-denied"}),
        json!({"type": "execution-interrupted", "reason": null}),
    ] {
        let part = Part::ProviderResult {
            id: "p".into(),
            result: result.clone(),
            is_error: true,
        };
        let mut turn = turn(&registry).run(parts([part]));
        while turn.next().await.is_some() {}
        let part = turn.into_history().assistant()[0].clone();
        let json = serde_json::to_string(&part).unwrap();
        let back: AssistantPart = serde_json::from_str(&json).unwrap();
        assert_eq!(back, part);
        let AssistantPart::ProviderResult { result: kept, .. } = back else {
            panic!("expected a result")
        };
        assert_eq!(kept, result);
    }
    // A denial and a decline without a reason serialise as well.
    let denied = Registry::builder()
        .permission(Permission::new(Always(Decision::Deny), NobodyToAsk))
        .build();
    let declining = Answers(tool_core::Answer::Declined { note: None }, Count::default());
    let declined = Registry::builder()
        .permission(Permission::new(Always(Decision::Ask), declining))
        .build();
    let failing = registry_of(run(|_| async {
        Err(ToolFailure::new("no").structured(json!({"why": 1})).into())
    }));
    for registry in [denied, declined, failing] {
        let _tool = registry.register([("tool", mirror(any(), &Count::default()))]);
        let settled = crate::tools::call(&registry, "tool").await;
        let part = ResultPart::from(&settled);
        let json = serde_json::to_string(&part).unwrap();
        assert_eq!(serde_json::from_str::<ResultPart>(&json).unwrap(), part);
    }
}
