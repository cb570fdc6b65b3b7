//! What a host does for its stores while it runs.

use std::fs;
use std::path::Path;
use std::time::Duration;

use tokio::time::Instant;
use tool_runtime::core::{BoxFuture, Call, Facts};
use tool_runtime::storage::{AuditLog, AuditOptions, AuditSegmentState};
use tool_runtime::{Runtime, Upkeep, audit_index_in};

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(60 * 60);

/// What a process leaves that is killed while it stores an output.
fn leave_something(state: &Path) -> std::path::PathBuf {
    let leftover = state.join(".new-out_0123456789abcdef");
    fs::write(&leftover, "unfinished").expect("the state is there");
    leftover
}

#[tokio::test(start_paused = true)]
async fn stores_are_swept_an_hour_after_they_are_opened_and_every_hour_from_then_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let state = folder.path().join("state");
    let runtime = Runtime::builder().state(&state);
    let runtime = runtime.build().await.expect("nothing is wrong with it");
    let (told, mut swept) = tokio::sync::mpsc::unbounded_channel();
    let looks = runtime.upkeep().clone().look_after(move |left| {
        let _ = told.send((Instant::now(), left.is_ok()));
    });
    let (begun, looks) = (Instant::now(), tokio::spawn(looks));
    tokio::task::yield_now().await;
    for hour in 1..=3 {
        let leftover = leave_something(&state);
        // A minute early nothing has happened yet.
        let before = begun + HOUR * hour - MINUTE;
        tokio::time::advance(before - Instant::now()).await;
        assert!(leftover.exists() && swept.try_recv().is_err(), "{hour}");
        let (at, is_done) = swept.recv().await.expect("it goes on for ever");
        assert!(is_done && !leftover.exists(), "{hour}");
        assert_eq!((at - begun).as_secs(), (HOUR * hour).as_secs());
    }
    looks.abort();
}

#[tokio::test]
async fn the_index_of_the_state_follows_the_audit_log_until_the_runtime_is_shut_down() {
    let folder = tempfile::tempdir().expect("a folder");
    let state = folder.path().join("state");
    let log = AuditLog::open(folder.path().join("audit"), AuditOptions::DEFAULT);
    let log = log.expect("a folder of its own");
    let runtime = Runtime::builder().state(&state).audit(log);
    let runtime = runtime.build().await.expect("nothing is wrong with it");
    let call = Call::new("unknown", "{}".to_owned());
    let _ = runtime.snapshot().settle(call, &Facts::new()).await;
    let index = audit_index_in(&state).await.expect("it can be read");
    let listed = until(|| {
        let index = &index;
        Box::pin(async move {
            let listed = index.list().await.expect("it can be read");
            listed.first().cloned()
        })
    });
    assert_eq!(listed.await.state, AuditSegmentState::Open);
    runtime.shutdown().await;
    let listed = index.list().await.expect("it can be read");
    let listed: Vec<_> = listed.iter().map(|it| (it.state, it.lines)).collect();
    assert_eq!(listed, [(AuditSegmentState::Closed, Some(1))]);
}

/// What is there in the end.
async fn until<'a, T>(mut look: impl FnMut() -> BoxFuture<'a, Option<T>>) -> T {
    let deadline = Instant::now() + MINUTE;
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(Instant::now() < deadline, "it never came");
        tokio::task::yield_now().await;
    }
}

#[test]
fn looking_after_stores_can_be_spawned() {
    fn is_send(_: impl Send) {}
    is_send(Upkeep::default().look_after(|_| ()));
}
