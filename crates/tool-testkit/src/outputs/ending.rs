//! When outputs leave.

use std::time::Duration;

use tool_core::{Facts, OutputStore as _, StoreErrorKind};

use super::{LIFE, OutputHarness, advance, facts, is_absent, keep, list, page, retain, sweep};
use crate::report::{Failed, ensure};

const SECOND: Duration = Duration::from_secs(1);

pub(super) async fn an_output_has_its_time<H: OutputHarness>(harness: &H) -> Result<(), Failed> {
    let store = harness.open().await;
    let id = keep(&store, &facts(), "x".repeat(2_000)).await?;
    advance(harness, LIFE - SECOND)?;
    page(&store, &id, Some(&facts())).await?;
    advance(harness, SECOND)?;
    let read = page(&store, &id, Some(&facts())).await;
    ensure(is_absent(&read), "it is read after its time")?;
    let read = page(&store, &id, None).await;
    ensure(is_absent(&read), "an operator reads it after its time")
}

pub(super) async fn a_sweep_removes_what_has_had_its_time_and_nothing_else<H: OutputHarness>(
    harness: &H,
) -> Result<(), Failed> {
    let store = harness.open().await;
    keep(&store, &facts(), "x".repeat(2_000)).await?;
    advance(harness, LIFE / 2)?;
    let younger = keep(&store, &facts(), "y".repeat(2_000)).await?;
    advance(harness, LIFE / 2)?;
    sweep(harness, &store).await?;
    let listed = list(harness, &store).await?;
    ensure(
        listed == [younger],
        "a sweep left others than those that live",
    )
}

pub(super) async fn an_operator_is_told_what_became_of_an_output<H: OutputHarness>(
    harness: &H,
) -> Result<(), Failed> {
    let store = harness.open().await;
    let expired = keep(&store, &facts(), "x".repeat(2_000)).await?;
    advance(harness, LIFE)?;
    sweep(harness, &store).await?;
    let foreign = keep(&store, &facts(), "y".repeat(2_000)).await?;
    let ended = keep(&store, &Facts::new().session("s9"), "z".repeat(2_000)).await?;
    let caller = Facts::new().session("s9");
    let removed = harness.end_session(&store, &caller);
    removed
        .await
        .ok_or_else(|| Failed::no_hook("end_session"))??;
    let stranger = Facts::new().session("s2");
    let mut told = Vec::new();
    for (id, caller) in [
        (&expired, None),
        (&foreign, Some(&stranger)),
        (&ended, None),
    ] {
        match page(&store, id, caller).await {
            Ok(_) => return Err(Failed::new("what is not there is read")),
            Err(error) => told.push(error.to_string().replace(&**id, "")),
        }
    }
    told.sort();
    told.dedup();
    ensure(told.len() == 3, "an operator cannot tell absences apart")
}

pub(super) async fn removing_what_is_gone_is_told<H: OutputHarness>(
    harness: &H,
) -> Result<(), Failed> {
    let store = harness.open().await;
    let kept = keep(&store, &facts(), "y".repeat(2_000)).await?;
    let id = keep(&store, &facts(), "x".repeat(2_000)).await?;
    let no_hook = || Failed::no_hook("remove");
    harness.remove(&store, &id).await.ok_or_else(no_hook)??;
    let read = page(&store, &id, Some(&facts())).await;
    ensure(is_absent(&read), "what was removed is read")?;
    for gone in [&*id, "out_0000000000000000", "../x"] {
        let again = harness.remove(&store, gone).await.ok_or_else(no_hook)?;
        let is_told = again.is_err_and(|error| error.kind() == StoreErrorKind::NotFound);
        ensure(is_told, "removing what is not there is no absence")?;
    }
    page(&store, &kept, Some(&facts())).await?;
    Ok(())
}

pub(super) async fn the_end_of_a_session_removes_what_is_its_own<H: OutputHarness>(
    harness: &H,
) -> Result<(), Failed> {
    let store = harness.open().await;
    let other = Facts::new().session("s2");
    keep(&store, &facts(), "x".repeat(2_000)).await?;
    keep(&store, &facts(), "y".repeat(2_000)).await?;
    let stays = keep(&store, &other, "z".repeat(2_000)).await?;
    let nobodys = keep(&store, &Facts::new(), "w".repeat(2_000)).await?;
    for (caller, expected) in [(facts(), 2), (facts(), 0), (Facts::new(), 0)] {
        let ended = harness.end_session(&store, &caller).await;
        let ended = ended.ok_or_else(|| Failed::no_hook("end_session"))??;
        ensure(ended == expected, "another number of outputs left")?;
    }
    let mut listed = list(harness, &store).await?;
    let mut expected = [stays, nobodys];
    listed.sort();
    expected.sort();
    ensure(
        listed == expected,
        "others than its own left with a session",
    )
}

pub(super) async fn what_is_forgotten_is_not_read<H: OutputHarness>(
    harness: &H,
) -> Result<(), Failed> {
    let store = harness.open().await;
    let retained = retain(&store, &facts(), "x".repeat(2_000)).await?.retained;
    let other = keep(&store, &facts(), "y".repeat(2_000)).await?;
    store.forget(&retained);
    sweep(harness, &store).await?;
    let read = page(&store, &retained.id, Some(&facts())).await;
    ensure(is_absent(&read), "what was forgotten is read")?;
    // Of one that is gone nobody has to be told, and another is not taken for it.
    store.forget(&retained);
    sweep(harness, &store).await?;
    page(&store, &other, Some(&facts())).await?;
    Ok(())
}
