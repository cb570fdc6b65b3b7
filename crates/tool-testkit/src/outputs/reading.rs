//! Parts of what is kept.

use tool_core::{OutputReading, OutputStore as _, PageRequest};

use super::{OutputHarness, facts, keep, pages};
use crate::report::{Failed, ensure};

pub(super) async fn a_page_begins_and_ends_between_characters<H: OutputHarness>(
    harness: &H,
) -> Result<(), Failed> {
    let store = harness.open().await;
    let text = "a\u{e9}\u{20ac}\u{1F980}".repeat(200);
    let id = keep(&store, &facts(), &*text).await?;
    for max_bytes in [1, 2, 3, 4, 5, 7] {
        for page in pages(&store, &id, &facts(), max_bytes).await? {
            let is_text = std::str::from_utf8(&page.bytes).is_ok();
            ensure(is_text, "a page splits a character")?;
            let longest = max_bytes.max(4);
            ensure(page.bytes.len() <= longest, "a page is longer than asked")?;
        }
    }
    let caller = facts();
    // The second byte of the crab.
    let request = PageRequest::new(&id, Some(&caller)).offset(7).max_bytes(10);
    let page = store.page(request).await?;
    ensure(
        page.offset == 6,
        "a page that was asked for inside a character does not begin with it",
    )
}

pub(super) async fn a_page_beyond_the_end_is_empty<H: OutputHarness>(
    harness: &H,
) -> Result<(), Failed> {
    let store = harness.open().await;
    let id = keep(&store, &facts(), "x".repeat(2_000)).await?;
    let caller = facts();
    for offset in [2_000, 2_001, u64::MAX] {
        let request = PageRequest::new(&id, Some(&caller)).offset(offset);
        let page = store.page(request).await?;
        ensure(page.bytes.is_empty(), "there are bytes beyond the end")?;
        ensure(page.next.is_none(), "a page follows the end")?;
        ensure(page.total == 2_000, "the total is another")?;
    }
    Ok(())
}

pub(super) async fn lines_pointers_and_searches_are_answered<H: OutputHarness>(
    harness: &H,
) -> Result<(), Failed> {
    let store = harness.open().await;
    let caller = facts();
    let text: String = (1..=5_000).map(|line| format!("line {line}\n")).collect();
    let id = keep(&store, &caller, text).await?;
    let output = OutputReading::of(&store, &id, Some(&caller));
    let lines = output.lines(4_000..=4_001, 1_000).await?;
    ensure(
        lines.text == "line 4000\nline 4001\n",
        "lines are others than asked for",
    )?;
    let found = output.search("line 4999", 10).await?.found;
    let found: Vec<u64> = found.iter().map(|found| found.line).collect();
    ensure(found == [4_999], "a search finds other lines")?;

    let json = format!("{{\"rows\":[1,{{\"name\":\"{}\"}}]}}", "n".repeat(2_000));
    let id = keep(&store, &caller, json).await?;
    let output = OutputReading::of(&store, &id, Some(&caller));
    let value = output.pointer("/rows/0", 100).await?;
    ensure(
        value.is_some_and(|value| value.text == "1"),
        "a pointer leads elsewhere",
    )
}
