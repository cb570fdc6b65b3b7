//! Calls as streams: what comes before the settlement, and when.

use std::num::NonZeroUsize;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll, Waker};

use futures_util::{Stream, StreamExt as _};
use serde_json::json;
use tokio::sync::{Notify, oneshot};
use tool_core::{Call, Facts, PreliminaryError, Progress, Tool, ToolFailure};
use tool_registry::{SettlementEvent, SettlementStream};

use crate::ports::{Count, Gone, Log, open};
use crate::tools::run;

/// One word for each event.
fn word(event: &SettlementEvent) -> String {
    match event {
        SettlementEvent::Progress(progress) => {
            format!("progress {}", progress.message.clone().unwrap_or_default())
        }
        SettlementEvent::Preliminary(value) => format!("preliminary {value}"),
        SettlementEvent::Settled(settled) => format!("settled {}", settled.outcome.as_str()),
        _ => "other".to_owned(),
    }
}

fn stream(tool: Tool) -> SettlementStream {
    let registry = open().build();
    registry.register([("tool", tool)]).unwrap().keep();
    registry
        .snapshot()
        .settle(Call::new("tool", "{}"), &Facts::new())
        .stream()
}

fn poll(stream: &mut (impl Stream<Item = SettlementEvent> + Unpin)) -> Option<String> {
    let mut cx = TaskContext::from_waker(Waker::noop());
    match Pin::new(stream).poll_next(&mut cx) {
        Poll::Ready(event) => Some(event.as_ref().map_or("end".to_owned(), word)),
        Poll::Pending => None,
    }
}

#[tokio::test]
async fn early_results_come_in_their_order_and_before_the_one_settlement() {
    let tool = run(|cx| async move {
        cx.progress("starting");
        for number in 1..=3 {
            cx.preliminary(&number).await?;
        }
        cx.progress(Progress::new().message("done").of(3.0, 3.0));
        Ok(json!(4))
    });
    let events: Vec<_> = stream(tool).map(|event| word(&event)).collect().await;
    assert_eq!(
        events,
        [
            "progress starting",
            "preliminary 1",
            "preliminary 2",
            "preliminary 3",
            "progress done",
            "settled completed"
        ]
    );
    let events: Vec<_> = stream(run(|_| async { Ok(json!(1)) }))
        .map(|event| word(&event))
        .collect()
        .await;
    assert_eq!(events, ["settled completed"]);
}

#[tokio::test]
async fn early_results_are_seen_while_the_handler_still_works() {
    let (finish, finished) = oneshot::channel::<()>();
    let finished = Arc::new(std::sync::Mutex::new(Some(finished)));
    let mut events = stream(run(move |cx| {
        let finished = finished.lock().unwrap().take().unwrap();
        async move {
            cx.progress("half way");
            let _ = finished.await;
            Ok(json!(null))
        }
    }));
    assert_eq!(
        events.next().await.as_ref().map(word).as_deref(),
        Some("progress half way")
    );
    finish.send(()).unwrap();
    assert_eq!(
        events.next().await.as_ref().map(word).as_deref(),
        Some("settled completed")
    );
    assert!(events.next().await.is_none());
}

#[tokio::test]
async fn a_failure_follows_on_what_came_before_it() {
    let tool = run(|cx| async move {
        cx.preliminary(&1).await?;
        Err(ToolFailure::new("no more").into())
    });
    let events: Vec<_> = stream(tool).map(|event| word(&event)).collect().await;
    assert_eq!(events, ["preliminary 1", "settled failed"]);
}

#[tokio::test]
async fn nothing_runs_unless_it_is_polled() {
    let runs = Count::default();
    let seen = runs.clone();
    let events = stream(run(move |_| {
        seen.add();
        async { Ok(json!(1)) }
    }));
    tokio::task::yield_now().await;
    assert_eq!(runs.get(), 0);
    drop(events);
    assert_eq!(runs.get(), 0);
}

#[tokio::test]
async fn a_handler_is_no_further_ahead_than_agreed_and_dropping_cancels_it_while_it_waits() {
    let (accepted, gone) = (Count::default(), Gone::default());
    let (counted, held) = (accepted.clone(), gone.clone());
    let tool = run(move |cx| {
        let (counted, held) = (counted.clone(), held.hold());
        async move {
            for number in 0..64 {
                cx.preliminary(&number).await?;
                counted.add();
            }
            drop(held);
            Ok(json!("done"))
        }
    });
    let registry = open().build();
    let _tool = registry.register([("tool", tool)]).unwrap();
    let settling = registry
        .snapshot()
        .settle(Call::new("tool", "{}"), &Facts::new());
    let mut events = settling.stream_ahead(NonZeroUsize::new(16).unwrap());
    assert_eq!(poll(&mut events).as_deref(), Some("preliminary 0"));
    assert_eq!(accepted.get(), 16);
    // One was taken, so one more than 16 find room from now on.
    for taken in 1..=5 {
        assert!(
            accepted.get() <= 16 + taken,
            "{} after {taken}",
            accepted.get()
        );
        let expected = format!("preliminary {taken}");
        assert_eq!(poll(&mut events).as_deref(), Some(expected.as_str()));
    }
    assert!(!gone.is_gone());
    drop(events);
    assert!(gone.is_gone());
}

#[tokio::test]
async fn all_of_many_early_results_arrive_when_they_are_taken() {
    let tool = run(|cx| async move {
        for number in 0..64 {
            cx.preliminary(&number).await?;
        }
        Ok(json!(64))
    });
    let registry = open().build();
    let _tool = registry.register([("tool", tool)]).unwrap();
    for ahead in [1, 2, 16, 1_000] {
        let settling = registry
            .snapshot()
            .settle(Call::new("tool", "{}"), &Facts::new());
        let events: Vec<_> = settling
            .stream_ahead(NonZeroUsize::new(ahead).unwrap())
            .collect()
            .await;
        assert_eq!(events.len(), 65, "{ahead} ahead");
    }
}

#[tokio::test]
async fn a_preliminary_result_must_fit_the_output_schema() {
    let log = Log::default();
    let seen = log.clone();
    let tool = run(move |cx| {
        let seen = seen.clone();
        async move {
            let error = cx.preliminary(&"three").await.unwrap_err();
            seen.write(error.to_string());
            Ok(json!(3))
        }
    })
    .output_schema(json!({"type": "integer"}));
    let events: Vec<_> = stream(tool).map(|event| word(&event)).collect().await;
    assert_eq!(events, ["settled completed"]);
    assert_eq!(
        log.lines(),
        ["preliminary result does not fit the tool's output schema"]
    );
}

#[tokio::test]
async fn nothing_comes_after_the_settlement() {
    let late: Arc<std::sync::Mutex<Option<tool_core::Context>>> = Arc::default();
    let kept = Arc::clone(&late);
    let mut events = stream(run(move |cx| {
        *kept.lock().unwrap() = Some(cx);
        async { Ok(json!(1)) }
    }));
    assert_eq!(
        events.next().await.as_ref().map(word).as_deref(),
        Some("settled completed")
    );
    let cx = late.lock().unwrap().take().unwrap();
    cx.progress("late");
    assert!(matches!(
        cx.preliminary(&2).await,
        Err(PreliminaryError::Settled)
    ));
    assert!(events.next().await.is_none());
}

#[tokio::test]
async fn without_a_stream_early_results_go_nowhere_and_the_handler_never_waits() {
    let tool = run(|cx| async move {
        for number in 0..1_000 {
            cx.preliminary(&number).await?;
        }
        Ok(json!("done"))
    });
    let settled = crate::tools::settle(tool, "{}").await;
    assert_eq!(settled.text(), "done");
}

#[tokio::test]
async fn progress_that_nobody_takes_is_bounded_and_the_newest_stays() {
    let tool = run(|cx| async move {
        for number in 0..10_000 {
            cx.progress(format!("{number}"));
        }
        Ok(json!("done"))
    });
    let events: Vec<_> = stream(tool).map(|event| word(&event)).collect().await;
    assert!(events.len() <= 258, "{}", events.len());
    assert_eq!(events[events.len() - 2], "progress 9999");
}

#[tokio::test]
async fn a_batch_streams_in_the_order_of_events_and_settles_each_position_once() {
    let release = Arc::new(Notify::new());
    let wait = Arc::clone(&release);
    let slow = run(move |cx| {
        let wait = Arc::clone(&wait);
        async move {
            cx.progress("slow");
            wait.notified().await;
            Ok(json!("slow"))
        }
    });
    let fast = run(|cx| async move {
        cx.progress("fast");
        Ok(json!("fast"))
    });
    let registry = open().build();
    let _tools = registry.register([("slow", slow), ("fast", fast)]).unwrap();
    let calls = [
        Call::new("slow", "{}").id("a"),
        Call::new("fast", "{}").id("b"),
    ];
    let mut batch = registry.snapshot().batch(calls, &Facts::new()).stream();
    let mut events = Vec::new();
    while let Some((position, event)) = batch.next().await {
        events.push(format!("{position} {}", word(&event)));
        // The slow one may end once the fast one is seen to have settled.
        if events
            .last()
            .is_some_and(|event| event == "1 settled completed")
        {
            release.notify_one();
        }
    }
    assert_eq!(events.len(), 4);
    assert_eq!(events[2..], ["1 settled completed", "0 settled completed"]);
    assert!(events[..2].contains(&"0 progress slow".to_owned()));
}

#[tokio::test]
async fn a_preliminary_result_is_nested_no_deeper_than_output_may_be() {
    let tool = run(|cx| async move {
        let nested = |levels| (0..levels).fold(json!(1), |inner, _| json!([inner]));
        cx.preliminary(&nested(128)).await?;
        let refused = cx.preliminary(&nested(129)).await;
        assert!(matches!(refused, Err(PreliminaryError::Mismatch)));
        Ok(json!("done"))
    });
    let events: Vec<_> = stream(tool).map(|event| word(&event)).collect().await;
    assert_eq!(events.len(), 2, "{events:?}");
    assert_eq!(events[1], "settled completed");
}
