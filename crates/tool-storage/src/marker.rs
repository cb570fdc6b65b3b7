//! What a preview says about the part that it leaves out.

use thiserror::Error;
use tool_core::Loss;

use crate::cut::Cut;
use crate::json_cut::JsonCut;

/// How to read on, in words for a model.
///
/// A template in which `{id}` stands for the id of the output and `{offset}` for the first byte
/// that is left out. It costs budget of every preview, so it should be short. Defaults to a call
/// of the tool `read_output` with these two arguments.
///
/// ```
/// use tool_storage::ReadingHint;
///
/// let hint = ReadingHint::new("To read on, run `tool output read {id}`.")?;
/// assert!(ReadingHint::new("Ask the operator.").is_err());
/// # Ok::<(), tool_storage::ReadingHintError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadingHint(String);

/// A hint that would lead nowhere.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the reading hint {flaw}")]
pub struct ReadingHintError {
    flaw: &'static str,
}

/// The marker that stands where a preview leaves something out.
///
/// It is a text block of its own, so that it never stands inside a tool's data, and it names an id
/// that is minted after the tool is done, so that no tool can have printed it; a tool that prints the
/// like of it names an output that is not there.
#[derive(Clone, Copy, Debug)]
pub struct Marker<'a> {
    /// The id of the output and how to read it; `None` where it is kept nowhere.
    kept: Option<(&'a str, &'a ReadingHint)>,
    loss: Option<&'a Loss>,
}

impl ReadingHint {
    /// A hint from a template.
    ///
    /// # Errors
    /// [`ReadingHintError`] when the template lacks `{id}` or has more than one line.
    pub fn new(template: impl Into<String>) -> Result<Self, ReadingHintError> {
        let template = template.into();
        let flaw = if !template.contains(ID) {
            "does not hold `{id}`"
        } else if template.contains(['\n', '\r']) {
            "has more than one line"
        } else {
            return Ok(Self(template));
        };
        Err(ReadingHintError { flaw })
    }
}

impl Default for ReadingHint {
    fn default() -> Self {
        Self(DEFAULT_HINT.to_owned())
    }
}

impl<'a> Marker<'a> {
    /// The marker of a retained output and how to read it.
    #[must_use]
    pub fn new(id: &'a str, hint: &'a ReadingHint) -> Self {
        Self {
            kept: Some((id, hint)),
            loss: None,
        }
    }

    /// What every marker begins with after its bracket.
    pub(crate) const BEGINNINGS: [&'static str; 2] = ["The tool runtime", "The tool itself"];

    /// The marker of an output that is kept nowhere.
    ///
    /// It names nothing that a tool could not print as well. [`truncate`](tool_core::OutputStore::truncate)
    /// of the stores here alters whatever else in the texts begins like it. What a tool prints that is
    /// not cut is shown as it is, and who says it tells: [`Speaker`](tool_core::Speaker).
    #[must_use]
    pub fn of_nothing() -> Self {
        Self {
            kept: None,
            loss: None,
        }
    }

    /// Adds what the tool itself had left out before.
    #[must_use]
    pub fn loss(mut self, loss: Option<&'a Loss>) -> Self {
        self.loss = loss;
        self
    }

    /// What is said of a loss where nothing else is left out.
    pub(crate) fn note(&self, loss: &Loss) -> String {
        let kept = self.kept.map_or_else(String::new, |(id, _)| {
            format!(" All that is shown here is kept as {id}.")
        });
        let loss = unbracketed(&loss.to_string());
        format!("[The tool itself left out {loss}; nobody keeps them.{kept}]")
    }

    /// The most bytes that the marker can take for any cut of so many bytes and lines.
    pub(crate) fn longest(&self, bytes: usize, lines: usize) -> usize {
        let widest = Cut {
            head: bytes,
            tail: bytes,
            lines,
            all_lines: lines,
        };
        // One plural `s` may come on top: "0 lines of 1" is longer than "1 line of 1".
        self.render(bytes, bytes, widest).len() + 2
    }

    pub(crate) fn text(&self, bytes: usize, cut: Cut) -> String {
        self.render(cut.tail - cut.head, bytes, cut)
    }

    /// The most bytes that the marker of JSON can take.
    pub(crate) fn longest_of_json(&self, bytes: usize) -> usize {
        let shortest = JsonCut {
            text: String::new(),
            places: Vec::new(),
        };
        self.text_of_json(bytes, &shortest).len() + PLACES * (POINTER + 60)
    }

    pub(crate) fn text_of_json(&self, bytes: usize, cut: &JsonCut) -> String {
        let mut places: Vec<_> = cut.places.iter().collect();
        places.sort_by_key(|place| std::cmp::Reverse(place.left_out));
        let mut said = String::new();
        for place in places.iter().take(PLACES) {
            let whole: String = place.pointer.chars().flat_map(char::escape_debug).collect();
            let mut pointer: String = whole.chars().take(POINTER / 4).collect();
            if pointer.len() < whole.len() {
                pointer.push('…');
            }
            if pointer.is_empty() {
                pointer.push_str("the top");
            }
            let pointer = unbracketed(&pointer);
            said.push_str(&format!(
                "; {} {} of {} at {pointer}",
                place.left_out,
                plural(place.left_out, "item", "items"),
                place.of
            ));
        }
        if places.len() > PLACES {
            said.push_str("; and items elsewhere");
        }
        if said.is_empty() {
            said.push_str("; white space only");
        }
        let (kept, loss) = (self.kept(0), self.said_of_loss());
        format!(
            "[The tool runtime, not the tool, left out {} of {bytes} bytes of the JSON above{said}. \
             {kept}{loss}]",
            bytes.saturating_sub(cut.text.len()),
        )
    }

    /// Where the whole is, and how to read it from an offset on.
    fn kept(&self, offset: usize) -> String {
        match self.kept {
            // The id goes in last: it holds no braces, a template might.
            Some((id, hint)) => {
                let hint = hint.0.replace(OFFSET, &offset.to_string()).replace(ID, id);
                format!("The whole output is kept as {id}. {hint}")
            }
            None => "It is kept nowhere.".to_owned(),
        }
    }

    fn said_of_loss(&self) -> String {
        self.loss.map_or_else(String::new, |loss| {
            let loss = unbracketed(&loss.to_string());
            format!(" The tool itself had left out {loss} before; nobody keeps them.")
        })
    }

    fn render(&self, left_out: usize, bytes: usize, cut: Cut) -> String {
        let (kept, loss) = (self.kept(cut.head), self.said_of_loss());
        format!(
            "[The tool runtime, not the tool, left out {left_out} {} of {bytes} and {} {} of {} \
             here. {kept}{loss}]",
            plural(left_out, "byte", "bytes"),
            cut.lines,
            plural(cut.lines, "line", "lines"),
            cut.all_lines,
        )
    }
}

/// What a tool has named, so that it neither begins nor ends a marker inside of one.
fn unbracketed(named: &str) -> String {
    named.replace('[', "(").replace(']', ")")
}

fn plural(count: usize, one: &'static str, many: &'static str) -> &'static str {
    if count == 1 { one } else { many }
}

/// How many places a marker of JSON names, and the bytes that each may take.
const PLACES: usize = 3;
const POINTER: usize = 160;
const ID: &str = "{id}";
const OFFSET: &str = "{offset}";
const DEFAULT_HINT: &str = r#"To read on, call read_output with {"id":"{id}","offset":{offset}}."#;
