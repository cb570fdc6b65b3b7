//! A code fence around the whole text.

use std::ops::Range;

/// The fewest backticks of a fence.
const LEAST: usize = 3;

/// The text inside of a fence, if one is around the whole.
pub(super) fn inside(text: &str) -> Option<Range<usize>> {
    let open = text.trim_start();
    let ticks = open.len() - open.trim_start_matches('`').len();
    if ticks < LEAST {
        return None;
    }
    let fence = open.get(..ticks)?;
    let closed = text.trim_end().strip_suffix(fence)?;
    let info = open.get(ticks..)?;
    // The name of a language, which is a word.
    let body = info.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || "+-_".contains(c));
    let start = text.len() - body.len();
    (start <= closed.len()).then_some(start..closed.len())
}
