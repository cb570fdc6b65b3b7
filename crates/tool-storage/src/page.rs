//! Which bytes a page holds.

use std::ops::Range;

use bytes::Bytes;
use tool_core::{OutputPage, PageRequest};

/// How many bytes around a page decide where it begins and ends: a character has at most four.
const MARGIN: u64 = 4;

/// The bytes of an output that decide about a page: those of the page and [`MARGIN`] on both sides.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    first: u64,
    last: u64,
    offset: u64,
    len: u64,
    total: u64,
}

impl Window {
    /// The window for a page of an output of so many bytes.
    pub(crate) fn of(request: &PageRequest<'_>, total: u64) -> Self {
        let offset = request.offset.min(total);
        let len = (request.max_bytes.max(1) as u64).min(total);
        Self {
            first: offset.saturating_sub(MARGIN),
            last: offset.saturating_add(len).saturating_add(MARGIN).min(total),
            offset,
            len,
            total,
        }
    }

    /// Where it lies in the output.
    pub(crate) fn range(&self) -> Range<u64> {
        self.first..self.last
    }

    /// The page in the bytes of the window. `None` when they are not as many as it has.
    pub(crate) fn page(self, bytes: impl Into<Bytes>) -> Option<OutputPage> {
        let bytes = bytes.into();
        if bytes.len() as u64 != self.last - self.first {
            return None;
        }
        // Both are below the window's length, or clamped to it.
        let begin = usize::try_from(self.offset - self.first).unwrap_or(usize::MAX);
        let len = usize::try_from(self.len).unwrap_or(usize::MAX);
        let page = page_range(&bytes, begin, len);
        let start = self.first + page.start as u64;
        Some(OutputPage::new(bytes.slice(page), start, self.total))
    }
}

/// The page inside a window of an output, as a range of the window.
///
/// `begin` and `len` say what was asked for, in bytes of the window, which holds [`MARGIN`] bytes
/// more on both sides where the output has them. A page that would begin inside a character begins
/// with it, one that would end inside a character ends before it, and one that would hold nothing
/// holds one character. Bytes that belong to no character stand for themselves, so that pages of
/// any bytes, one after the other, are these bytes.
pub(crate) fn page_range(window: &[u8], begin: usize, len: usize) -> Range<usize> {
    let begin = character_around(window, begin).map_or(begin, |character| character.start);
    let end = begin.saturating_add(len.max(1)).min(window.len());
    match character_around(window, end) {
        Some(character) if character.start > begin => begin..character.start,
        Some(character) => begin..character.end,
        None => begin..end,
    }
}

/// The character that a position is inside of, neither before nor after it.
fn character_around(window: &[u8], position: usize) -> Option<Range<usize>> {
    for back in 1..MARGIN as usize {
        let start = position.checked_sub(back)?;
        let len = match window.get(start)? {
            0x80..=0xBF => continue,
            0xC0..=0xDF => 2,
            0xE0..=0xEF => 3,
            0xF0..=0xF7 => 4,
            _ => return None,
        };
        let character = start..start + len;
        let is_valid = str::from_utf8(window.get(character.clone())?).is_ok();
        return (is_valid && character.contains(&position)).then_some(character);
    }
    None
}

#[cfg(test)]
mod tests;
