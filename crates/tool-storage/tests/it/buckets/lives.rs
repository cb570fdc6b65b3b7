use std::time::Duration;

use tool_core::{OutputStore as _, PageRequest, StoreErrorKind};
use tool_storage::{Bucket, BucketOutputs, Limits};

use super::{Clock, keep, memory, names, session};
use crate::fixture::DAY;

async fn open(bucket: &Bucket, clock: &Clock, total: u64) -> BucketOutputs {
    let clock = clock.clone();
    let limits = Limits::new(total, total, 7 * DAY).unwrap();
    let builder = BucketOutputs::builder(bucket.clone()).limits(limits);
    builder.clock(move || clock.now()).open().await.unwrap()
}

#[tokio::test]
async fn a_session_that_is_live_at_one_gateway_is_live_at_all() {
    let (bucket, objects) = memory();
    let clock = Clock::new();
    let one = open(&bucket, &clock, 10_000).await;
    let two = open(&bucket, &clock, 10_000).await;
    let pin = one.pin_session("s1");
    let kept = keep(&one, &session("s1"), 6_000).await.unwrap().retained.id;
    assert!(!names(&objects).await.join(" ").contains("s1"));

    // No room is made of it where it is known, and it outlives its time.
    assert_eq!(two.list().await.unwrap().len(), 1);
    let error = keep(&two, &session("s2"), 6_000).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::TooLarge);
    for _ in 0..8 * 24 {
        clock.advance(Duration::from_secs(60 * 60));
        one.sweep(clock.now()).await.unwrap();
    }
    assert_eq!(two.sweep(clock.now()).await.unwrap().outputs, 0);
    two.page(PageRequest::new(&kept, None)).await.unwrap();
    assert_eq!(two.list().await.unwrap().len(), 1);

    // A gateway that is gone renews no more.
    drop(pin);
    clock.advance(Duration::from_secs(4 * 60 * 60));
    assert_eq!(two.sweep(clock.now()).await.unwrap().outputs, 1);
    assert!(
        !names(&objects)
            .await
            .iter()
            .any(|name| name.contains("/live/"))
    );
}

#[tokio::test]
async fn what_a_dead_process_left_of_an_upload_is_aborted_after_a_day() {
    let (bucket, objects) = memory();
    let clock = Clock::new();
    let store = open(&bucket, &clock, 64 << 20).await;
    let mut output = store.begin(&session("s1"), "shell", tool_core::Bound::DEFAULT);
    output.write(&"x".repeat(6 << 20)).await.unwrap();
    // As if the process had been killed.
    std::mem::forget(output);
    assert_eq!(names(&objects).await.len(), 1);

    clock.advance(DAY - Duration::from_secs(1));
    assert_eq!(store.sweep(clock.now()).await.unwrap().leftovers, 0);
    clock.advance(Duration::from_secs(1));
    let next = Bucket::clone(&bucket);
    let swept = open(&next, &clock, 64 << 20).await.sweep(clock.now()).await;
    assert_eq!(swept.unwrap().failed, 0);
    assert!(names(&objects).await.is_empty());
}

#[tokio::test]
async fn an_upload_that_goes_on_for_days_is_not_taken_for_abandoned() {
    let (bucket, _objects) = memory();
    let clock = Clock::new();
    let store = open(&bucket, &clock, 64 << 20).await;
    let facts = session("s1");
    let mut output = store.begin(&facts, "shell", tool_core::Bound::DEFAULT);
    for _ in 0..4 {
        output.write(&"x".repeat(6 << 20)).await.unwrap();
        clock.advance(DAY / 2);
        assert_eq!(store.sweep(clock.now()).await.unwrap().leftovers, 0);
    }
    let kept = output.finish().await.unwrap().retained;
    assert_eq!(kept.bytes, 24 << 20);
}

#[tokio::test]
async fn ten_thousand_outputs_and_thirty_days_stay_within_quota_and_time() {
    let (bucket, objects) = memory();
    let clock = Clock::new();
    let store = open(&bucket, &clock, 4_000_000).await;
    let mut first = None;
    for at in 0..10_000_u64 {
        let facts = session(&format!("s{}", at % 7));
        let id = keep(&store, &facts, 1_500).await.unwrap().retained.id;
        first.get_or_insert(id);
        clock.advance(Duration::from_secs(259));
        if at % 250 == 0 {
            store.sweep(clock.now()).await.unwrap();
        }
    }
    store.sweep(clock.now()).await.unwrap();
    let listed = store.list().await.unwrap();
    let held: u64 = listed.iter().map(|output| output.bytes).sum();
    assert!(held <= 4_000_000, "{held}");
    assert!(listed.len() > 2_000, "{}", listed.len());
    let oldest = listed.first().unwrap().created;
    assert!(clock.now().duration_since(oldest).unwrap() < 7 * DAY);
    let error = store
        .page(PageRequest::new(&first.unwrap(), None))
        .await
        .unwrap_err();
    let said = error.to_string();
    assert!(
        said.contains("has expired") || said.contains("make room"),
        "{said}"
    );

    // A new gateway finds the same.
    let other = open(&bucket, &clock, 4_000_000).await;
    assert_eq!(other.list().await.unwrap().len(), listed.len());
    let gone = names(&objects).await;
    let gone = gone.iter().filter(|name| name.contains("/gone/")).count();
    assert!(gone <= 10_000, "{gone}");
}
