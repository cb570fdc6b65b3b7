//! Which bytes a page holds.

use std::ops::Range;

/// How many bytes around a page decide where it begins and ends: a character has at most four.
pub(crate) const MARGIN: u64 = 4;

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
