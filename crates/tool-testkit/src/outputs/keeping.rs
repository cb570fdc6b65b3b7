//! What is kept is what was given.

use tool_core::{Content, OutputStore as _, PageRequest, Retention};

use super::{OutputHarness, bound, facts, may_be_digest_of, pages, retain};
use crate::report::{Failed, ensure};

/// Texts that are hard to cut.
fn hostile() -> Vec<String> {
    let mut texts = vec![
        "no newline at all ".repeat(200),
        "\n".repeat(3_000),
        "\u{1b}[31mred\u{1b}[0m\r\n".repeat(300),
        "{\"a\":[1,2,3]}".repeat(300),
    ];
    // Characters of four bytes at each offset.
    texts.extend((0..4).map(|offset| "x".repeat(offset) + &"\u{1F980}".repeat(700)));
    texts
}

pub(super) async fn pages_equal_bytes<H: OutputHarness>(harness: &H) -> Result<(), Failed> {
    let store = harness.open().await;
    for text in hostile() {
        let id = retain(&store, &facts(), &*text).await?.retained.id;
        for max_bytes in [1, 3, 1_000, 1 << 20] {
            let pages = pages(&store, &id, &facts(), max_bytes).await?;
            let read: Vec<u8> = pages.iter().flat_map(|page| page.bytes.to_vec()).collect();
            let otherwise = format!("pages of {max_bytes} bytes are not what was stored");
            let is_all = pages.last().is_none_or(|last| last.next.is_none());
            let expected = match is_all {
                true => text.as_bytes(),
                false => text.as_bytes().get(..read.len()).unwrap_or_default(),
            };
            ensure(read == expected, otherwise)?;
        }
    }
    Ok(())
}

pub(super) async fn a_large_output_is_whole<H: OutputHarness>(harness: &H) -> Result<(), Failed> {
    let store = harness.open().await;
    let text: String = (0..1_200_000).map(|line| format!("{line:09}\n")).collect();
    let bounded = retain(&store, &facts(), &*text).await?;
    let told = &bounded.retained;
    ensure(told.bytes == text.len() as u64, "the bytes told are others")?;
    ensure(told.lines == 1_200_000, "the lines told are others")?;
    let is_digest = may_be_digest_of(&told.digest, text.as_bytes());
    ensure(is_digest, "the digest told is another, or none")?;
    for offset in [0, (5 << 20) - 17, 5 << 20, 11_999_000] {
        let (caller, max_bytes) = (facts(), 2_000);
        let request = PageRequest::new(&told.id, Some(&caller));
        let request = request.offset(offset as u64).max_bytes(max_bytes);
        let page = store.page(request).await?;
        let end = (offset + max_bytes).min(text.len());
        let expected = text.as_bytes().get(offset..end).unwrap_or_default();
        ensure(page.bytes == expected, "a page holds other bytes")?;
    }
    Ok(())
}

pub(super) async fn what_is_retained_is_told<H: OutputHarness>(harness: &H) -> Result<(), Failed> {
    let store = harness.open().await;
    let mut ids = Vec::new();
    for (text, lines) in [("a\n".repeat(2_000), 2_000), ("b\n".repeat(900) + "c", 901)] {
        let told = retain(&store, &facts(), &*text).await?.retained;
        ensure(told.bytes == text.len() as u64, "the bytes told are others")?;
        ensure(told.lines == lines, "the lines told are others")?;
        let is_digest = may_be_digest_of(&told.digest, text.as_bytes());
        ensure(is_digest, "the digest told is another, or none")?;
        let again = retain(&store, &facts(), &*text).await?.retained;
        ensure(
            again.digest == told.digest,
            "the same bytes have two digests",
        )?;
        let other = retain(&store, &facts(), text + "!").await?.retained;
        ensure(
            other.digest != told.digest,
            "other bytes have the same digest",
        )?;
        ensure(!ids.contains(&told.id), "an id was given twice")?;
        ids.push(told.id);
    }
    Ok(())
}

pub(super) async fn a_preview_is_a_prefix_and_a_suffix<H: OutputHarness>(
    harness: &H,
) -> Result<(), Failed> {
    let store = harness.open().await;
    for text in hostile() {
        let bounded = retain(&store, &facts(), &*text).await?;
        let texts: Vec<&str> = bounded
            .content
            .iter()
            .filter_map(Content::as_text)
            .collect();
        let shown: usize = texts.iter().map(|text| text.len()).sum();
        ensure(shown <= bound()?.bytes(), "a preview is over its bound")?;
        let marker = texts
            .iter()
            .position(|it| it.contains(&bounded.retained.id));
        let marker = marker.ok_or_else(|| Failed::new("no marker names the output"))?;
        let (head, rest) = texts.split_at(marker);
        let tail = rest.get(1..).unwrap_or_default();
        ensure(
            text.starts_with(&head.concat()),
            "the head is no prefix of what was stored",
        )?;
        ensure(
            text.ends_with(&tail.concat()),
            "the tail is no suffix of what was stored",
        )?;
    }
    Ok(())
}

pub(super) async fn texts_are_joined_and_media_stays<H: OutputHarness>(
    harness: &H,
) -> Result<(), Failed> {
    let store = harness.open().await;
    let picture = Content::image("image/png", vec![1, 2, 3]);
    let (first, last) = ("first".repeat(300), "last".repeat(300));
    let content = vec![
        Content::text(&*first),
        picture.clone(),
        Content::text(""),
        Content::text(&*last),
    ];
    let caller = facts();
    let retention = Retention::new(content, bound()?, &caller, "tool");
    let bounded = store.bound(retention).await?;
    ensure(
        bounded.content.contains(&picture),
        "a picture is not passed on",
    )?;
    let pages = pages(&store, &bounded.retained.id, &caller, 10_000).await?;
    let read: Vec<u8> = pages.iter().flat_map(|page| page.bytes.to_vec()).collect();
    ensure(
        read == format!("{first}\n{last}").as_bytes(),
        "texts are not joined by a newline",
    )
}
