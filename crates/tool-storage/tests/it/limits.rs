use std::fs;
use std::time::Duration;

use tool_core::{Content, Facts, StoreErrorKind};
use tool_storage::{DirStore, Limits};

use crate::fixture::{DAY, Fixture, keep, page, retain, session};

#[tokio::test]
async fn an_output_is_refused_from_one_byte_over_the_limit() {
    let fixture = Fixture::limited(1_000, 1 << 20);
    keep(&fixture.store, &Facts::new(), 1_000).await;
    let content = vec![Content::text("x".repeat(1_001))];
    let error = retain(&fixture.store, &Facts::new(), content)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::TooLarge);
    assert_eq!(
        error.to_string(),
        "output of 1001 bytes is over the 1000 bytes that one output may have"
    );
    assert_eq!(fixture.names().len(), 1);
}

#[tokio::test]
async fn the_quota_evicts_the_oldest_first_and_no_more_than_it_must() {
    let fixture = Fixture::limited(1_000, 1_000);
    let mut ids = Vec::new();
    for _ in 0..4 {
        ids.push(keep(&fixture.store, &Facts::new(), 250).await);
        fixture.clock.advance(Duration::from_secs(1));
    }
    assert_eq!(fixture.ids(), ids, "exactly the quota fits");
    ids.push(keep(&fixture.store, &Facts::new(), 251).await);
    assert_eq!(fixture.ids(), ids[2..]);
    fixture.clock.advance(Duration::from_secs(1));
    ids.push(keep(&fixture.store, &Facts::new(), 1_000).await);
    assert_eq!(fixture.ids(), ids[5..]);
}

#[tokio::test]
async fn the_quota_counts_what_other_processes_stored() {
    let fixture = Fixture::limited(1_000, 1_000);
    let other = fixture.another();
    let old = keep(&other, &Facts::new(), 600).await;
    fixture.store.list().unwrap();
    fixture.clock.advance(Duration::from_secs(1));
    let new = keep(&fixture.store, &Facts::new(), 600).await;
    assert_eq!(fixture.ids(), [new]);
    assert!(page(&other, &old, None).await.is_err());
}

#[tokio::test]
async fn a_live_session_is_not_evicted_and_an_output_that_cannot_fit_evicts_nothing() {
    let fixture = Fixture::limited(1_000, 1_000);
    let live = keep(&fixture.store, &session("live"), 600).await;
    fixture.clock.advance(Duration::from_secs(1));
    let dead = keep(&fixture.store, &session("dead"), 300).await;
    let pin = fixture.store.pin_session("live");

    let content = vec![Content::text("x".repeat(500))];
    let error = retain(&fixture.store, &Facts::new(), content)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::TooLarge);
    assert_eq!(
        error.to_string(),
        "output of 500 bytes does not fit: 600 of 1000 bytes are taken by live sessions and by \
         outputs that are being written"
    );
    assert_eq!(fixture.ids(), [&*live, &*dead]);

    let new = keep(&fixture.store, &Facts::new(), 400).await;
    assert_eq!(fixture.ids(), [&*live, &*new]);
    drop(pin);
    keep(&fixture.store, &Facts::new(), 600).await;
    assert!(!fixture.ids().contains(&live));
}

#[tokio::test]
async fn a_failed_output_gives_its_space_back() {
    let fixture = Fixture::limited(1_000, 1_000);
    let facts = Facts::new();
    for _ in 0..5 {
        let mut storing = Box::pin(retain(
            &fixture.store,
            &facts,
            vec![Content::text("x".repeat(900))],
        ));
        let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
        assert!(storing.as_mut().poll(&mut cx).is_pending());
    }
    keep(&fixture.store, &facts, 1_000).await;
}

#[tokio::test]
async fn outputs_that_are_being_written_count() {
    let fixture = Fixture::limited(1_000, 1_000);
    let facts = Facts::new();
    let mut storing = Box::pin(retain(
        &fixture.store,
        &facts,
        vec![Content::text("x".repeat(900))],
    ));
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(storing.as_mut().poll(&mut cx).is_pending());
    let error = retain(&fixture.store, &facts, vec![Content::text("y".repeat(200))])
        .await
        .unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::TooLarge);
    let id = storing.await.unwrap().retained.id;
    assert_eq!(fixture.ids(), [id]);
}

#[tokio::test]
async fn a_sweep_removes_8_days_keeps_recent_live_and_unrelated() {
    let fixture = Fixture::new();
    let old = keep(&fixture.store, &session("dead"), 10).await;
    let live = keep(&fixture.store, &session("live"), 20).await;
    fixture.clock.advance(7 * DAY);
    let recent = keep(&fixture.store, &session("dead"), 30).await;
    fixture.clock.advance(DAY);
    let unrelated = [
        "notes.txt",
        "out_of_scope",
        "out_short",
        ".hidden",
        "out_0000000000000000.txt",
    ];
    for name in unrelated {
        fs::write(fixture.root().join(name), "keep me").unwrap();
    }
    fs::create_dir(fixture.root().join("out_1111111111111111")).unwrap();

    let _pin = fixture.store.pin_session("live");
    let swept = fixture.store.sweep(fixture.clock.now()).unwrap();
    assert_eq!(
        (swept.outputs, swept.bytes, swept.leftovers, swept.failed),
        (1, 10, 0, 0)
    );
    let mut kept = fixture.ids();
    kept.sort();
    let mut expected = vec![live.clone(), recent];
    expected.sort();
    assert_eq!(kept, expected);
    assert!(
        page(&fixture.store, &live, Some(&session("live")))
            .await
            .is_ok()
    );
    assert!(page(&fixture.store, &old, None).await.is_err());
    for name in unrelated {
        assert!(fixture.root().join(name).exists(), "{name}");
    }
    assert!(fixture.root().join("out_1111111111111111").is_dir());
}

#[tokio::test]
async fn age_is_the_recorded_time_whatever_the_file_says() {
    let fixture = Fixture::new();
    let id = keep(&fixture.store, &Facts::new(), 10).await;
    let file = fs::File::options()
        .write(true)
        .open(fixture.root().join(&id))
        .unwrap();
    file.set_modified(fixture.clock.now() - 100 * DAY).unwrap();
    fixture.store.sweep(fixture.clock.now() + 6 * DAY).unwrap();
    assert_eq!(fixture.ids(), [&*id]);
    file.set_modified(fixture.clock.now() + 100 * DAY).unwrap();
    fixture.store.sweep(fixture.clock.now() + 7 * DAY).unwrap();
    assert!(fixture.names().is_empty());
}

#[tokio::test]
async fn opening_sweeps() {
    let fixture = Fixture::new();
    keep(&fixture.store, &Facts::new(), 10).await;
    fixture.clock.advance(8 * DAY);
    assert!(fixture.ids().is_empty(), "what has expired is not listed");
    assert_eq!(fixture.names().len(), 1);
    fixture.another();
    assert!(fixture.names().is_empty());
}

#[tokio::test]
async fn opening_under_a_smaller_quota_evicts_the_oldest() {
    let fixture = Fixture::new();
    for _ in 0..3 {
        keep(&fixture.store, &Facts::new(), 100).await;
        fixture.clock.advance(Duration::from_secs(1));
    }
    let newest = fixture.ids().pop().unwrap();
    let clock = fixture.clock.clone();
    let store = DirStore::builder(fixture.root())
        .clock(move || clock.now())
        .limits(Limits::new(100, 150, DAY).unwrap())
        .open()
        .unwrap();
    let kept: Vec<_> = store
        .list()
        .unwrap()
        .into_iter()
        .map(|output| output.id)
        .collect();
    assert_eq!(kept, [newest]);
}

#[tokio::test]
async fn a_pin_holds_for_other_processes_until_the_last_guard_is_gone() {
    let fixture = Fixture::new();
    let id = keep(&fixture.store, &session("live"), 10).await;
    let first = fixture.store.pin_session("live");
    let second = fixture.store.pin_session("live");
    fixture.clock.advance(8 * DAY);
    let other = fixture.another();
    assert!(page(&other, &id, Some(&session("live"))).await.is_ok());

    drop(first);
    assert_eq!(other.sweep(fixture.clock.now()).unwrap().outputs, 0);
    let theirs = other.pin_session("live");
    drop(second);
    assert_eq!(fixture.store.sweep(fixture.clock.now()).unwrap().outputs, 0);
    drop(theirs);
    assert_eq!(fixture.store.sweep(fixture.clock.now()).unwrap().outputs, 1);
    assert!(
        fixture.names().is_empty(),
        "a pin leaves nothing: {:?}",
        fixture.names()
    );
}

#[test]
fn a_dead_process_leaves_no_pin() {
    let fixture = Fixture::new();
    let name = format!(".live-{}", tool_core::Digest::of(b"dead").hex());
    fs::write(fixture.root().join(&name), "").unwrap();
    let held = fixture.store.pin_session("live");
    fixture.store.sweep(fixture.clock.now()).unwrap();
    assert_eq!(fixture.names().len(), 1);
    assert!(!fixture.root().join(name).exists());
    drop(held);
}

#[test]
fn limits_of_zero_cannot_be_said() {
    let defaults = Limits::default();
    assert_eq!(defaults.output_bytes(), 64 * 1024 * 1024);
    assert_eq!(defaults.total_bytes(), 1024 * 1024 * 1024);
    assert_eq!(defaults.time_to_live(), 7 * DAY);
    assert!(Limits::new(0, 1, DAY).is_err());
    assert!(Limits::new(1, 0, DAY).is_err());
    assert_eq!(
        Limits::new(1, 1, Duration::ZERO).unwrap_err().to_string(),
        "a limit of zero time keeps nothing; give at least one microsecond"
    );
    assert_eq!(Limits::new(100, 10, DAY).unwrap().output_bytes(), 10);
}
