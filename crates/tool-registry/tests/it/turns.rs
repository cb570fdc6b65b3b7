//! Turns: model responses whose calls are settled while they stream in.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::{StreamExt as _, stream};
use serde_json::json;
use tokio::sync::{Notify, mpsc};
use tool_core::{Call, Decision, Facts, NobodyToAsk, Permission, Tool};
use tool_registry::{
    Approvals, AssistantPart, FinishReason, History, Part, Registry, ResultPart, TurnError,
    TurnEvent,
};

use crate::ports::{Always, Count, Gone, open};
use crate::tools::{mirror, run};

type Event = TurnEvent<&'static str>;

fn call(name: &str, id: &str) -> Part {
    Part::Call(Call::new(name, "{}").id(id))
}

fn word(event: &Event) -> String {
    match event {
        TurnEvent::Text(text) => format!("text {text}"),
        TurnEvent::Call { position, call } => format!("call {position} {}", call.name()),
        TurnEvent::ProviderCall { call, invalid } => {
            let fits = if invalid.is_some() {
                " that does not fit"
            } else {
                ""
            };
            format!("provider call {}{fits}", call.name())
        }
        TurnEvent::Resolved(settlement) => format!("resolved {}", settlement.text()),
        TurnEvent::Progress { position, .. } => format!("progress {position}"),
        TurnEvent::Preliminary { position, value } => format!("preliminary {position} {value}"),
        TurnEvent::Settled {
            position,
            settlement,
        } => {
            format!("settled {position} {}", settlement.outcome.as_str())
        }
        TurnEvent::Finish(reason) => format!("finish {reason:?}"),
        TurnEvent::Failed(error) => format!("failed {error}"),
        TurnEvent::Malformed(error) => format!("malformed {error}"),
        _ => "other".to_owned(),
    }
}

async fn play(registry: &Registry, parts: Vec<Part>) -> (Vec<String>, History) {
    play_results(registry, parts.into_iter().map(Ok).collect()).await
}

async fn play_results(
    registry: &Registry,
    parts: Vec<Result<Part, &'static str>>,
) -> (Vec<String>, History) {
    let mut turn = registry
        .snapshot()
        .turn(&Facts::new())
        .run(stream::iter(parts));
    let mut words = Vec::new();
    while let Some(event) = turn.next().await {
        words.push(word(&event));
    }
    (words, turn.into_history())
}

fn counting(runs: &Count) -> Registry {
    let registry = open().build();
    registry
        .register([("tool", mirror(json!({"type": "object"}), runs))])
        .unwrap()
        .keep();
    registry
}

#[tokio::test]
async fn a_call_comes_before_its_result_and_the_finish_after_all_results() {
    let runs = Count::default();
    let parts = vec![
        Part::Text("I look".to_owned()),
        call("tool", "a"),
        Part::Text(" it up".to_owned()),
        Part::Finish(FinishReason::ToolCalls),
    ];
    let (words, history) = play(&counting(&runs), parts).await;
    let at = |word: &str| words.iter().position(|other| other == word).unwrap();
    assert!(at("call 0 tool") < at("settled 0 completed"));
    assert_eq!(words.last().map(String::as_str), Some("finish ToolCalls"));
    assert_eq!(history.assistant().len(), 3);
    assert_eq!(history.results().len(), 1);
}

#[tokio::test]
async fn a_cut_off_response_runs_nothing_new_and_answers_every_call() {
    for reason in [
        FinishReason::Length,
        FinishReason::ContentFilter,
        FinishReason::Error,
        FinishReason::Other("novel".to_owned()),
    ] {
        let runs = Count::default();
        let parts = vec![call("tool", "a"), Part::Finish(reason.clone())];
        let (words, history) = play(&counting(&runs), parts).await;
        assert_eq!(runs.get(), 0, "{reason:?}");
        assert_eq!(words[..2], ["call 0 tool", "settled 0 not_dispatched"]);
        assert_eq!(words.len(), 3);
        let results = history.results();
        assert_eq!(results.len(), 1);
        assert!(results[0].is_error);
        assert_eq!(results[0].id.as_ref().map(|id| id.as_str()), Some("a"));
    }
}

#[tokio::test]
async fn whole_responses_run_their_calls_also_without_a_reason() {
    for reason in [Some(FinishReason::Stop), Some(FinishReason::Pause), None] {
        let runs = Count::default();
        let mut parts = vec![call("tool", "a")];
        parts.extend(reason.clone().map(Part::Finish));
        let (words, _) = play(&counting(&runs), parts).await;
        assert_eq!(runs.get(), 1, "{reason:?}");
        assert!(words.last().unwrap().starts_with("finish"));
    }
}

#[tokio::test]
async fn a_call_starts_when_the_stream_has_moved_past_it_and_not_before() {
    let runs = Count::default();
    let registry = counting(&runs);
    let (send, mut receive) = mpsc::unbounded_channel::<Result<Part, &str>>();
    let parts = stream::poll_fn(move |cx| receive.poll_recv(cx));
    let mut turn = registry.snapshot().turn(&Facts::new()).run(parts);

    send.send(Ok(call("tool", "a"))).unwrap();
    assert_eq!(
        turn.next().await.as_ref().map(word).as_deref(),
        Some("call 0 tool")
    );
    let mut next = Box::pin(turn.next());
    assert!(futures_util::poll!(&mut next).is_pending());
    assert_eq!(runs.get(), 0);
    send.send(Ok(Part::Text("and".to_owned()))).unwrap();
    assert_eq!(next.await.as_ref().map(word).as_deref(), Some("text and"));
    // The response is still open, and the call runs.
    assert_eq!(
        turn.next().await.as_ref().map(word).as_deref(),
        Some("settled 0 completed")
    );
    drop(send);
    assert_eq!(
        turn.next().await.as_ref().map(word).as_deref(),
        Some("finish Stop")
    );
}

/// A tool that runs until it is dropped.
fn endless(gone: &Gone) -> Tool {
    let gone = gone.clone();
    run(move |_| {
        let held = gone.hold();
        async move {
            std::future::pending::<()>().await;
            drop(held);
            Ok(json!(null))
        }
    })
}

#[tokio::test]
async fn a_running_call_is_interrupted_when_the_response_turns_out_cut_off() {
    let gone = Gone::default();
    let registry = open().build();
    let _tool = registry.register([("tool", endless(&gone))]).unwrap();
    let (send, mut receive) = mpsc::unbounded_channel::<Result<Part, &str>>();
    let parts = stream::poll_fn(move |cx| receive.poll_recv(cx));
    let mut turn = registry.snapshot().turn(&Facts::new()).run(parts);
    send.send(Ok(call("tool", "a"))).unwrap();
    send.send(Ok(Part::Text("more".to_owned()))).unwrap();
    let mut words = Vec::new();
    for _ in 0..2 {
        words.extend(turn.next().await.as_ref().map(word));
    }
    assert!(futures_util::poll!(turn.next()).is_pending());
    assert!(!gone.is_gone());
    send.send(Ok(Part::Finish(FinishReason::Length))).unwrap();
    while let Some(event) = turn.next().await {
        words.push(word(&event));
    }
    let order = [
        "call 0 tool",
        "text more",
        "settled 0 cancelled",
        "finish Length",
    ];
    assert_eq!(words, order);
    assert!(gone.is_gone(), "it ran, and runs no more");
    let results = turn.into_history().results();
    assert_eq!(results.len(), 1);
    assert_eq!(
        results[0].origin,
        Some(tool_core::FailureOrigin::Interrupted)
    );
}

#[tokio::test]
async fn a_failing_provider_interrupts_what_runs_and_its_error_is_what_surfaces() {
    let gone = Gone::default();
    let registry = open().build();
    let _tool = registry.register([("tool", endless(&gone))]).unwrap();
    let (send, mut receive) = mpsc::unbounded_channel();
    let parts = stream::poll_fn(move |cx| receive.poll_recv(cx));
    let mut turn = registry.snapshot().turn(&Facts::new()).run(parts);
    send.send(Ok(call("tool", "a"))).unwrap();
    send.send(Ok(Part::Text("x".to_owned()))).unwrap();
    for expected in ["call 0 tool", "text x"] {
        assert_eq!(
            turn.next().await.as_ref().map(word).as_deref(),
            Some(expected)
        );
    }
    let mut next = Box::pin(turn.next());
    assert!(futures_util::poll!(&mut next).is_pending());
    send.send(Err("overloaded")).unwrap();
    assert_eq!(
        next.await.as_ref().map(word).as_deref(),
        Some("settled 0 cancelled")
    );
    assert!(gone.is_gone());
    assert_eq!(
        turn.next().await.as_ref().map(word).as_deref(),
        Some("failed overloaded")
    );
    assert!(turn.next().await.is_none());
    assert_eq!(turn.history().results().len(), 1);
}

#[tokio::test]
async fn calls_stream_in_by_pieces_and_one_that_stays_in_pieces_never_runs() {
    let runs = Count::default();
    let registry = counting(&runs);
    let started = |index, name: &str| Part::CallStarted {
        index,
        id: Some(format!("id{index}").into()),
        name: name.to_owned(),
    };
    let text = |index, text: &str| Part::Arguments {
        index,
        text: text.to_owned(),
    };
    let parts = vec![
        started(0, "tool"),
        started(1, "tool"),
        text(0, r#"{"a":"#),
        text(1, r#"{"b":[1,"#),
        text(0, "1}"),
        Part::CallComplete { index: 0 },
        Part::Finish(FinishReason::ToolCalls),
    ];
    let (_, history) = play(&registry, parts).await;
    assert_eq!(runs.get(), 1);
    let results = history.results();
    assert_eq!(results[0].structured, Some(json!({"a": 1})));
    assert_eq!(results[1].outcome, "not_dispatched");
    assert_eq!(results[1].id.as_ref().map(|id| id.as_str()), Some("id1"));
}

#[tokio::test]
async fn parts_that_do_not_fit_together_end_the_turn_and_answer_every_call() {
    let text = Part::Arguments {
        index: 3,
        text: String::new(),
    };
    let cases = [
        (
            vec![call("tool", "a"), text],
            TurnError::NotAssembling { index: 3 },
        ),
        (
            vec![call("tool", "a"), Part::CallComplete { index: 0 }],
            TurnError::NotAssembling { index: 0 },
        ),
        (
            vec![
                Part::CallStarted {
                    index: 0,
                    id: None,
                    name: "tool".to_owned(),
                },
                Part::CallStarted {
                    index: 0,
                    id: None,
                    name: "tool".to_owned(),
                },
            ],
            TurnError::BeganTwice { index: 0 },
        ),
        (
            vec![Part::Finish(FinishReason::Stop), call("tool", "a")],
            TurnError::AfterFinish,
        ),
    ];
    for (parts, error) in cases {
        let (words, history) = play(&counting(&Count::default()), parts).await;
        assert_eq!(words.last(), Some(&format!("malformed {error}")));
        assert_eq!(history.results().len(), history.assistant().len());
    }
}

#[tokio::test]
async fn repeated_ids_run_once_per_position_and_are_told_apart() {
    let runs = Count::default();
    let parts = vec![
        call("tool", "call_0"),
        call("tool", "call_0"),
        call("tool", "call_0-2"),
    ];
    let (_, history) = play(&counting(&runs), parts).await;
    assert_eq!(runs.get(), 3);
    let ids: Vec<_> = history
        .results()
        .iter()
        .map(|result| result.id.as_ref().unwrap().as_str().to_owned())
        .collect();
    assert_eq!(ids[..2], ["call_0", "call_0-2"]);
    assert!(!ids[..2].contains(&ids[2]));
    let made = history.assistant().iter().filter_map(|part| match part {
        AssistantPart::Call { id, .. } => Some(id.as_ref().unwrap().as_str().to_owned()),
        _ => None,
    });
    assert_eq!(made.collect::<Vec<_>>(), ids);
}

#[tokio::test]
async fn no_more_calls_run_beside_each_other_than_the_limit() {
    for limit in [1, 2] {
        let (active, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (now, peak) = (Arc::clone(&active), Arc::clone(&most));
        let tool = run(move |_| {
            let (now, peak) = (Arc::clone(&now), Arc::clone(&peak));
            async move {
                peak.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                tokio::task::yield_now().await;
                now.fetch_sub(1, Ordering::SeqCst);
                Ok(json!(null))
            }
        });
        let registry = open().build();
        let _tool = registry.register([("tool", tool)]).unwrap();
        let parts = ["a", "b", "c"].map(|id| Ok::<_, &str>(call("tool", id)));
        let limit = NonZeroUsize::new(limit).unwrap();
        let turn = registry.snapshot().turn(&Facts::new()).concurrency(limit);
        let events: Vec<_> = turn.run(stream::iter(parts)).collect().await;
        assert!(matches!(events.last(), Some(TurnEvent::Finish(_))));
        assert_eq!(most.load(Ordering::SeqCst), limit.get());
        assert_eq!(active.load(Ordering::SeqCst), 0);
    }
}

#[tokio::test]
async fn a_call_that_waits_has_no_result_and_a_cut_off_changes_nothing_about_it() {
    for reason in [FinishReason::ToolCalls, FinishReason::Length] {
        let registry = Registry::builder()
            .permission(Permission::new(Always(Decision::Ask), NobodyToAsk))
            .build();
        let runs = Count::default();
        let _tool = registry
            .register([("tool", mirror(json!({"type": "object"}), &runs))])
            .unwrap();
        let (send, mut receive) = mpsc::unbounded_channel::<Result<Part, &str>>();
        let parts = stream::poll_fn(move |cx| receive.poll_recv(cx));
        let turn = registry
            .snapshot()
            .turn(&Facts::new())
            .approvals(Approvals::Suspend);
        let mut turn = turn.run(parts);
        send.send(Ok(call("tool", "a"))).unwrap();
        send.send(Ok(Part::Text("x".to_owned()))).unwrap();
        for expected in ["call 0 tool", "text x", "settled 0 suspended"] {
            assert_eq!(
                turn.next().await.as_ref().map(word).as_deref(),
                Some(expected)
            );
        }
        send.send(Ok(Part::Finish(reason))).unwrap();
        drop(send);
        assert!(matches!(turn.next().await, Some(TurnEvent::Finish(_))));
        let history = turn.into_history();
        assert!(history.results().is_empty());
        assert_eq!(history.waiting().len(), 1);
        assert_eq!(runs.get(), 0);
    }
}

#[tokio::test]
async fn what_a_provider_runs_is_recorded_in_the_assistants_message_and_never_run() {
    let runs = Count::default();
    let parts = vec![
        Part::ProviderCall(Call::new("tool", r#"{"q":1}"#).id("p1")),
        Part::ProviderResult {
            id: "p1".into(),
            result: json!([1]),
            is_error: false,
        },
        Part::Finish(FinishReason::Stop),
    ];
    let (words, history) = play(&counting(&runs), parts).await;
    assert_eq!(words, ["provider call tool", "finish Stop"]);
    assert_eq!(
        (
            runs.get(),
            history.results().len(),
            history.assistant().len()
        ),
        (0, 0, 2)
    );
}

#[tokio::test]
async fn history_keeps_calls_in_order_and_results_by_call_and_survives_json() {
    let release = Arc::new(Notify::new());
    let wait = Arc::clone(&release);
    let slow = run(move |cx| {
        let wait = Arc::clone(&wait);
        async move {
            cx.progress("early");
            wait.notified().await;
            Ok(json!({"n": "9007199254740993"}))
        }
    });
    let fast = run(move |_| {
        release.notify_one();
        async {
            Err(tool_core::ToolFailure::new("no")
                .structured(json!({"why": 1}))
                .into())
        }
    });
    let registry = open().build();
    let _tools = registry.register([("slow", slow), ("fast", fast)]).unwrap();
    let parts = vec![call("slow", "a"), call("fast", "b"), call("missing", "c")];
    let (_, history) = play(&registry, parts).await;
    let results = history.results();
    let names: Vec<_> = results
        .iter()
        .map(|result| (result.name.as_str(), result.outcome.as_str()))
        .collect();
    assert_eq!(
        names,
        [
            ("slow", "completed"),
            ("fast", "failed"),
            ("missing", "refused")
        ]
    );
    for result in &results {
        let json = serde_json::to_string(result).unwrap();
        assert_eq!(&serde_json::from_str::<ResultPart>(&json).unwrap(), result);
    }
    for part in history.assistant() {
        let json = serde_json::to_string(part).unwrap();
        assert_eq!(&serde_json::from_str::<AssistantPart>(&json).unwrap(), part);
    }
}

#[tokio::test]
async fn dropping_a_turn_cancels_its_calls() {
    let gone = Gone::default();
    let registry = open().build();
    let _tool = registry.register([("tool", endless(&gone))]).unwrap();
    let parts = stream::iter([
        Ok::<_, &str>(call("tool", "a")),
        Ok(Part::Text("x".to_owned())),
    ]);
    let mut turn = registry
        .snapshot()
        .turn(&Facts::new())
        .run(parts.chain(stream::pending()));
    turn.next().await;
    turn.next().await;
    let mut next = Box::pin(turn.next());
    assert!(futures_util::poll!(&mut next).is_pending());
    assert!(!gone.is_gone());
    drop(next);
    drop(turn);
    assert!(gone.is_gone());
}
