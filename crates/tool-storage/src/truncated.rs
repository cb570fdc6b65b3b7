//! What is shown of content that is kept nowhere.

use std::borrow::Cow;

use tool_core::{Content, Retention};

use crate::marker::Marker;
use crate::preview::preview;

/// Shows content in part, with a marker that nothing in the content can be taken for.
///
/// The marker of what is kept names an id that nobody could know before, and can be tried. This one
/// names nothing, so that a tool could print its like and claim that more, or less, was left out.
/// Therefore a text that begins as a marker does is shown with a round bracket in place of the
/// square one: of what is shown, the marker alone begins like that. Nothing is kept here that it
/// could differ from.
pub(crate) fn truncated(retention: Retention<'_>) -> Vec<Content> {
    let marker = Marker::of_nothing().loss(retention.loss);
    let mut content = retention.content;
    for block in &mut content {
        if let Content::Text(text) = block
            && let Cow::Owned(other) = unlike_markers(&text.text)
        {
            text.text = other;
        }
    }
    preview(content, retention.bound, &marker)
}

/// The text, of the same length, without what begins as a marker does.
fn unlike_markers(text: &str) -> Cow<'_, str> {
    let mut parts = Vec::new();
    let mut taken = 0;
    for at in memchr::memchr_iter(b'[', text.as_bytes()) {
        let (Some(before), Some(after)) = (text.get(taken..at), text.get(at + 1..)) else {
            continue;
        };
        let words = after.trim_start().as_bytes();
        let is_like = |begins: &str| {
            let start = words.get(..begins.len());
            start.is_some_and(|start| start.eq_ignore_ascii_case(begins.as_bytes()))
        };
        if Marker::BEGINNINGS.iter().any(|begins| is_like(begins)) {
            parts.extend([before, "("]);
            taken = at + 1;
        }
    }
    if parts.is_empty() {
        return Cow::Borrowed(text);
    }
    parts.extend(text.get(taken..));
    Cow::Owned(parts.concat())
}
