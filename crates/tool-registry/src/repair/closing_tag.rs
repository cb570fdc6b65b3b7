//! Closing tags that stand after the arguments.

use std::ops::Range;

const TAGS: [&str; 5] = [
    "</tool_call>",
    "</invoke>",
    "</function>",
    "</parameter>",
    "</arguments>",
];

/// The text before the last closing tag, if one ends it.
pub(super) fn before(text: &str) -> Option<Range<usize>> {
    let trimmed = text.trim_end();
    let before = TAGS.iter().find_map(|tag| trimmed.strip_suffix(tag))?;
    Some(0..before.len())
}
