//! What is shown of content that is kept nowhere.

use tool_core::{Content, Retention};

use crate::marker::Marker;
use crate::preview::marked;

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
    // Before, so that no cut hides the words of what was one; and after, as JSON that is cut has
    // its keys written anew, a bracket that was escaped among them.
    round_brackets(&mut content, None);
    let (mut shown, place) = marked(content, retention.bound, &marker);
    round_brackets(&mut shown, place);
    shown
}

/// Takes the square bracket from whatever begins as a marker does, but for the marker, if there is
/// one. Every text keeps its length.
fn round_brackets(content: &mut [Content], marker: Option<usize>) {
    let mut found = Vec::new();
    for (index, block) in content.iter().enumerate() {
        let text = block.as_text().filter(|_| Some(index) != marker);
        let Some(text) = text else { continue };
        for at in memchr::memchr_iter(b'[', text.as_bytes()) {
            // A model reads the texts as one, so that the words may stand in the next.
            let next = content.iter().skip(index + 1).filter_map(Content::as_text);
            let after = text.get(at + 1..).into_iter().chain(next);
            let words = after.flat_map(str::chars).filter(|c| !c.is_whitespace());
            if Marker::BEGINNINGS
                .iter()
                .any(|it| begins(words.clone(), it))
            {
                found.push((index, at));
            }
        }
    }
    for (index, at) in found {
        if let Some(Content::Text(text)) = content.get_mut(index) {
            text.text.replace_range(at..=at, "(");
        }
    }
}

/// Whether characters without white space begin with some words, in whatever case.
fn begins(mut text: impl Iterator<Item = char>, words: &str) -> bool {
    let mut words = words.chars().filter(|c| !c.is_whitespace());
    words.all(|c| text.next().is_some_and(|it| it.eq_ignore_ascii_case(&c)))
}
