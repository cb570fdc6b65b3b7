//! Media that a result holds twice.

use std::cmp::Reverse;

use serde_json::Value;
use tool_core::{Content, Embedded, EmbeddedBody, Structured};

use super::Run;
use crate::Entry;

/// A block whose bytes may be repeated as base64.
struct Shown {
    base64: String,
    /// What stands in its place.
    reference: String,
}

/// Puts a reference in place of base64 that repeats a media block of the same result, in its texts
/// and in what programs are shown. A model would be shown an image as letters; the bytes are in the
/// block. The output itself stays as it is, and so does a structured copy that its own schema would
/// not take with a reference in it. Blocks are numbered among those that hold bytes, as bounding
/// moves none of them. Each block is looked for in all that is shown, so that only the largest are.
#[inline]
pub(super) fn refer(run: &mut Run<'_>, entry: &Entry) {
    let has_bytes = |block: &Content| bytes_of(block).is_some_and(|len| len >= LEAST);
    if run.door.bounds_text() && run.settlement.content.iter().any(has_bytes) {
        refer_to_blocks(run, entry);
    }
}

#[cold]
fn refer_to_blocks(run: &mut Run<'_>, entry: &Entry) {
    let settlement = &mut run.settlement;
    let texts = settlement.content.iter().filter_map(Content::as_text);
    let longest = texts
        .map(str::len)
        .max()
        .max(settlement.structured().map(longest))
        .unwrap_or_default();
    let blocks = settlement.content.iter().filter_map(|block| {
        let bytes = bytes_of(block)?;
        Some((block, bytes))
    });
    let mut blocks: Vec<_> = blocks
        .enumerate()
        .filter(|(_, (_, bytes))| *bytes >= LEAST && unpadded(*bytes) <= longest)
        .collect();
    blocks.sort_by_key(|(_, (_, bytes))| Reverse(*bytes));
    let shown: Vec<Shown> = blocks
        .into_iter()
        .take(MOST)
        .filter_map(|(at, (block, bytes))| {
            let padded = block.to_base64()?;
            Some(Shown {
                base64: padded.trim_end_matches('=').to_owned(),
                reference: format!(
                    "[{bytes} bytes of {}: see media block {}]",
                    mime(block),
                    at + 1
                ),
            })
        })
        .collect();

    for block in &mut settlement.content {
        if let Content::Text(text) = block
            && let Some(referred) = referred(&text.text, &shown)
        {
            text.text = referred;
        }
    }
    let schema = match (&settlement.structured, settlement.is_error()) {
        (_, true) => None,
        (Structured::Own(_), _) => entry.structured.as_ref().or(entry.output.as_ref()),
        _ => entry.output.as_ref(),
    };
    let Some(structured) = settlement.structured() else {
        return;
    };
    if !repeats(structured, &shown) {
        return;
    }
    let mut copy = structured.clone();
    put_references(&mut copy, &shown);
    if schema.is_none_or(|schema| schema.is_valid(&copy)) {
        settlement.structured = Structured::own(copy);
    }
}

/// How many bytes a block holds that are no text.
fn bytes_of(block: &Content) -> Option<usize> {
    match block {
        Content::Media(media) => Some(media.data.len()),
        Content::Embedded(Embedded {
            body: EmbeddedBody::Blob(blob),
            ..
        }) => Some(blob.len()),
        _ => None,
    }
}

/// The type of a block, where it is written as types are: it ends up inside of JSON.
fn mime(block: &Content) -> &str {
    let mime = match block {
        Content::Media(media) => Some(&*media.mime),
        Content::Embedded(embedded) => embedded.mime.as_deref(),
        _ => None,
    };
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/+-.".contains(c);
    mime.filter(|mime| mime.len() <= 80 && mime.chars().all(is_plain))
        .unwrap_or("another type")
}

/// A text with references in it; `None` where it repeats nothing.
fn referred(text: &str, shown: &[Shown]) -> Option<String> {
    let mut referred = None::<String>;
    for Shown { base64, reference } in shown {
        let from = referred.as_deref().unwrap_or(text);
        if from.len() < base64.len() || !from.contains(base64) {
            continue;
        }
        let mut parts = from.split(base64);
        let mut new = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            new.push_str(reference);
            // The padding belongs to what is gone.
            new.push_str(part.trim_start_matches('='));
        }
        referred = Some(new);
    }
    referred
}

/// How many letters that many bytes are as base64.
fn unpadded(bytes: usize) -> usize {
    bytes.saturating_mul(4).div_ceil(3)
}

/// The bytes of the longest text in a value.
fn longest(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(longest).max().unwrap_or_default(),
        Value::Object(members) => members.values().map(longest).max().unwrap_or_default(),
        _ => 0,
    }
}

fn repeats(value: &Value, shown: &[Shown]) -> bool {
    match value {
        Value::String(text) => shown
            .iter()
            .any(|shown| text.len() >= shown.base64.len() && text.contains(&shown.base64)),
        Value::Array(items) => items.iter().any(|item| repeats(item, shown)),
        Value::Object(members) => members.values().any(|member| repeats(member, shown)),
        _ => false,
    }
}

fn put_references(value: &mut Value, shown: &[Shown]) {
    match value {
        Value::String(text) => {
            if let Some(referred) = referred(text, shown) {
                *text = referred;
            }
        }
        Value::Array(items) => items
            .iter_mut()
            .for_each(|item| put_references(item, shown)),
        Value::Object(members) => members
            .values_mut()
            .for_each(|member| put_references(member, shown)),
        _ => {}
    }
}

/// Fewer bytes cost about as much as a reference, and may be the same by chance.
const LEAST: usize = 96;
/// The most blocks that are looked for.
const MOST: usize = 16;
