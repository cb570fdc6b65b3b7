//! What leaves to make room.

use tool_core::{
    ArtifactDraft, ArtifactErrorKind, ArtifactQuery, ArtifactStore, SweepReason, SweptArtifact,
};

use super::{ArtifactHarness, bounded, ensure_refused, facts, is_there, kind, put};
use crate::report::{Failed, ensure};

pub(super) async fn too_large_is_refused_before_anything_leaves<H: ArtifactHarness>(
    harness: &H,
) -> Result<(), Failed> {
    let store = bounded(harness, 100, 9)?;
    let facts = facts();
    let there = put(&store, &facts, "x".repeat(60)).await?.meta.reference;
    let draft = ArtifactDraft::new(kind("large")?);
    let refused = store.put(&facts, draft, "x".repeat(101).into()).await;
    ensure_refused(
        refused,
        ArtifactErrorKind::TooLarge,
        "it was not refused as too large",
    )?;
    ensure(
        is_there(&store, &facts, &there).await?,
        "something left for what was refused",
    )?;
    let listed = store.list(&facts, ArtifactQuery::new()).await?.artifacts;
    ensure(listed.len() == 1, "what was refused is listed")?;
    // Exactly as large as can be is taken in.
    let kept = put(&store, &facts, "x".repeat(100)).await?;
    ensure(kept.swept.len() == 1, "what left is not told")
}

pub(super) async fn what_was_used_the_longest_ago_leaves_and_is_told<H: ArtifactHarness>(
    harness: &H,
) -> Result<(), Failed> {
    let store = bounded(harness, 100, 3)?;
    let facts = facts();
    let tick = || harness.advance(std::time::Duration::from_secs(1));
    let mut references = Vec::new();
    for _ in 0..3 {
        references.push(put(&store, &facts, "x".repeat(20)).await?.meta.reference);
        if !tick() {
            return Err(Failed::no_hook("advance"));
        }
    }
    let [first, second, third] = &references[..] else {
        return Err(Failed::new("three were put"));
    };
    store.get(&facts, first.as_str()).await?;
    tick();
    let gone = |reference, reason| {
        Ok::<_, Failed>(SweptArtifact::new(
            Clone::clone(reference),
            kind("note")?,
            20,
            reason,
        ))
    };
    let fourth = put(&store, &facts, "x".repeat(20)).await?;
    tick();
    ensure(
        fourth.swept == [gone(second, SweepReason::Count)?],
        "the one that was used the longest ago did not leave, or was not told",
    )?;
    let large = put(&store, &facts, "x".repeat(70)).await?;
    ensure(
        large.swept
            == [
                gone(third, SweepReason::Count)?,
                gone(first, SweepReason::Bytes)?,
            ],
        "too many or too large: others left, or they were not told",
    )?;
    for (reference, stays) in [
        (first, false),
        (second, false),
        (third, false),
        (&fourth.meta.reference, true),
        (&large.meta.reference, true),
    ] {
        ensure(
            is_there(&store, &facts, reference).await? == stays,
            "what is there is not what was told",
        )?;
    }
    let other = tool_core::Facts::new().session("s2");
    let kept = put(&store, &other, "x".repeat(100)).await?;
    ensure(
        kept.swept.is_empty(),
        "the bounds of one scope are those of another",
    )
}

pub(super) async fn a_parent_stays_while_its_child_is_put<H: ArtifactHarness>(
    harness: &H,
) -> Result<(), Failed> {
    let store = bounded(harness, 100, 2)?;
    let facts = facts();
    let parent = put(&store, &facts, "x".repeat(40)).await?.meta.reference;
    let other = put(&store, &facts, "x".repeat(40)).await?.meta.reference;
    let draft = ArtifactDraft::new(kind("child")?).parents([parent.clone()]);
    store.put(&facts, draft, "child".into()).await?;
    ensure(
        is_there(&store, &facts, &parent).await?,
        "the parent left for its child",
    )?;
    ensure(!is_there(&store, &facts, &other).await?, "nothing left")?;
    let draft = ArtifactDraft::new(kind("child")?).parents([parent.clone()]);
    let refused = store.put(&facts, draft, "x".repeat(70).into()).await;
    ensure_refused(
        refused,
        ArtifactErrorKind::TooLarge,
        "a child that does not fit beside its parent was not refused",
    )?;
    ensure(
        is_there(&store, &facts, &parent).await?,
        "the parent left for a refused child",
    )
}
