//! How much is kept.

use tool_core::{Content, Facts, OutputStore, Retention, StoreError, StoreErrorKind};

use super::{OutputHarness, bound, facts, is_absent, keep, limited, list, page};
use crate::report::{Failed, ensure};

async fn refused(store: &impl OutputStore, bytes: usize) -> Result<(), Failed> {
    let caller = facts();
    let content = vec![Content::text("x".repeat(bytes))];
    let kept = store.bound(Retention::new(content, bound()?, &caller, "tool"));
    let is_refused = |error: StoreError| error.kind() == StoreErrorKind::TooLarge;
    let is_refused = kept.await.err().is_some_and(is_refused);
    ensure(is_refused, "what is too large is not refused as that")
}

pub(super) async fn too_large_is_refused_and_leaves_nothing<H: OutputHarness>(
    harness: &H,
) -> Result<(), Failed> {
    let store = limited(harness, 3_000, 10_000).await?;
    let first = keep(&store, &facts(), "a".repeat(3_000)).await?;
    refused(&store, 3_001).await?;
    refused(&store, 20_000).await?;
    page(&store, &first, Some(&facts())).await?;
    let listed = list(harness, &store).await?;
    ensure(listed == [first], "what was refused left something")
}

pub(super) async fn the_oldest_leave_for_what_comes<H: OutputHarness>(
    harness: &H,
) -> Result<(), Failed> {
    let store = limited(harness, 4_000, 10_000).await?;
    let mut ids = Vec::new();
    for session in ["s1", "s2", "s3"] {
        super::advance(harness, std::time::Duration::from_secs(1))?;
        let caller = Facts::new().session(session);
        ids.push(keep(&store, &caller, "x".repeat(4_000)).await?);
    }
    let mut there = Vec::new();
    for id in &ids {
        there.push(!is_absent(&page(&store, id, None).await));
    }
    ensure(
        there == [false, true, true],
        "others than the oldest left for what came",
    )
}

pub(super) async fn room_of_what_failed_is_free_again<H: OutputHarness>(
    harness: &H,
) -> Result<(), Failed> {
    let store = limited(harness, 6_000, 6_000).await?;
    for _ in 0..5 {
        refused(&store, 6_001).await?;
    }
    keep(&store, &facts(), "x".repeat(6_000)).await?;
    Ok(())
}
