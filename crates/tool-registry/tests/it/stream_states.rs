//! Streams from other threads, late, and left: nothing waits for ever and nothing comes too late.

use std::pin::pin;
use std::sync::{Arc, Mutex};

use futures_util::StreamExt as _;
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tool_core::{Call, Context, Facts, PreliminaryError, Tool};
use tool_registry::{Registry, SettlementEvent};

use crate::ports::{Log, open};
use crate::tools::run;

type Kept = Arc<Mutex<Option<Context>>>;

fn registry_of(tool: Tool) -> Registry {
    let registry = open().build();
    registry.register([("tool", tool)]).unwrap().keep();
    registry
}

fn settling(registry: &Registry) -> tool_registry::Settling {
    registry
        .snapshot()
        .settle(Call::new("tool", "{}"), &Facts::new())
}

/// Keeps its context, and ends when it is told to.
fn kept(kept: &Kept, end: oneshot::Receiver<()>) -> Tool {
    let (kept, end) = (Arc::clone(kept), Mutex::new(Some(end)));
    run(move |cx: Context| {
        *kept.lock().unwrap() = Some(cx);
        let end = end.lock().unwrap().take().unwrap();
        async move {
            let _ = end.await;
            Ok(json!("done"))
        }
    })
}

#[tokio::test]
async fn a_task_that_waits_for_room_is_let_go_when_the_stream_is_dropped_or_ends() {
    for dropped in [true, false] {
        let context = Kept::default();
        let (end, ended) = oneshot::channel();
        let registry = registry_of(kept(&context, ended));
        let mut events = settling(&registry).stream_ahead(1.try_into().unwrap());
        assert!(futures_util::poll!(events.next()).is_pending());
        let cx = context.lock().unwrap().take().unwrap();
        cx.preliminary(&1).await.unwrap();
        let mut offer = Box::pin(cx.preliminary(&2));
        assert!(futures_util::poll!(offer.as_mut()).is_pending());
        if dropped {
            drop(events);
        } else {
            end.send(()).unwrap();
            // Whatever was accepted comes first, and what was not never does.
            let words: Vec<_> = events.collect().await;
            let [
                SettlementEvent::Preliminary(value),
                SettlementEvent::Settled(_),
            ] = &words[..]
            else {
                panic!("{words:?}")
            };
            assert_eq!(*value, json!(1));
        }
        assert!(matches!(offer.await, Err(PreliminaryError::Settled)));
    }
}

#[test]
fn a_stream_that_is_dropped_keeps_nothing_of_what_nobody_took() {
    const SIZE: usize = 1 << 20;
    let context = Kept::default();
    let (_end, ended) = oneshot::channel();
    let registry = registry_of(kept(&context, ended));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let measured = allocation_counter::measure(|| {
        runtime.block_on(async {
            let mut events = settling(&registry).stream();
            assert!(futures_util::poll!(events.next()).is_pending());
            let cx = context.lock().unwrap().clone().unwrap();
            cx.preliminary(&"x".repeat(SIZE)).await.unwrap();
            cx.progress("x".repeat(SIZE));
            drop(events);
        });
    });
    // The handler's context outlives its call here, and keeps the queue but nothing in it.
    assert!(context.lock().unwrap().is_some());
    let size = i64::try_from(SIZE).unwrap();
    assert!(measured.bytes_max >= 2 * (SIZE as u64));
    assert!(measured.bytes_current < size, "{measured:?}");
}

#[test]
fn nothing_comes_after_the_settlement_whatever_other_threads_report() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .build()
        .unwrap();
    let registry = registry_of(run(|cx: Context| async move {
        for _ in 0..2 {
            let cx = cx.clone();
            std::thread::spawn(move || {
                for number in 0..2_000 {
                    cx.progress(format!("{number}"));
                }
            });
        }
        tokio::task::yield_now().await;
        Ok(json!("done"))
    }));
    for _ in 0..100 {
        let events: Vec<_> = runtime.block_on(settling(&registry).stream().collect());
        let settled = |event: &SettlementEvent| matches!(event, SettlementEvent::Settled(_));
        assert_eq!(events.iter().position(settled), Some(events.len() - 1));
    }
}

/// A report that is on its way when the call settles is held up by whoever receives events.
#[tokio::test]
async fn a_report_that_is_overtaken_by_the_settlement_comes_no_more() {
    let context = Kept::default();
    let (end, ended) = oneshot::channel();
    let (reached, is_reached) = std::sync::mpsc::channel();
    let (release, released) = std::sync::mpsc::channel::<()>();
    let released = Mutex::new(released);
    let registry = open()
        .events(move |event: &tool_core::Event<'_>| {
            if matches!(event.kind, tool_core::EventKind::Progress(_)) {
                reached.send(()).unwrap();
                released.lock().unwrap().recv().unwrap();
            }
        })
        .build();
    registry
        .register([("tool", kept(&context, ended))])
        .unwrap()
        .keep();
    let mut events = settling(&registry).stream();
    assert!(futures_util::poll!(events.next()).is_pending());
    let cx = context.lock().unwrap().take().unwrap();
    let reporter = std::thread::spawn(move || cx.progress("on its way"));
    is_reached.recv().unwrap();
    end.send(()).unwrap();
    let event = events.next().await.unwrap();
    assert!(matches!(event, SettlementEvent::Settled(_)), "{event:?}");
    release.send(()).unwrap();
    reporter.join().unwrap();
    assert!(events.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn reports_without_end_hold_neither_the_handler_nor_its_deadline_up() {
    let limit = std::time::Duration::from_secs(1);
    for ends in ["completed", "timed_out"] {
        let context = Kept::default();
        let (end, ended) = oneshot::channel();
        let registry = registry_of(kept(&context, ended).timeout(limit));
        let mut events = settling(&registry).stream();
        assert!(futures_util::poll!(events.next()).is_pending());
        let cx = context.lock().unwrap().take().unwrap();
        if ends == "completed" {
            end.send(()).unwrap();
        } else {
            tokio::time::advance(limit).await;
        }
        let mut outcome = None;
        for _ in 0..1_000 {
            cx.progress("and on");
            // Uses up what a runtime lets a task do until the task gives way.
            while futures_util::poll!(pin!(tokio::task::consume_budget())).is_ready() {}
            if let Some(SettlementEvent::Settled(settlement)) = events.next().await {
                outcome = Some(settlement.outcome.as_str());
                break;
            }
        }
        assert_eq!(outcome, Some(ends));
    }
}

#[tokio::test]
async fn a_stream_is_woken_by_a_report_from_elsewhere() {
    let context = Kept::default();
    let (_end, ended) = oneshot::channel();
    let registry = registry_of(kept(&context, ended));
    let mut events = settling(&registry).stream();
    assert!(futures_util::poll!(events.next()).is_pending());
    let cx = context.lock().unwrap().take().unwrap();
    let reporter = tokio::spawn(async move { cx.progress("from elsewhere") });
    let event = events.next().await.unwrap();
    assert!(matches!(event, SettlementEvent::Progress(_)));
    reporter.await.unwrap();
}

#[tokio::test]
async fn reports_beside_many_results_keep_their_place_and_their_bound() {
    let registry = registry_of(run(|cx: Context| async move {
        // Few enough to be done in one poll.
        for number in 0..50 {
            cx.preliminary(&number).await?;
            for _ in 0..20 {
                cx.progress(format!("{number}"));
            }
        }
        Ok(json!("done"))
    }));
    let events: Vec<_> = settling(&registry)
        .stream_ahead(10_000.try_into().unwrap())
        .collect()
        .await;
    // All results, the newest reports, each behind the result that it was made behind.
    let mut results = 0;
    let mut reports = 0;
    for event in &events {
        match event {
            SettlementEvent::Preliminary(value) => {
                assert_eq!(*value, json!(results));
                results += 1;
            }
            SettlementEvent::Progress(progress) => {
                let number = progress.message.as_deref().unwrap();
                assert_eq!(number, (results - 1).to_string());
                reports += 1;
            }
            _ => {}
        }
    }
    assert_eq!((results, reports), (50, 256));
}

#[tokio::test]
async fn a_listener_and_a_stream_both_hear_progress() {
    let log = Log::default();
    let heard = log.clone();
    let registry = registry_of(run(|cx: Context| async move {
        cx.progress("once");
        Ok(Value::Null)
    }));
    let listening = settling(&registry).progress(move |progress: tool_core::Progress| {
        heard.write(progress.message.unwrap_or_default());
    });
    let events: Vec<_> = listening.stream().collect().await;
    assert_eq!((events.len(), log.lines()), (2, vec!["once".to_owned()]));
}

#[tokio::test]
async fn a_call_is_over_for_whoever_calls_on_behalf_of_it_when_it_has_ended() {
    let context = Kept::default();
    let (end, ended) = oneshot::channel();
    let registry = registry_of(kept(&context, ended));
    let endless = run(|_| std::future::pending());
    registry.register([("endless", endless)]).unwrap().keep();
    let call = Call::new("tool", "{}").id("c1");
    let mut outer = registry
        .snapshot()
        .settle(call, &Facts::new())
        .into_future();
    assert!(futures_util::poll!(outer.as_mut()).is_pending());
    let cx = context.lock().unwrap().take().unwrap();
    let dispatch = || cx.dispatch().unwrap().call("endless".to_owned(), json!({}));
    // A task of the handler's own makes the inner call, and is at it when the outer one ends.
    let mut inner = dispatch();
    assert!(futures_util::poll!(inner.as_mut()).is_pending());
    end.send(()).unwrap();
    assert_eq!(outer.await.text(), "done");
    let settled = inner.await;
    assert_eq!(settled.outcome.as_str(), "cancelled");
    assert_eq!(settled.call.unwrap().as_str(), "c1#inner-1");
    // And whoever comes later is not dispatched at all.
    let late = dispatch().await;
    let tool_core::Outcome::NotDispatched { stopped_by } = late.outcome else {
        panic!("expected no dispatch")
    };
    assert_eq!(stopped_by.unwrap().as_str(), "c1");
}
