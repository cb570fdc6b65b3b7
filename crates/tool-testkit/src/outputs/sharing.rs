//! Several who use one place at once.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use tool_core::{Content, OutputStore as _, Retention};

use super::{OutputHarness, again, bound, facts, is_absent, keep, list, page, pages, sweep};
use crate::report::{Failed, ensure};

pub(super) async fn a_second_store_reads_what_the_first_has_kept<H: OutputHarness>(
    harness: &H,
) -> Result<(), Failed> {
    let one = harness.open().await;
    let two = again(harness, &one).await?;
    let text = "shared \u{1F980} ".repeat(300);
    let id = keep(&one, &facts(), &*text).await?;
    let pages = pages(&two, &id, &facts(), 1_000).await?;
    let read: Vec<u8> = pages.iter().flat_map(|page| page.bytes.to_vec()).collect();
    ensure(read == text.as_bytes(), "another store reads other bytes")?;
    ensure(
        list(harness, &two).await? == [id],
        "another store lists others",
    )
}

pub(super) async fn a_second_store_sees_removals<H: OutputHarness>(
    harness: &H,
) -> Result<(), Failed> {
    let one = harness.open().await;
    let two = again(harness, &one).await?;
    let id = keep(&one, &facts(), "x".repeat(2_000)).await?;
    page(&two, &id, Some(&facts())).await?;
    let removed = harness.remove(&one, &id).await;
    removed.ok_or_else(|| Failed::no_hook("remove"))??;
    let read = page(&two, &id, Some(&facts())).await;
    ensure(is_absent(&read), "another store reads what was removed")
}

pub(super) async fn writers_at_once_lose_nothing<H: OutputHarness>(
    harness: &H,
) -> Result<(), Failed> {
    let one = harness.open().await;
    let two = again(harness, &one).await?;
    let texts: Vec<String> = (0..8)
        .map(|at| format!("writer {at} ").repeat(400))
        .collect();
    let caller = facts();
    let writing = texts.iter().enumerate().map(|(at, text)| {
        let store = if at % 2 == 0 { &one } else { &two };
        Box::pin(keep(store, &caller, &**text))
    });
    let mut ids = Vec::new();
    for id in all(writing.collect()).await {
        ids.push(id?);
    }
    for (at, (id, text)) in ids.iter().zip(&texts).enumerate() {
        let store = if at % 2 == 0 { &two } else { &one };
        let pages = pages(store, id, &caller, 100_000).await?;
        let read: Vec<u8> = pages.iter().flat_map(|page| page.bytes.to_vec()).collect();
        ensure(read == text.as_bytes(), "one writer has another's bytes")?;
    }
    let mut listed = list(harness, &one).await?;
    listed.sort();
    ids.sort();
    ensure(listed == ids, "of outputs at once one is missing")
}

/// Waits for all of them, all going on at the same time.
async fn all<F: Future>(futures: Vec<Pin<Box<F>>>) -> Vec<F::Output> {
    let mut going: Vec<_> = futures.into_iter().map(Some).collect();
    let mut outputs: Vec<_> = going.iter().map(|_| None).collect();
    poll_fn(|cx| {
        for (going, output) in going.iter_mut().zip(&mut outputs) {
            if let Some(Poll::Ready(done)) = going.as_mut().map(|it| it.as_mut().poll(cx)) {
                *going = None;
                *output = Some(done);
            }
        }
        match going.iter().all(Option::is_none) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    })
    .await;
    outputs.into_iter().flatten().collect()
}

pub(super) async fn a_dropped_call_leaves_nothing<H: OutputHarness>(
    harness: &H,
) -> Result<(), Failed> {
    let store = harness.open().await;
    let caller = facts();
    for polls in 0..6 {
        let content = vec![Content::text("dropped\n".repeat(200_000))];
        let mut call = store.bound(Retention::new(content, bound()?, &caller, "tool"));
        let mut cx = Context::from_waker(Waker::noop());
        let is_done = (0..polls).any(|_| call.as_mut().poll(&mut cx).is_ready());
        drop(call);
        if is_done {
            break;
        }
        let listed = list(harness, &store).await?;
        ensure(listed.is_empty(), "a dropped call left an output")?;
    }
    sweep(harness, &store).await?;
    for id in list(harness, &store).await? {
        harness.remove(&store, &id).await;
    }
    keep(&store, &caller, "x".repeat(2_000)).await?;
    let listed = list(harness, &store).await?;
    ensure(listed.len() == 1, "a dropped call came back")
}
