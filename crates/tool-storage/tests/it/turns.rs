//! Locks that another process holds: they hold up whoever waits for them, and no thread.

use std::fs::File;
use std::future::poll_fn;
use std::path::Path;
use std::pin::Pin;
use std::sync::mpsc;
use std::task::Poll;
use std::time::Duration;

use tool_core::{ArtifactQuery, ArtifactScope, ArtifactStore as _, Digest};
use tool_storage::{DirArtifacts, DirStore, ManagedArtifacts};

use crate::artifacts::{draft, put};
use crate::fixture::session;

/// Long enough for any machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// What a file is locked by, as by another process: a file that is opened twice has two locks.
fn hold(path: &Path) -> File {
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path)
        .unwrap();
    file.lock().unwrap();
    file
}

/// Whether a future waits, which has to tell so at once.
async fn waits<F: Future>(mut future: Pin<&mut F>) -> bool {
    poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx).is_pending())).await
}

#[tokio::test]
async fn a_scope_that_another_process_holds_keeps_no_thread_and_no_other_scope_waiting() {
    let dir = tempfile::tempdir().unwrap();
    let store = DirArtifacts::builder(dir.path()).open().unwrap();
    let (facts, other) = (session("s"), session("other"));
    let kept = put(&store, &facts, "first").await;
    let scope = dir.path().join(ArtifactScope::of(&facts).key());
    let held = hold(&scope.join(".lock"));

    let putting = store.put(&facts, draft(), "second".into());
    let listing = store.list(&facts, ArtifactQuery::new());
    let (mut putting, mut listing) = (std::pin::pin!(putting), std::pin::pin!(listing));
    assert!(waits(putting.as_mut()).await);
    assert!(waits(listing.as_mut()).await);
    // Reading takes no turn, and another scope is another lock.
    assert!(store.get(&facts, kept.as_str()).await.unwrap().is_some());
    put(&store, &other, "beside").await;
    drop(held);
    putting.await.unwrap();
    listing.await.unwrap();
    let listed = store.list(&facts, ArtifactQuery::new()).await.unwrap();
    assert_eq!(listed.artifacts.len(), 2);

    let held = hold(&scope.join(".lock"));
    let mut deleting = std::pin::pin!(store.delete(&facts, kept.as_str()));
    assert!(waits(deleting.as_mut()).await);
    let ending = ManagedArtifacts::remove_all(&store, &facts);
    let mut ending = std::pin::pin!(ending);
    assert!(waits(ending.as_mut()).await);
    drop(held);
    deleting.await.unwrap();
    ending.await.unwrap();
    let listed = store.list(&facts, ArtifactQuery::new()).await.unwrap();
    assert!(listed.artifacts.is_empty());
}

#[tokio::test]
async fn whoever_stops_waiting_gives_the_turn_on() {
    let dir = tempfile::tempdir().unwrap();
    let store = DirArtifacts::builder(dir.path()).open().unwrap();
    let facts = session("s");
    put(&store, &facts, "first").await;
    let scope = dir.path().join(ArtifactScope::of(&facts).key());
    let held = hold(&scope.join(".lock"));
    {
        let mut putting = std::pin::pin!(store.put(&facts, draft(), "dropped".into()));
        assert!(waits(putting.as_mut()).await);
    }
    drop(held);
    put(&store, &facts, "second").await;
    let listed = store.list(&facts, ArtifactQuery::new()).await.unwrap();
    assert_eq!(listed.artifacts.len(), 2);
}

#[test]
fn a_sweep_that_stands_still_holds_no_session_up() {
    let dir = tempfile::tempdir().unwrap();
    let store = DirStore::builder(dir.path()).open().unwrap();
    // It was about to remove the file of a session that ended long ago.
    let pin = format!(".live-{}", Digest::of(b"s").hex());
    let held = hold(&dir.path().join(pin));
    let (told, pinned) = mpsc::channel();
    std::thread::spawn(move || {
        let pin = store.pin_session("s");
        told.send(()).unwrap();
        drop(pin);
    });
    pinned.recv_timeout(PATIENCE).expect("it went on");
    drop(held);
}
