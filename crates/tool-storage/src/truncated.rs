//! What is shown of content that is kept nowhere.

use tool_core::{Content, EmbeddedBody, Retention};

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
/// one. Every text keeps its length; texts inside of embedded resources are read by models too.
fn round_brackets(content: &mut [Content], marker: Option<usize>) {
    let mut found = Vec::new();
    for (index, block) in content.iter().enumerate() {
        let text = text_of(block).filter(|_| Some(index) != marker);
        let Some(text) = text else { continue };
        for at in memchr::memchr_iter(b'[', text.as_bytes()) {
            // A model reads the texts as one, so that the words may stand in the next.
            let next = content.iter().skip(index + 1).filter_map(text_of);
            let after = text.get(at + 1..).into_iter().chain(next);
            let words = after.flat_map(str::chars).filter(|c| is_seen(*c));
            if Marker::BEGINNINGS
                .iter()
                .any(|it| begins(words.clone(), it))
            {
                found.push((index, at));
            }
        }
    }
    for (index, at) in found {
        let text = match content.get_mut(index) {
            Some(Content::Text(text)) => &mut text.text,
            Some(Content::Embedded(embedded)) => match &mut embedded.body {
                EmbeddedBody::Text(text) => text,
                _ => continue,
            },
            _ => continue,
        };
        text.replace_range(at..=at, "(");
    }
}

/// What a model reads of a block.
fn text_of(block: &Content) -> Option<&str> {
    match block {
        Content::Text(text) => Some(&text.text),
        Content::Embedded(embedded) => match &embedded.body {
            EmbeddedBody::Text(text) => Some(text),
            _ => None,
        },
        _ => None,
    }
}

/// Whether characters that are seen begin with some words, in whatever case.
fn begins(mut text: impl Iterator<Item = char>, words: &str) -> bool {
    let mut words = words.chars().filter(|c| !c.is_whitespace());
    words.all(|c| text.next().is_some_and(|it| it.eq_ignore_ascii_case(&c)))
}

/// Whether a character is seen. White space, controls and what Unicode has programs ignore by
/// default are not (`DerivedCoreProperties.txt` of Unicode 16.0, `Default_Ignorable_Code_Point`, and
/// the interlinear annotations U+FFF9 to U+FFFB): joiners, directions, soft hyphens, fillers,
/// variation selectors and tags.
fn is_seen(c: char) -> bool {
    !c.is_whitespace()
        && !c.is_control()
        && !matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}
