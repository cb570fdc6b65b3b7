//! Where a text that is over its bound is cut.

use std::borrow::Cow;

use crate::joined::{lines, newlines};

/// What is left out of joined texts: the bytes from `head` to `tail`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cut {
    /// The end of the head.
    pub(crate) head: usize,
    /// The beginning of the tail.
    pub(crate) tail: usize,
    /// The lines of which nothing is shown.
    pub(crate) lines: usize,
    /// The lines in all.
    pub(crate) all_lines: usize,
}

/// What may be shown, marker excluded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    pub(crate) bytes: usize,
    pub(crate) lines: usize,
}

/// Both ends of a text, as far as a cut may show it, and what there is in all.
#[derive(Debug)]
pub(crate) struct Ends<'a> {
    /// The beginning: one byte more than may be shown, or all.
    pub(crate) prefix: Cow<'a, [u8]>,
    /// The end, likewise.
    pub(crate) suffix: Cow<'a, [u8]>,
    pub(crate) bytes: usize,
    pub(crate) newlines: usize,
    pub(crate) ends_in_newline: bool,
}

impl Ends<'_> {
    /// The lines in all. A trailing newline is none.
    pub(crate) fn lines(&self) -> usize {
        self.newlines + usize::from(self.bytes > 0 && !self.ends_in_newline)
    }
}

impl Cut {
    /// Shares a budget between head and tail.
    ///
    /// Each end has half at first; what one end leaves unused, because its lines are short or its
    /// one line is long, goes to the other.
    pub(crate) fn choose(ends: &Ends<'_>, budget: Budget) -> Self {
        let total = ends.bytes;
        // One byte more than can be shown tells what the cut would split.
        let reach = budget.bytes.saturating_add(1);
        let prefix = up_to(&ends.prefix, reach);
        let suffix = end_of(&ends.suffix, reach.min(ends.suffix.len()));
        let all_newlines = ends.newlines;
        let all_lines = ends.lines();

        // Both ends of one long line are shown, also where a single line may be.
        let lines_beside = |shown: &[u8]| match all_lines {
            1 => budget.lines,
            _ => budget.lines.saturating_sub(lines(shown)),
        };

        let half = head_end(prefix, budget.bytes.div_ceil(2), budget.lines.div_ceil(2));
        let beside_half = lines_beside(up_to(prefix, half));
        let tail_len = tail_len(suffix, total, budget.bytes - half, beside_half);
        let tail_shown = end_of(suffix, tail_len);
        let head = head_end(prefix, budget.bytes - tail_len, lines_beside(tail_shown))
            // What is over the bound has more than both; were they to meet, nothing would be shown
            // twice.
            .min(total - tail_len);

        let head_shown = up_to(prefix, head);
        let between = all_newlines
            .saturating_sub(newlines(head_shown))
            .saturating_sub(newlines(tail_shown));
        let share_a_line = between == 0
            && !tail_shown.is_empty()
            && head_shown.last().is_some_and(|last| *last != b'\n');
        let shown = lines(head_shown) + lines(tail_shown) - usize::from(share_a_line);
        Self {
            head,
            tail: total - tail_len,
            lines: all_lines.saturating_sub(shown),
            all_lines,
        }
    }
}

/// The end of the longest head within so many bytes and lines.
fn head_end(prefix: &[u8], bytes: usize, lines: usize) -> usize {
    let Some(last) = lines.checked_sub(1) else {
        return 0;
    };
    let allowed = up_to(prefix, bytes);
    if let Some(newline) = memchr::memchr_iter(b'\n', allowed).nth(last) {
        return newline + 1;
    }
    let mut end = allowed.len();
    while end > 0 && prefix.get(end).is_some_and(|next| is_continuation(*next)) {
        end -= 1;
    }
    if prefix.get(end) == Some(&b'\n') && up_to(prefix, end).last() == Some(&b'\r') {
        end -= 1;
    }
    // Whole lines are kept where that costs less than half; one long line is cut inside.
    match memchr::memrchr(b'\n', up_to(prefix, end)) {
        Some(newline) if newline + 1 >= end.div_ceil(2) && end < prefix.len() => newline + 1,
        _ => end,
    }
}

/// The length of the longest tail within so many bytes and lines.
fn tail_len(suffix: &[u8], total: usize, bytes: usize, lines: usize) -> usize {
    let Some(last) = lines.checked_sub(1) else {
        return 0;
    };
    let allowed = end_of(suffix, bytes);
    let body = allowed.strip_suffix(b"\n").unwrap_or(allowed);
    if let Some(newline) = memchr::memrchr_iter(b'\n', body).nth(last) {
        return allowed.len() - newline - 1;
    }
    if allowed.len() == total {
        return total;
    }
    let split = allowed
        .iter()
        .take_while(|byte| is_continuation(**byte))
        .count();
    let mut len = allowed.len() - split;
    // A tail begins on the line after a line end, not with the line end itself.
    if end_of(suffix, len).first() == Some(&b'\n') {
        len -= 1;
    }
    let begins_a_line = end_of(suffix, len + 1).first() == Some(&b'\n');
    if begins_a_line {
        return len;
    }
    let kept = end_of(suffix, len);
    match memchr::memchr(b'\n', kept.strip_suffix(b"\n").unwrap_or(kept)) {
        Some(newline) if len - newline > len / 2 => len - newline - 1,
        _ => len,
    }
}

fn is_continuation(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}

pub(crate) fn up_to(bytes: &[u8], end: usize) -> &[u8] {
    bytes.get(..end).unwrap_or(bytes)
}

pub(crate) fn end_of(bytes: &[u8], len: usize) -> &[u8] {
    bytes
        .len()
        .checked_sub(len)
        .and_then(|start| bytes.get(start..))
        .unwrap_or(bytes)
}
