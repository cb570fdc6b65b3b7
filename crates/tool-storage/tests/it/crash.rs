use std::fs;
use std::task::{Context, Poll, Waker};

use tool_core::{Content, Digest, Facts};
use tool_storage::{DirStore, ManagedOutputs as _};

use crate::fixture::{Fixture, killed, names, pages, report, retain};

#[test]
fn cancelled_while_storing_at_any_await_nothing_is_visible() {
    let fixture = Fixture::new();
    let facts = Facts::new();
    let text = "0123456789abcde\n".repeat(70_000);
    let mut awaits = 0;
    loop {
        let content = vec![
            Content::text("first"),
            Content::text(&*text),
            Content::text("last"),
        ];
        let mut storing = Box::pin(retain(&fixture.store, &facts, content));
        let mut cx = Context::from_waker(Waker::noop());
        let is_done = (0..=awaits).any(|_| storing.as_mut().poll(&mut cx).is_ready());
        if is_done {
            break;
        }
        assert!(fixture.ids().is_empty());
        assert_eq!(fixture.names().len(), 1, "one file, not under an id");
        drop(storing);
        assert!(fixture.names().is_empty(), "after {awaits} awaits");
        awaits += 1;
    }
    assert!(awaits > 8, "it yields while it writes: {awaits}");
    assert_eq!(fixture.ids().len(), 1);
}

#[test]
fn a_future_that_is_dropped_before_it_runs_does_nothing() {
    let fixture = Fixture::new();
    drop(retain(
        &fixture.store,
        &Facts::new(),
        vec![Content::text("x")],
    ));
    assert!(fixture.names().is_empty());
}

#[tokio::test]
async fn a_sweep_removes_what_a_dead_process_left_and_not_what_a_live_one_writes() {
    let fixture = Fixture::new();
    let facts = Facts::new();
    let content = vec![Content::text("x".repeat(300_000))];
    let mut storing = Box::pin(retain(&fixture.store, &facts, content));
    let mut cx = Context::from_waker(Waker::noop());
    assert!(matches!(storing.as_mut().poll(&mut cx), Poll::Pending));
    let dead = fixture.root().join(".new-out_0123456789abcdef");
    fs::write(&dead, "half of an out").unwrap();

    let other = fixture.another();
    assert!(!dead.exists());
    assert_eq!(fixture.names().len(), 1, "the write in progress stays");
    assert_eq!(other.sweep(fixture.clock.now()).unwrap().leftovers, 0);
    let id = storing.await.unwrap().retained.id;
    assert_eq!(pages(&other, &id, 1 << 20).await.concat().len(), 300_000);
}

/// Stores one output after the other and reports the id and the digest of each that is stored.
/// Does nothing unless the test below runs it.
#[tokio::test]
async fn store_in_a_process_of_its_own() {
    let Some(root) = std::env::var_os("TOOL_STORAGE_TEST_ROOT") else {
        return;
    };
    let store = DirStore::builder(root).open().unwrap();
    for round in 0.. {
        let text = format!("{round} ").repeat(24_000);
        let digest = Digest::of(text.as_bytes());
        let retained = retain(&store, &Facts::new(), vec![Content::text(text)])
            .await
            .unwrap()
            .retained;
        report(format!("{} {digest}", retained.id));
    }
}

#[tokio::test]
async fn killed_at_any_moment_what_was_reported_is_whole_and_the_rest_is_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("outputs");
    // A thousand of them where the machine has the time.
    let rounds = std::env::var("TOOL_STORAGE_TEST_KILLS").ok();
    let rounds: usize = rounds.map_or(100, |rounds| rounds.parse().unwrap());
    let reported = killed(
        "crash::store_in_a_process_of_its_own",
        ("TOOL_STORAGE_TEST_ROOT", &root),
        rounds,
        |round| round % 6 + 1,
    );

    let store = DirStore::builder(&root).open().unwrap();
    assert!(
        names(&root).iter().all(|name| name.starts_with("out_")),
        "leftovers are gone"
    );
    let listed = store.list().unwrap();
    assert_eq!(listed.len(), names(&root).len(), "nothing is damaged");
    let on_disk = names(&root).into_iter().map(|name| {
        let metadata = fs::metadata(root.join(name)).unwrap();
        metadata.len()
    });
    let bytes: u64 = listed.iter().map(|output| output.bytes + 1_000).sum();
    assert!(on_disk.sum::<u64>() <= bytes, "space is returned");
    assert!(reported.len() >= rounds);
    for line in reported {
        let (id, digest) = line.split_once(' ').unwrap();
        let bytes = pages(&store, id, 1 << 20).await.concat();
        assert_eq!(Digest::of(&bytes).to_string(), digest);
    }
    for output in listed {
        store.verify(&output.id).await.unwrap();
    }
}
