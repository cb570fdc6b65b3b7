//! Dropping a call cancels it, wherever it stands; a timeout ends it on time.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;
use tool_core::{
    ArtifactKind, Bound, Call, Context, CredentialNeed, Decision, Facts, Incoming, NobodyToAsk,
    Outcome, Permission, Progress, Stage, Tool,
};
use tool_registry::{Registry, RegistryBuilder};

use crate::ports::{Always, Before, Count, Gone, Log, Stuck, open};
use crate::recorder::Recorder;
use crate::tools::{fixed, run};

/// Polls a future once and says whether it is ready.
async fn poll_once<F: Future + ?Sized>(mut future: Pin<&mut F>) -> bool {
    poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx).is_ready())).await
}

/// Settles a call of a tool that passes every stage, drops it where a stuck port holds it, and
/// returns what was told.
async fn dropped_at(builder: RegistryBuilder, stuck: &Stuck, tool: Tool) -> Recorder {
    let recorder = Recorder::default();
    let registry = builder.events(recorder.sink()).build();
    let _tool = registry.register([("tool", tool)]).unwrap();
    let call = Call::new("tool", r#"{"ref":"a1"}"#);
    let mut settling = registry
        .snapshot()
        .settle(call, &Facts::new())
        .into_future();
    assert!(!poll_once(settling.as_mut()).await);
    assert_eq!(stuck.reached.get(), 1, "the port was never reached");
    assert!(!stuck.gone.is_gone());
    drop(settling);
    assert!(stuck.gone.is_gone(), "the port's future outlived its call");
    recorder
}

/// Needs every port.
fn demanding(runs: &Count) -> Tool {
    let runs = runs.clone();
    let schema = json!({"type": "object", "properties": {"ref": {"type": "string"}}});
    Tool::dynamic("Needs every port", schema, move |_: Value, _| {
        runs.add();
        async { Ok(json!("longer than the bound")) }
    })
    .wants("ref", ArtifactKind::new("report").unwrap())
    .needs(CredentialNeed::new("mail"))
}

fn serving() -> RegistryBuilder {
    use crate::ports::{Keyring, Shelf};
    open()
        .artifacts(Shelf(|_: &str| {
            let kind = ArtifactKind::new("report").unwrap();
            Ok(Some(tool_core::Artifact::new(kind, "data")))
        }))
        .credentials(Keyring(|_: &CredentialNeed| {
            Ok(tool_core::Credential::new("secret"))
        }))
}

#[tokio::test]
async fn dropping_a_call_drops_what_it_waits_for_at_every_stage_and_publishes_nothing() {
    let small = Bound::new(4, 1).unwrap();
    type Build = fn(Stuck) -> RegistryBuilder;
    let stages: [(Stage, usize, Build); 7] = [
        (Stage::Before, 0, |stuck| serving().before(stuck)),
        (Stage::Policy, 0, |stuck| {
            serving().permission(Permission::new(stuck, NobodyToAsk))
        }),
        (Stage::Approval, 0, |stuck| {
            serving().permission(Permission::new(Always(Decision::Ask), stuck))
        }),
        (Stage::Artifacts, 0, |stuck| serving().artifacts(stuck)),
        (Stage::Credentials, 0, |stuck| serving().credentials(stuck)),
        (Stage::Bound, 1, |stuck| serving().outputs(Arc::new(stuck))),
        (Stage::After, 1, |stuck| serving().after(stuck)),
    ];
    for (stage, ran, build) in stages {
        let (stuck, runs) = (Stuck::default(), Count::default());
        let builder = build(stuck.clone()).bound(small);
        let recorder = dropped_at(builder, &stuck, demanding(&runs)).await;
        assert_eq!(recorder.stages().last(), Some(&stage));
        assert_eq!(recorder.settlements(), 0, "{stage}");
        assert_eq!(runs.get(), ran, "{stage}");
    }
}

#[tokio::test]
async fn dropping_a_call_drops_the_handler_at_its_await_and_gives_the_signal() {
    let (stuck, signal) = (Stuck::default(), Arc::new(Mutex::new(None)));
    let (waits, given) = (stuck.clone(), signal.clone());
    let tool = run(move |cx: Context| {
        *given.lock().unwrap() = Some(cx.cancellation().clone());
        waits.wait()
    });
    let recorder = dropped_at(open(), &stuck, tool).await;
    assert_eq!(recorder.stages().last(), Some(&Stage::Execute));
    assert_eq!(recorder.settlements(), 0);
    let signal = signal.lock().unwrap().take().unwrap();
    assert!(signal.is_cancelled());
    signal.cancelled().await;
}

#[tokio::test]
async fn a_task_that_outlives_the_handler_is_told_that_its_call_is_gone() {
    let (stuck, ended) = (Stuck::default(), Count::default());
    let (waits, noticed) = (stuck.clone(), ended.clone());
    let tool = run(move |cx: Context| {
        let (signal, noticed) = (cx.cancellation().clone(), noticed.clone());
        tokio::spawn(async move {
            signal.cancelled().await;
            noticed.add();
        });
        waits.wait()
    });
    let _ = dropped_at(open(), &stuck, tool).await;
    while ended.get() == 0 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn dropping_a_batch_drops_every_handler_that_has_not_ended() {
    let (gone, runs) = ([Gone::default(), Gone::default()], Count::default());
    let waiting = |gone: &Gone| {
        let (gone, runs) = (gone.clone(), runs.clone());
        run(move |_| {
            let held = gone.hold();
            runs.add();
            async move {
                std::future::pending::<()>().await;
                drop(held);
                Ok(Value::Null)
            }
        })
    };
    let recorder = Recorder::default();
    let registry = open().events(recorder.sink()).build();
    let _tools = registry
        .register([
            ("one", waiting(&gone[0])),
            ("two", waiting(&gone[1])),
            ("done", fixed("done")),
        ])
        .unwrap();
    let snapshot = registry.snapshot();
    let calls = ["one", "done", "two"].map(|name| Call::new(name, "{}").id(name));
    let facts = Facts::new();
    {
        let mut settling = Box::pin(snapshot.settle_all(calls, &facts));
        assert!(!poll_once(settling.as_mut()).await);
        assert_eq!(runs.get(), 2);
        assert!(!gone[0].is_gone() && !gone[1].is_gone());
    }
    assert!(gone[0].is_gone() && gone[1].is_gone());
    // The one that had ended was settled; the others never are.
    assert_eq!(recorder.settlements(), 1);
}

#[tokio::test]
async fn a_call_that_is_never_awaited_never_runs() {
    let runs = Count::default();
    let registry = open().build();
    let tool = crate::tools::mirror(json!({"type": "object"}), &runs);
    let _tool = registry.register([("tool", tool)]).unwrap();
    drop(
        registry
            .snapshot()
            .settle(Call::new("tool", "{}"), &Facts::new()),
    );
    drop(
        registry
            .snapshot()
            .settle(Call::new("tool", "{}"), &Facts::new())
            .into_future(),
    );
    assert_eq!(runs.get(), 0);
}

/// Keeps its context, reports twice, and ends as the arguments say.
fn chatty(kept: &Arc<Mutex<Option<Context>>>) -> Tool {
    let kept = kept.clone();
    run(move |cx: Context| {
        cx.progress("one");
        *kept.lock().unwrap() = Some(cx.clone());
        async move {
            tokio::task::yield_now().await;
            cx.progress(Progress::new().of(1.0, 2.0));
            Ok(json!("done"))
        }
    })
}

fn registry_of(tool: Tool) -> (Registry, tool_registry::Registration) {
    let registry = open().build();
    let registration = registry.register([("tool", tool)]).unwrap();
    (registry, registration)
}

#[tokio::test]
async fn progress_arrives_in_order_and_after_the_settlement_goes_nowhere() {
    let (kept, log) = (Arc::default(), Log::default());
    let (registry, _tool) = registry_of(chatty(&kept));
    let heard = log.clone();
    let settled = registry
        .snapshot()
        .settle(Call::new("tool", "{}"), &Facts::new())
        .progress(move |progress: Progress| {
            heard.write(format!("{:?}{:?}", progress.message, progress.done))
        })
        .await;
    assert_eq!(settled.text(), "done");
    let expected = [r#"Some("one")None"#, "NoneSome(1.0)"];
    assert_eq!(log.lines(), expected);
    kept.lock().unwrap().as_ref().unwrap().progress("late");
    assert_eq!(log.lines(), expected);
}

#[tokio::test]
async fn progress_of_a_dropped_call_goes_nowhere() {
    let (kept, log) = (Arc::new(Mutex::new(None::<Context>)), Log::default());
    let (registry, _tool) = registry_of(chatty(&kept));
    let heard = log.clone();
    let mut settling = registry
        .snapshot()
        .settle(Call::new("tool", "{}"), &Facts::new())
        .progress(move |_: Progress| heard.write("heard"))
        .into_future();
    assert!(!poll_once(settling.as_mut()).await);
    drop(settling);
    kept.lock().unwrap().as_ref().unwrap().progress("late");
    assert_eq!(log.lines(), ["heard"]);
}

#[tokio::test]
async fn progress_changes_nothing_of_what_is_settled() {
    let kept = Arc::default();
    let (registry, _tool) = registry_of(chatty(&kept));
    let call = || Call::new("tool", "{}");
    let heard = registry
        .snapshot()
        .settle(call(), &Facts::new())
        .progress(|_: Progress| {})
        .await;
    let unheard = registry.snapshot().settle(call(), &Facts::new()).await;
    assert_eq!(format!("{heard:?}"), format!("{unheard:?}"));
}

/// Ignores its cancellation for ever.
fn stubborn(gone: &Gone) -> Tool {
    let gone = gone.clone();
    run(move |cx: Context| {
        let held = gone.hold();
        async move {
            loop {
                cx.cancellation().cancelled().await;
                std::future::pending::<()>().await;
                let _ = &held;
            }
        }
    })
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_runs_too_long_is_reported_on_time_though_it_heeds_nothing() {
    let gone = Gone::default();
    let limit = Duration::from_millis(1_500);
    let (registry, _tool) = registry_of(stubborn(&gone).timeout(limit));
    let began = Instant::now();
    let settled = crate::tools::call(&registry, "tool").await;
    assert_eq!(began.elapsed(), limit);
    assert!(matches!(settled.outcome, Outcome::TimedOut { after } if after == limit));
    assert_eq!(
        settled.text(),
        "the call took longer than 1.5 seconds and was stopped; it may have run in part"
    );
    assert!(settled.is_error() && gone.is_gone());
}

#[tokio::test(start_paused = true)]
async fn the_limit_of_a_call_includes_questions_and_hooks() {
    let limit = Duration::from_secs(20);
    type Build = fn(Stuck) -> RegistryBuilder;
    let builds: [Build; 3] = [
        |stuck| open().before(stuck),
        |stuck| open().permission(Permission::new(Always(Decision::Ask), stuck)),
        |stuck| open().after(stuck),
    ];
    for build in builds {
        let stuck = Stuck::default();
        let registry = build(stuck.clone()).build();
        let _tool = registry.register([("tool", fixed("done"))]).unwrap();
        let began = Instant::now();
        let call = Call::new("tool", "{}").id("c1");
        let settled = registry
            .snapshot()
            .settle(call, &Facts::new())
            .timeout(limit)
            .await;
        assert_eq!(began.elapsed(), limit);
        assert!(matches!(settled.outcome, Outcome::TimedOut { .. }));
        assert_eq!(settled.call.as_ref().unwrap().as_str(), "c1");
        assert_eq!((settled.output(), settled.structured()), (None, None));
        assert!(stuck.gone.is_gone());
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_ran_out_of_time_names_the_tool_that_ran_and_what_was_repaired() {
    let gone = Gone::default();
    let recorder = Recorder::default();
    let registry = open()
        .before(Before(|incoming: &mut Incoming, _: &Facts| {
            incoming.name = "tool".to_owned();
            Ok(())
        }))
        .events(recorder.sink())
        .build();
    let _tool = registry.register([("tool", stubborn(&gone))]).unwrap();
    let settled = registry
        .snapshot()
        .settle(Call::new("tol", ""), &Facts::new())
        .timeout(Duration::from_secs(1))
        .await;
    assert_eq!(settled.tool, "tool");
    assert_eq!(settled.repairs.len(), 1);
    assert_eq!(recorder.settlements(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_ends_within_its_limit_is_not_touched_by_it() {
    let (registry, _tool) = registry_of(fixed("done").timeout(Duration::from_secs(1)));
    let settled = registry
        .snapshot()
        .settle(Call::new("tool", "{}"), &Facts::new())
        .timeout(Duration::from_secs(1))
        .await;
    assert_eq!(settled.text(), "done");
}
