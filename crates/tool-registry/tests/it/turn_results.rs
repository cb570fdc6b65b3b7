//! What a turn keeps of its calls, and when it says that it is over.

use std::sync::Arc;

use futures_util::{StreamExt as _, stream};
use serde_json::{Value, json};
use tokio::sync::Notify;
use tool_core::{Arguments, Call, Facts, Gate, Incoming, NeedsApproval, Outcome, Tool};
use tool_registry::{Approvals, AssistantPart, FinishReason, Part, Registry, Turn, TurnEvent};

use crate::ports::{Before, Count, open};
use crate::tools::{mirror, run};
use crate::waits::{any, waiting};

fn turn(tools: Vec<(&str, Tool)>) -> Turn {
    let registry = open().build();
    registry.register(tools).unwrap().keep();
    registry.snapshot().turn(&Facts::new())
}

/// A whole response.
fn response(
    parts: impl IntoIterator<Item = Part>,
) -> impl futures_util::Stream<Item = Result<Part, &'static str>> {
    stream::iter(parts.into_iter().map(Ok).collect::<Vec<_>>())
}

fn call(name: &str, arguments: impl Into<Arguments>) -> Part {
    Part::Call(Call::new(name, arguments).id(name))
}

#[tokio::test]
async fn of_early_results_and_the_last_one_only_the_last_is_kept() {
    let tool = run(|cx| async move {
        for number in 1..=2 {
            cx.preliminary(&format!("early {number}")).await?;
        }
        Ok(json!("the end"))
    });
    let mut turn = turn(vec![("tool", tool)]).run(response([call("tool", "{}")]));
    let mut early = Vec::new();
    while let Some(event) = turn.next().await {
        if let TurnEvent::Preliminary { position: 0, value } = event {
            early.push(value);
        }
    }
    assert_eq!(early, [json!("early 1"), json!("early 2")]);
    let history = turn.into_history();
    let results = history.results();
    assert_eq!(results.len(), 1);
    assert_eq!(results[0].structured, Some(json!("the end")));
    let kept = json!([history.assistant(), results]).to_string();
    assert!(!kept.contains("early"), "{kept}");
}

#[tokio::test]
async fn calls_have_their_turn_beside_parts_that_are_always_there() {
    let runs = Count::default();
    let ran = runs.clone();
    let tool = run(move |_| {
        let ran = ran.clone();
        async move {
            // More than a runtime lets a task do before the task gives way.
            for _ in 0..300 {
                tokio::task::consume_budget().await;
            }
            ran.add();
            Ok(json!(null))
        }
    });
    let endless = stream::iter([Ok::<_, &str>(call("tool", "{}"))])
        .chain(stream::repeat_with(|| Ok(Part::Text("x".to_owned()))));
    let turn = turn(vec![("tool", tool)]).run(endless);
    let events: Vec<_> = turn.take(1_000).collect().await;
    assert_eq!(runs.get(), 1);
    let settled = |event: &TurnEvent<_>| matches!(event, TurnEvent::Settled { .. });
    assert_eq!(events.iter().filter(|event| settled(event)).count(), 1);
}

#[tokio::test]
async fn the_end_of_a_response_is_held_back_until_a_slow_handler_has_ended() {
    let release = Arc::new(Notify::new());
    let wait = Arc::clone(&release);
    let slow = run(move |_| {
        let wait = Arc::clone(&wait);
        async move {
            wait.notified().await;
            Ok(json!("slow"))
        }
    });
    let parts = [call("slow", "{}"), Part::Finish(FinishReason::ToolCalls)];
    let mut turn = turn(vec![("slow", slow)]).run(response(parts));
    assert!(matches!(turn.next().await, Some(TurnEvent::Call { .. })));
    for _ in 0..3 {
        assert!(futures_util::poll!(turn.next()).is_pending());
    }
    release.notify_one();
    assert!(matches!(turn.next().await, Some(TurnEvent::Settled { .. })));
    assert!(matches!(
        turn.next().await,
        Some(TurnEvent::Finish(FinishReason::ToolCalls))
    ));
    assert!(turn.next().await.is_none());
}

#[tokio::test]
async fn a_call_that_needs_approval_is_asked_about_and_one_that_does_not_runs() {
    let large = || NeedsApproval::when(|input: Value, _| async move { Ok(input["n"] == 9) });
    for (approval, n, asks) in [
        (NeedsApproval::ALWAYS, 1, true),
        (large(), 9, true),
        (large(), 1, false),
        (NeedsApproval::NEVER, 1, false),
    ] {
        let runs = Count::default();
        let original = mirror(any(), &runs);
        let tool = original.clone().needs_approval(approval);
        assert!(tool.kind().is_dynamic() && original.declarations().approval.is_never());
        let parts = [
            call("tool", json!({"n": n})),
            Part::Finish(FinishReason::ToolCalls),
        ];
        let turn = turn(vec![("tool", tool)]).approvals(Approvals::Suspend);
        let events: Vec<_> = turn.run(response(parts)).collect().await;
        let [
            TurnEvent::Call { .. },
            TurnEvent::Settled { settlement, .. },
            TurnEvent::Finish(_),
        ] = &events[..]
        else {
            panic!("{events:?}")
        };
        assert_eq!(runs.get(), usize::from(!asks));
        match &settlement.outcome {
            Outcome::Suspended(waits) => assert!(asks && waits.gate == Gate::Approval),
            other => assert!(!asks, "{}", other.as_str()),
        }
    }
}

#[tokio::test]
async fn what_the_provider_ran_stays_the_assistants_whether_it_succeeded_or_failed() {
    for is_error in [false, true] {
        let runs = Count::default();
        let parts = [
            Part::ProviderCall(Call::new("tool", json!({"q": 1})).id("p1")),
            Part::ProviderResult {
                id: "p1".into(),
                result: json!(["found"]),
                is_error,
            },
        ];
        let mut turn = turn(vec![("tool", mirror(any(), &runs))]).run(response(parts));
        while turn.next().await.is_some() {}
        let history = turn.into_history();
        assert!(history.results().is_empty() && runs.get() == 0);
        let [
            AssistantPart::Call {
                provider_executed: true,
                ..
            },
            AssistantPart::ProviderResult {
                result,
                is_error: failed,
                ..
            },
        ] = history.assistant()
        else {
            panic!("{:?}", history.assistant())
        };
        assert_eq!((result, *failed), (&json!(["found"]), is_error));
    }
}

#[tokio::test]
async fn of_arguments_that_a_hook_rewrote_both_versions_are_on_record() {
    let doubles = || {
        Before(|incoming: &mut Incoming, _: &Facts| {
            incoming.arguments = Arguments::from(json!({"cents": 20}));
            Ok(())
        })
    };
    let registry = |tool: Tool| -> Registry {
        let registry = open().before(doubles()).build();
        registry.register([("tool", tool)]).unwrap().keep();
        registry
    };
    let ran = registry(mirror(any(), &Count::default()));
    let spoken = || call("tool", json!({"cents": 10}));
    let mut turn = ran.snapshot().turn(&Facts::new()).run(response([spoken()]));
    while turn.next().await.is_some() {}
    let history = turn.into_history();
    let AssistantPart::Call { arguments, .. } = &history.assistant()[0] else {
        panic!("expected a call")
    };
    assert_eq!(*arguments, json!({"cents": 10}));
    assert_eq!(history.results()[0].structured, Some(json!({"cents": 20})));

    let asks = registry(mirror(any(), &Count::default()).needs_approval(true));
    let settling = asks
        .snapshot()
        .settle(Call::new("tool", json!({"cents": 10})), &Facts::new());
    let suspension = waiting(settling.approvals(Approvals::Suspend).await);
    assert_eq!(suspension.delivered, json!([{"cents": 10}]));
    assert_eq!(suspension.arguments, json!({"cents": 20}));
}
