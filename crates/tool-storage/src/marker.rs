//! What a preview says about the part that it leaves out.

use thiserror::Error;

use crate::cut::Cut;

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
/// that is minted after the tool is done, so that no tool can have printed it.
#[derive(Clone, Copy, Debug)]
pub struct Marker<'a> {
    id: &'a str,
    hint: &'a ReadingHint,
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
        Self { id, hint }
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

    fn render(&self, left_out: usize, bytes: usize, cut: Cut) -> String {
        // The id goes in last: it holds no braces, a template might.
        let hint = self
            .hint
            .0
            .replace(OFFSET, &cut.head.to_string())
            .replace(ID, self.id);
        format!(
            "[The tool runtime, not the tool, left out {left_out} {} of {bytes} and {} {} of {} \
             here. The whole output is kept as {}. {hint}]",
            plural(left_out, "byte", "bytes"),
            cut.lines,
            plural(cut.lines, "line", "lines"),
            cut.all_lines,
            self.id,
        )
    }
}

fn plural(count: usize, one: &'static str, many: &'static str) -> &'static str {
    if count == 1 { one } else { many }
}

const ID: &str = "{id}";
const OFFSET: &str = "{offset}";
const DEFAULT_HINT: &str = r#"To read on, call read_output with {"id":"{id}","offset":{offset}}."#;
