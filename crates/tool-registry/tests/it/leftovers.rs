//! Cleanups whose call was dropped, that came too late, or that were given up.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use tool_core::{
    Call, Context, Event, EventKind, Facts, Registered, TeardownEnd, TeardownError, TeardownScope,
    Tool, Verdict,
};
use tool_registry::Registry;

use crate::ports::{Count, Gone, Log, open};
use crate::slow::{finish, poll};
use crate::tools::{call, run};
use crate::waits::{asking, resume, suspend_as};

/// Registers a cleanup of the call under each key, and never ends.
fn endless(log: &Log, keys: &'static [&'static str]) -> Tool {
    let log = log.clone();
    run(move |cx: Context| {
        let log = log.clone();
        async move {
            for key in keys {
                let log = log.clone();
                cx.on_teardown(TeardownScope::Call, key, move || async move {
                    log.write(*key);
                })?;
            }
            std::future::pending().await
        }
    })
}

fn registry_of(tool: Tool) -> Registry {
    let registry = open().build();
    registry.register([("tool", tool)]).unwrap().keep();
    registry
}

/// Begins a call and drops it.
fn drop_a_call(registry: &Registry, facts: &Facts) {
    let settling = registry.snapshot().settle(Call::new("tool", "{}"), facts);
    let mut settling = settling.into_future();
    assert!(poll(settling.as_mut()).is_pending());
}

#[tokio::test]
async fn cleanups_of_a_dropped_call_run_with_whatever_ends_next() {
    let log = Log::default();
    let registry = registry_of(endless(&log, &["a", "b"]));
    let facts = Facts::new().run("r").session("s");
    type End = fn(Registry) -> tool_core::BoxFuture<'static, usize>;
    let ends: [(&str, End); 4] = [
        ("run", |registry| {
            Box::pin(async move { registry.end_run(&Facts::new().run("other")).await.len() })
        }),
        ("session", |registry| {
            Box::pin(async move {
                registry
                    .end_session(&Facts::new().session("other"))
                    .await
                    .len()
            })
        }),
        ("clean up", |registry| {
            Box::pin(async move { registry.clean_up().await.len() })
        }),
        ("shutdown", |registry| {
            Box::pin(async move { registry.shut_down().await.len() })
        }),
    ];
    for (number, (name, end)) in ends.into_iter().enumerate() {
        drop_a_call(&registry, &facts);
        assert_eq!(
            log.lines().len(),
            number * 2,
            "{name}: nothing runs by itself"
        );
        assert_eq!(end(registry.clone()).await, 2, "{name}");
        assert_eq!(log.lines()[number * 2..], ["b", "a"], "{name}");
        assert_eq!(end(registry.clone()).await, 0, "{name}: once each");
    }
}

#[tokio::test(start_paused = true)]
async fn cleanups_of_a_call_that_ran_out_of_its_own_time_run_before_it_is_settled() {
    let log = Log::default();
    let registry = registry_of(endless(&log, &["a"]));
    let settling = registry
        .snapshot()
        .settle(Call::new("tool", "{}"), &Facts::new());
    let settled = settling.timeout(Duration::from_secs(1)).await;
    assert_eq!(settled.outcome.as_str(), "timed_out");
    assert_eq!(log.lines(), ["a"]);
    assert!(registry.clean_up().await.is_empty());
}

/// Registers ten cleanups of the call that take so long each, and never ends.
fn slow_to_clean(log: &Log, each: Duration) -> Tool {
    let log = log.clone();
    run(move |cx: Context| {
        let log = log.clone();
        async move {
            for number in 0..10 {
                let log = log.clone();
                cx.on_teardown(
                    TeardownScope::Call,
                    &number.to_string(),
                    move || async move {
                        log.write(format!("begins {number}"));
                        let _ = tokio::time::timeout(each, std::future::pending::<()>()).await;
                        log.write(format!("ends {number}"));
                    },
                )?;
            }
            std::future::pending().await
        }
    })
}

#[tokio::test(start_paused = true)]
async fn a_call_that_ran_out_of_time_says_so_before_all_of_its_cleanups_have_run() {
    let second = Duration::from_secs(1);
    // How long each takes, how many of them begin and end, and how long the settlement takes.
    for (each, began, ended, reported) in [(3600, 1, 0, 6), (2, 3, 3, 7), (0, 10, 10, 1)] {
        for own in [true, false] {
            let log = Log::default();
            let tool = slow_to_clean(&log, each * second);
            let registry = registry_of(if own { tool.timeout(second) } else { tool });
            let snapshot = registry.snapshot();
            let mut settling = snapshot.settle(Call::new("tool", "{}"), &Facts::new());
            if !own {
                settling = settling.timeout(second);
            }
            let begun = tokio::time::Instant::now();
            let settled = settling.await;
            assert_eq!(settled.outcome.as_str(), "timed_out");
            // Timers are as fine as a millisecond.
            assert_eq!(begun.elapsed().as_secs(), reported, "{each} s each");
            let count = |word: &str| {
                let lines = log.lines();
                lines.iter().filter(|line| line.starts_with(word)).count()
            };
            assert_eq!((count("begins"), count("ends")), (began, ended));
            // The rest is due, the one registered last first, and nothing is lost.
            assert_eq!(registry.clean_up().await.len(), 10 - began);
            let begins: Vec<_> = (0..10).rev().map(|n| format!("begins {n}")).collect();
            let lines = log.lines();
            let lines = lines.into_iter().filter(|line| line.starts_with("begins"));
            assert_eq!(lines.collect::<Vec<_>>(), begins);
        }
    }
}

#[test]
fn cleanups_of_calls_that_are_dropped_for_ever_are_bounded_and_what_goes_is_told() {
    let (held, told) = (Arc::new(()), Log::default());
    let kept = Arc::clone(&held);
    let tool = run(move |cx: Context| {
        let kept = Arc::clone(&kept);
        async move {
            cx.on_teardown(TeardownScope::Call, "k", move || async move { drop(kept) })?;
            std::future::pending().await
        }
    });
    let seen = told.clone();
    let registry = open()
        .events(move |event: &Event<'_>| {
            if let EventKind::TornDown(report) = event.kind {
                let id = event.call.map_or("none", |id| id.as_str());
                seen.write(format!("{id} {} {:?}", report.tool, report.end));
            }
        })
        .build();
    registry.register([("tool", tool)]).unwrap().keep();
    for number in 0..1_100 {
        let call = Call::new("tool", "{}").id(format!("c{number}"));
        let settling = registry.snapshot().settle(call, &Facts::new());
        assert!(poll(settling.into_future().as_mut()).is_pending());
    }
    // The tool itself and the test hold it as well.
    assert_eq!(Arc::strong_count(&held), 1_024 + 2);
    let lines = told.lines();
    assert_eq!(lines.len(), 76);
    assert_eq!(lines[0], "c0 tool Discarded");
    assert_eq!(finish(registry.clean_up()).len(), 1_024);
    assert_eq!(Arc::strong_count(&held), 2);
}

#[tokio::test]
async fn after_its_end_a_call_takes_no_cleanup_and_keeps_none() {
    let kept: Arc<Mutex<Option<Context>>> = Arc::default();
    let slot = Arc::clone(&kept);
    let registry = registry_of(run(move |cx: Context| {
        *slot.lock().unwrap() = Some(cx);
        async { Ok(json!(null)) }
    }));
    assert!(!call(&registry, "tool").await.is_error());
    let cx = kept.lock().unwrap().take().unwrap();
    let late = cx.on_teardown(TeardownScope::Call, "k", || async {});
    let scope = TeardownScope::Call;
    assert_eq!(late, Err(TeardownError::Ended { scope }));
    assert_eq!(
        late.unwrap_err().to_string(),
        "teardown scope \"call\" has ended already"
    );
    // What outlives the call can still be registered.
    let shutdown = cx.on_teardown(TeardownScope::Shutdown, "k", || async {});
    assert_eq!(shutdown, Ok(Registered::New));
    assert_eq!(registry.shut_down().await.len(), 1);
}

#[tokio::test]
async fn an_end_that_is_given_up_loses_only_the_cleanup_that_ran() {
    let (log, gone) = (Log::default(), Gone::default());
    let (seen, guard) = (log.clone(), gone.clone());
    let registry = registry_of(run(move |cx: Context| {
        let (seen, guard) = (seen.clone(), guard.clone());
        async move {
            let scope = TeardownScope::Session;
            for key in ["a", "b"] {
                let seen = seen.clone();
                cx.on_teardown(scope, key, move || async move { seen.write(key) })?;
            }
            let held = guard.hold();
            cx.on_teardown(scope, "hangs", move || async move {
                std::future::pending::<()>().await;
                drop(held);
            })?;
            let seen = seen.clone();
            cx.on_teardown(scope, "c", move || async move { seen.write("c") })?;
            Ok(json!(null))
        }
    }));
    let facts = Facts::new().session("s");
    let settling = registry.snapshot().settle(Call::new("tool", "{}"), &facts);
    assert!(!settling.await.is_error());
    let mut ending = Box::pin(registry.end_session(&facts));
    assert!(poll(ending.as_mut()).is_pending());
    assert_eq!(log.lines(), ["c"]);
    drop(ending);
    assert!(gone.is_gone());
    let reports = registry.clean_up().await;
    assert_eq!(reports.len(), 2);
    assert_eq!(log.lines(), ["c", "b", "a"]);
    assert!(registry.end_session(&facts).await.is_empty());
}

#[tokio::test]
async fn a_run_spans_the_wait_for_a_decision_and_everything_ends_in_its_order() {
    let log = Log::default();
    let seen = log.clone();
    let tool = run(move |cx: Context| {
        let seen = seen.clone();
        async move {
            for scope in [
                TeardownScope::Shutdown,
                TeardownScope::Session,
                TeardownScope::Run,
                TeardownScope::Call,
            ] {
                let seen = seen.clone();
                cx.on_teardown(scope, "k", move || async move {
                    seen.write(scope.to_string());
                })?;
            }
            Ok(json!(null))
        }
    });
    let registry = asking().build();
    registry.register([("tool", tool)]).unwrap().keep();
    let facts = Facts::new().session("s").run("r");
    let suspension = suspend_as(&registry, "{}", &facts).await;
    // While it waits nothing has been registered, and nothing runs.
    assert!(registry.clean_up().await.is_empty());
    let snapshot = registry.snapshot();
    let settled = snapshot.resume(suspension, Verdict::Approve, &facts).await;
    assert!(!settled.is_error());
    assert_eq!(log.lines(), ["call"]);
    assert_eq!(registry.shut_down().await.len(), 3);
    assert_eq!(log.lines(), ["call", "run", "session", "shutdown"]);
    // Without a session there is nobody to resume as.
    let suspension = suspend_as(&registry, "{}", &facts).await;
    assert!(
        resume(&registry, suspension, Verdict::Approve)
            .await
            .is_error()
    );
}

#[tokio::test]
async fn a_cleanup_that_registers_another_does_not_keep_the_shutdown_busy() {
    let runs = Count::default();
    let counted = runs.clone();
    let registry = registry_of(run(move |cx: Context| {
        fn again(cx: &Context, runs: Count) -> Result<Registered, TeardownError> {
            let next = cx.clone();
            let scope = TeardownScope::Shutdown;
            cx.on_teardown(scope, "again", move || async move {
                runs.add();
                let _ = again(&next, runs);
            })
        }
        let registered = again(&cx, counted.clone());
        async move {
            registered?;
            Ok(json!(null))
        }
    }));
    assert!(!call(&registry, "tool").await.is_error());
    for times in 1..=3 {
        assert_eq!(registry.shut_down().await.len(), 1);
        assert_eq!(runs.get(), times);
    }
}

#[tokio::test]
async fn every_cleanup_is_told_with_its_call_and_its_key_as_a_digest() {
    let told = Log::default();
    let seen = told.clone();
    let tool = run(|cx: Context| async move {
        cx.on_teardown(TeardownScope::Call, "secret-key", || async {})?;
        cx.on_teardown(TeardownScope::Run, "secret-key", || async {
            panic!("canary")
        })?;
        Ok(json!(null))
    });
    let registry = open()
        .events(move |event: &Event<'_>| match event.kind {
            EventKind::TornDown(report) => {
                let run = event.facts.run_id().map_or("none", |run| run.as_str());
                seen.write(format!(
                    "{run} {:?} {}",
                    report.end,
                    report.key_digest.len()
                ));
                assert!(!format!("{event:?}").contains("secret-key"));
            }
            EventKind::Settled(_) => seen.write("settled"),
            _ => {}
        })
        .build();
    registry.register([("tool", tool)]).unwrap().keep();
    let facts = Facts::new().run("r");
    let settling = registry.snapshot().settle(Call::new("tool", "{}"), &facts);
    assert!(!settling.await.is_error());
    let reports = registry.end_run(&facts).await;
    assert_eq!(reports[0].end, TeardownEnd::Panicked);
    assert_eq!(told.lines(), ["r Done 12", "settled", "r Panicked 12"]);
}
