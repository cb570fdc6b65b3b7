//! What a model is shown of content that is over its bound.

use tool_core::{Bound, Content, Text};

use crate::cut::{Budget, Cut};
use crate::joined::Joined;
use crate::json_cut::JsonCut;
use crate::marker::Marker;

/// Replaces the texts of some content with their beginning, a marker and their end.
///
/// Content within the bound comes back as it is. Otherwise:
///
/// - The shown beginning is a prefix of what [`DirStore`](crate::DirStore) stores of the same
///   content, the shown end a suffix. They take half of the bound each, and what one end does not
///   use goes to the other. Neither splits a character or the two bytes of a CRLF. They end and
///   begin with a line, unless that would cost half of an end: then the line is cut inside.
/// - The [`Marker`] stands between them as a text block of its own, which is said
///   [by the runtime](tool_core::Speaker). It says who cut, how many
///   bytes are left out of how many, how many lines *of which nothing is shown* are left out of
///   how many, the id, and how to read on.
/// - A text that is JSON, one list or one object of at most 8 MiB, stays JSON: whole items are left
///   out, the last of a list and the largest members of an object, and the marker counts them by
///   place. Only where that would show next to nothing, as of one long string, both ends are shown.
/// - Blocks that are no text stay as they are and where they are. Texts of which nothing is shown,
///   empty ones among them, vanish. A text that is cut keeps its annotations on both parts and its
///   data for programs on the first.
///
/// All of it, the marker included, is within the bound, with two exceptions for bounds that leave
/// no room: a bound of fewer bytes than the marker has shows the marker alone, and whole; and under
/// a bound of one or two lines these are the output's own and the marker's line comes on top, so
/// that of three lines under a bound of two exactly one is left out.
///
/// Reads the texts once to count their lines; beyond that the cost depends on the bound alone.
///
/// ```
/// use tool_core::{Bound, Content};
/// use tool_storage::{Marker, ReadingHint, preview};
///
/// let hint = ReadingHint::new("Read {id} from byte {offset}.")?;
/// let shown = preview(
///     vec![Content::text("one\ntwo\nthree\n")],
///     Bound::new(1_000, 2)?,
///     &Marker::new("out_x", &hint),
/// );
/// let texts: Vec<_> = shown.iter().filter_map(Content::as_text).collect();
/// assert_eq!(texts, [
///     "one\n",
///     "[The tool runtime, not the tool, left out 4 bytes of 14 and 1 line of 3 here. \
///      The whole output is kept as out_x. Read out_x from byte 4.]",
///     "three\n",
/// ]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn preview(content: Vec<Content>, bound: Bound, marker: &Marker<'_>) -> Vec<Content> {
    marked(content, bound, marker).0
}

/// A preview, and which of its blocks is the marker, where it has one.
pub(crate) fn marked(
    content: Vec<Content>,
    bound: Bound,
    marker: &Marker<'_>,
) -> (Vec<Content>, Option<usize>) {
    if !bound.is_exceeded_by(content.iter().filter_map(Content::as_text)) {
        return (content, None);
    }
    let content = match preview_json(content, bound, marker) {
        Ok((shown, marker)) => return (shown, Some(marker)),
        Err(content) => content,
    };
    let joined = Joined::new(&content);
    let budget = budget(bound, marker, joined.len());
    let cut = Cut::choose(&joined.ends(budget.bytes.saturating_add(1)), budget);
    let mut shown = Shown {
        cut,
        marker: Some(marker.text(joined.len(), cut)),
        marked: None,
        content: Vec::with_capacity(content.len().min(MANY) + 2),
    };
    let starts: Vec<usize> = joined.parts().iter().map(|part| part.start).collect();
    let mut starts = starts.into_iter();
    for block in content {
        match block {
            Content::Text(text) if text.text.is_empty() => {}
            Content::Text(text) => {
                // There is one start for every text that is not empty.
                let start = starts.next().unwrap_or_default();
                shown.text(text, start);
            }
            other => shown.content.push(other),
        }
    }
    shown.mark();
    (shown.content, shown.marked)
}

/// Shows one text that is a list or an object as a shorter one that is JSON too, and the marker
/// after it; says which block that is. Gives any other content back.
fn preview_json(
    mut content: Vec<Content>,
    bound: Bound,
    marker: &Marker<'_>,
) -> Result<(Vec<Content>, usize), Vec<Content>> {
    let mut texts = content.iter().enumerate().filter_map(|(at, block)| {
        let text = block.as_text().filter(|text| !text.is_empty())?;
        Some((at, text))
    });
    let Some((at, text)) = texts.next() else {
        return Err(content);
    };
    let room = bound
        .bytes()
        .saturating_sub(marker.longest_of_json(text.len()));
    if texts.next().is_some() || bound.lines() < 2 || room < LEAST_OF_JSON {
        return Err(content);
    }
    let Some(cut) = JsonCut::of(text, room) else {
        return Err(content);
    };
    let marker = marker.text_of_json(text.len(), &cut);
    if let Some(Content::Text(text)) = content.get_mut(at) {
        text.text = cut.text;
    }
    content.insert(at + 1, Content::notice(marker));
    let is_shown = |block: &Content| block.as_text() != Some("");
    let before = content.iter().take(at + 1).filter(|block| is_shown(block));
    let place = before.count();
    content.retain(is_shown);
    Ok((content, place))
}

/// What may be shown beside the marker of an output of so many bytes.
pub(crate) fn budget(bound: Bound, marker: &Marker<'_>, bytes: usize) -> Budget {
    // No bytes can hold more lines than they are, plus one.
    let longest = marker.longest(bytes, bytes.saturating_add(1));
    Budget {
        bytes: bound.bytes().saturating_sub(longest),
        lines: match bound.lines() {
            few @ (1 | 2) => few,
            lines => lines - 1,
        },
    }
}

struct Shown {
    cut: Cut,
    marker: Option<String>,
    /// Which block is the marker, once it is put.
    marked: Option<usize>,
    content: Vec<Content>,
}

impl Shown {
    fn text(&mut self, text: Text, start: usize) {
        let end = start + text.text.len();
        if end <= self.cut.head {
            self.content.push(Content::Text(text));
            return;
        }
        let head = self.cut.head.saturating_sub(start);
        let tail = self.cut.tail.saturating_sub(start);
        let mut meta = text.meta;
        // Copies, so that a preview never holds on to the whole.
        for (part, is_tail) in [
            (text.text.get(..head), false),
            (text.text.get(tail..), true),
        ] {
            if is_tail {
                self.mark();
            }
            if let Some(part) = part.filter(|part| !part.is_empty()) {
                let mut shown = Text::default();
                shown.text = part.to_owned();
                shown.annotations.clone_from(&text.annotations);
                shown.meta = meta.take();
                self.content.push(Content::Text(shown));
            }
        }
    }

    /// Puts the marker, once.
    fn mark(&mut self) {
        if let Some(marker) = self.marker.take() {
            self.marked = Some(self.content.len());
            self.content.push(Content::notice(marker));
        }
    }
}

/// A bound that leaves less than that for JSON shows both ends of the text instead.
const LEAST_OF_JSON: usize = 64;
/// More blocks than a preview usually shows.
const MANY: usize = 64;
