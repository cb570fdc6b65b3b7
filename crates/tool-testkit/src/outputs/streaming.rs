//! Output that is stored while it is made.

use tool_core::{OutputSink, OutputStore, Retention, StoreErrorKind};

use super::{OutputHarness, bound, facts, keep, limited, list, pages, retain, sweep};
use crate::report::{Failed, ensure};

/// More than two parts of what stores send at once, in lines.
fn long() -> String {
    (0..1_300_000).map(|line| format!("{line:08}\n")).collect()
}

/// A stream into a store, where it takes any.
fn begin(store: &impl OutputStore) -> Result<Box<dyn OutputSink>, Failed> {
    let caller = facts();
    let sink = store.stream(Retention::new(Vec::new(), bound()?, &caller, "tool"))?;
    sink.ok_or_else(Failed::not_applicable)
}

async fn write(sink: &mut dyn OutputSink, text: &str, piece: usize) -> Result<(), Failed> {
    // All of it is ASCII.
    for piece in text.as_bytes().chunks(piece) {
        sink.write(std::str::from_utf8(piece)?).await?;
    }
    Ok(())
}

pub(super) async fn what_is_streamed_is_what_is_kept<H: OutputHarness>(
    harness: &H,
) -> Result<(), Failed> {
    let store = harness.open().await;
    for (text, piece) in [
        (String::new(), 1),
        ("short".to_owned(), 2),
        ("line\n".repeat(2_000), 7),
        (long(), 64 * 1024),
    ] {
        let mut sink = begin(&store)?;
        write(&mut *sink, &text, piece).await?;
        let streamed = sink.finish().await?;
        let told = &streamed.retained;
        ensure(told.bytes == text.len() as u64, "the bytes told are others")?;
        let lines = text.lines().count() as u64;
        ensure(told.lines == lines, "the lines told are others")?;
        let whole = retain(&store, &facts(), &*text).await?;
        let differs = "a digest depends on how an output came";
        ensure(told.digest == whole.retained.digest, differs)?;
        let shown = |bounded: &tool_core::Bounded| {
            let texts = bounded.content.iter().filter_map(|it| it.as_text());
            let texts: Vec<String> = texts
                .map(|text| text.replace(&bounded.retained.id, "ID"))
                .filter(|text| !text.is_empty())
                .collect();
            texts
        };
        let differs = "a preview depends on how an output came";
        ensure(shown(&streamed) == shown(&whole), differs)?;
        let pages = pages(&store, &told.id, &facts(), 1 << 20).await?;
        let read: Vec<u8> = pages.iter().flat_map(|page| page.bytes.to_vec()).collect();
        ensure(read == text.as_bytes(), "pages are not what was streamed")?;
    }
    Ok(())
}

pub(super) async fn nothing_is_seen_of_a_stream_before_it_is_finished<H: OutputHarness>(
    harness: &H,
) -> Result<(), Failed> {
    let store = harness.open().await;
    let mut sink = begin(&store)?;
    for _ in 0..2 {
        write(&mut *sink, &long(), 1 << 20).await?;
        let listed = list(harness, &store).await?;
        ensure(listed.is_empty(), "an output is listed before it is whole")?;
    }
    let id = sink.finish().await?.retained.id;
    let listed = list(harness, &store).await?;
    ensure(listed == [id], "a finished output is not listed")
}

pub(super) async fn a_dropped_stream_leaves_nothing<H: OutputHarness>(
    harness: &H,
) -> Result<(), Failed> {
    let store = harness.open().await;
    for text in [String::new(), "short".to_owned(), long()] {
        let mut sink = begin(&store)?;
        write(&mut *sink, &text, 1 << 20).await?;
        drop(sink);
        let listed = list(harness, &store).await?;
        ensure(listed.is_empty(), "a dropped stream left an output")?;
    }
    sweep(harness, &store).await?;
    let kept = keep(&store, &facts(), "x".repeat(2_000)).await?;
    let listed = list(harness, &store).await?;
    ensure(listed == [kept], "a dropped stream came back")
}

pub(super) async fn a_stream_that_grows_too_large_is_refused_and_leaves_nothing<
    H: OutputHarness,
>(
    harness: &H,
) -> Result<(), Failed> {
    let store = limited(harness, 10_000, 20_000).await?;
    // Also of all together: the second finds the room of the first again.
    for _ in 0..3 {
        let mut sink = begin(&store)?;
        write(&mut *sink, &"x".repeat(10_000), 1_000).await?;
        let over = sink.write("x").await;
        let is_refused = over.is_err_and(|error| error.kind() == StoreErrorKind::TooLarge);
        ensure(is_refused, "a stream over its limit is taken")?;
        ensure(sink.write("y").await.is_err(), "it goes on after that")?;
        let finished = sink.finish().await;
        ensure(finished.is_err(), "it is finished all the same")?;
        let listed = list(harness, &store).await?;
        ensure(listed.is_empty(), "it left an output")?;
    }
    Ok(())
}
