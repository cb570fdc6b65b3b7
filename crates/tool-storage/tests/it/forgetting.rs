use std::fs;

use tool_core::{Content, Digest, Facts, OutputStore as _, Retained, StoreErrorKind};

use crate::fixture::{Fixture, keep, page, retain, session};

async fn retained(fixture: &Fixture, facts: &Facts, text: &str) -> Retained {
    let content = vec![Content::text(text.repeat(2_000))];
    let bounded = retain(&fixture.store, facts, content).await.unwrap();
    bounded.retained
}

#[tokio::test]
async fn what_is_forgotten_is_gone_and_gives_its_space_back() {
    let fixture = Fixture::limited(10_000, 10_000);
    let output = retained(&fixture, &session("s"), "x").await;
    fixture.store.forget(&output);
    assert!(fixture.names().is_empty());
    let facts = session("s");
    let error = page(&fixture.store, &output.id, Some(&facts)).await;
    assert_eq!(error.unwrap_err().kind(), StoreErrorKind::NotFound);
    // The whole quota is free again.
    keep(&fixture.store, &Facts::new(), 10_000).await;
}

#[tokio::test]
async fn forgetting_twice_is_forgetting_once() {
    let fixture = Fixture::new();
    let output = retained(&fixture, &Facts::new(), "x").await;
    let other = keep(&fixture.store, &Facts::new(), 100).await;
    for _ in 0..3 {
        fixture.store.forget(&output);
    }
    let swept = fixture.store.sweep(fixture.clock.now()).unwrap();
    assert_eq!((swept.outputs, swept.failed), (0, 0));
    assert_eq!(fixture.ids(), [other]);
}

#[tokio::test]
async fn forgetting_takes_the_output_that_was_meant_and_no_other_sessions() {
    let fixture = Fixture::new();
    let mine = retained(&fixture, &session("mine"), "x").await;
    let other = retained(&fixture, &session("other"), "y").await;
    // The name of one with the contents of another is neither.
    let mixed = Retained::new(&*other.id, mine.bytes, mine.lines, Digest::of(b"x"));
    fixture.store.forget(&mixed);
    for id in ["../outside", "out_0000000000000000", ""] {
        let strange = Retained::new(id, 1, 1, Digest::of(b"x"));
        fixture.store.forget(&strange);
    }
    fixture.store.sweep(fixture.clock.now()).unwrap();
    fixture.store.forget(&mine);
    assert_eq!(fixture.ids(), [other.id]);
}

#[tokio::test]
async fn an_output_of_a_live_session_is_forgotten_too() {
    let fixture = Fixture::new();
    let _live = fixture.store.pin_session("s");
    let output = retained(&fixture, &session("s"), "x").await;
    let kept = keep(&fixture.store, &session("s"), 100).await;
    fixture.store.forget(&output);
    assert_eq!(fixture.ids(), [kept]);
}

#[tokio::test]
async fn what_another_store_retained_is_forgotten_by_the_next_sweep() {
    let fixture = Fixture::new();
    let other = fixture.another();
    let output = retained(&fixture, &Facts::new(), "x").await;
    other.forget(&output);
    assert_eq!(fixture.ids(), [&*output.id]);
    let swept = other.sweep(fixture.clock.now()).unwrap();
    assert_eq!((swept.outputs, swept.bytes), (1, output.bytes));
    assert!(fixture.names().is_empty());
}

#[tokio::test]
async fn an_output_that_cannot_be_removed_is_counted_and_goes_with_a_later_sweep() {
    let fixture = Fixture::new();
    let output = retained(&fixture, &Facts::new(), "x").await;
    // Nobody can remove a directory as if it were a file.
    let file = fixture.root().join(&output.id);
    fs::rename(&file, fixture.dir.path().join("aside")).unwrap();
    fs::create_dir(&file).unwrap();
    fixture.store.forget(&output);
    let swept = fixture.store.sweep(fixture.clock.now()).unwrap();
    assert_eq!((swept.outputs, swept.failed), (0, 1));

    fs::remove_dir(&file).unwrap();
    fs::rename(fixture.dir.path().join("aside"), &file).unwrap();
    let swept = fixture.store.sweep(fixture.clock.now()).unwrap();
    assert_eq!((swept.outputs, swept.failed), (1, 0));
    assert!(fixture.names().is_empty());
}

#[cfg(unix)]
#[tokio::test]
async fn a_file_that_somebody_has_locked_and_reads_is_forgotten_all_the_same() {
    use std::io::Read as _;

    let fixture = Fixture::new();
    let output = retained(&fixture, &Facts::new(), "x").await;
    let mut reader = fs::File::open(fixture.root().join(&output.id)).unwrap();
    reader.lock_shared().unwrap();
    fixture.store.forget(&output);
    assert!(fixture.names().is_empty());
    let mut read = String::new();
    reader.by_ref().take(10).read_to_string(&mut read).unwrap();
    assert_eq!(read, "x".repeat(10), "whoever is at it reads on");
}
