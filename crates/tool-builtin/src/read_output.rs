//! The tool that reads a retained output back.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tool_core::{
    Bounding, Content, HandlerError, OutputReading, OutputStore, PageRequest, Permission,
    StoreError, StoreErrorKind, Tool, ToolFailure,
};

use crate::hints;

/// How many lines are read unless said otherwise.
const LINES: u64 = 2_000;
/// The most lines that a search gives.
const MAX_FOUND: usize = 100;
const MAX_BYTES: u64 = PageRequest::DEFAULT_BYTES as u64;

#[derive(Deserialize, JsonSchema)]
struct Input {
    /// The id of the output, from the note in a result that was too long to show.
    id: String,
    /// The first byte to read, from 0. Defaults to 0.
    offset: Option<u64>,
    /// The most bytes to read. Defaults to 51200, which is also the most.
    #[schemars(range(min = 1, max = MAX_BYTES))]
    max_bytes: Option<u64>,
    /// Read from this line on instead, from 1.
    #[schemars(range(min = 1))]
    line: Option<u64>,
    /// With `line`: the most lines to read. Defaults to 2000.
    #[schemars(range(min = 1))]
    lines: Option<u64>,
    /// Read the JSON value under this pointer instead, for example "/rows/0". The empty pointer is
    /// the whole.
    pointer: Option<String>,
    /// Find lines that hold this text instead, byte for byte.
    search: Option<String>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Output {
    #[serde(flatten)]
    report: Report,
    /// The text of the page.
    text: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Report {
    /// Where the page begins, in bytes.
    offset: u64,
    /// Where the next page begins; absent after the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<u64>,
    /// The bytes of the whole output, of the value under a pointer, or of the lines shown.
    total: u64,
    /// How to go on, where it is not read by bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

/// The tool `read_output`: a page of an output that was too long to show.
///
/// It asks for the action `output` on the id, and reads only outputs of the caller's own session.
/// A page has at most 50 KiB, begins and ends with whole characters, and is shown exactly as it is
/// stored, never retained again; a second block says where the next page begins. The pages of an
/// output, one after the other, are the whole of it.
///
/// # Cancel safety
/// Dropping the call ends the reading; nothing has changed.
#[must_use]
pub fn read_output(store: Arc<dyn OutputStore>, permission: Permission) -> Tool {
    Tool::new(
        "Read a part of an earlier result that was too long to show, by the id in its note.",
        move |input: Input, cx| {
            let (store, permission) = (Arc::clone(&store), permission.clone());
            async move {
                let mut assertion = permission.assert(&cx, "output", [&input.id]);
                if is_plain(&input.id) {
                    assertion = assertion.save(&input.id);
                }
                assertion.await?;
                if let Some(part) = part_of(&input) {
                    let output = OutputReading::of(&*store, &input.id, Some(cx.facts()));
                    return part.read(output, input.max_bytes).await;
                }
                let most = input.max_bytes.unwrap_or(MAX_BYTES).clamp(1, MAX_BYTES);
                let request = PageRequest::new(&input.id, Some(cx.facts()))
                    .offset(input.offset.unwrap_or(0))
                    .max_bytes(usize::try_from(most)?);
                let page = store.page(request).await.map_err(unreadable)?;
                Ok(Output {
                    report: Report {
                        offset: page.offset,
                        next: page.next,
                        total: page.total,
                        note: None,
                    },
                    // A store keeps text, and cuts it between characters.
                    text: String::from_utf8(page.bytes.into())?,
                })
            }
        },
    )
    .structured(|output: Output| output.report)
    .model(|_input, output| blocks(output))
    .bounding(Bounding::Inline)
    .annotations(hints::reading("Read retained output"))
    .capabilities([])
    .asserts_permission()
    .into()
}

/// A part of an output that is not named by bytes.
enum Part {
    Lines(u64, u64),
    Pointer(String),
    Search(String),
}

fn part_of(input: &Input) -> Option<Part> {
    if let Some(sought) = &input.search {
        return Some(Part::Search(sought.clone()));
    }
    if let Some(pointer) = &input.pointer {
        return Some(Part::Pointer(pointer.clone()));
    }
    let lines = input.lines.unwrap_or(LINES);
    input.line.map(|first| Part::Lines(first, lines))
}

impl Part {
    async fn read(
        self,
        output: OutputReading<'_>,
        max_bytes: Option<u64>,
    ) -> Result<Output, HandlerError> {
        let most = usize::try_from(max_bytes.unwrap_or(MAX_BYTES).clamp(1, MAX_BYTES))?;
        let (offset, total, note, text) = match self {
            Self::Lines(first, count) => {
                let last = first.saturating_add(count.saturating_sub(1));
                let read = output.lines(first..=last, most).await.map_err(unreadable)?;
                let note = match (read.next, read.cut_at) {
                    (Some(next), _) => Some(format!("[read on with line {next}]")),
                    (None, Some(offset)) => Some(format!(
                        "[the line is longer than a page; read on with offset {offset}]"
                    )),
                    (None, None) if read.text.is_empty() => {
                        Some("[the output has fewer lines]".to_owned())
                    }
                    (None, None) => None,
                };
                (read.offset, read.text.len() as u64, note, read.text)
            }
            Self::Pointer(pointer) => {
                let read = output.pointer(&pointer, most).await.map_err(unreadable)?;
                let value = read.ok_or_else(|| {
                    ToolFailure::new("the output is no JSON, or has nothing under that pointer")
                })?;
                let note = (value.text.len() < value.bytes).then(|| {
                    let inside = value.inside.as_deref().unwrap_or("a single value");
                    let (shown, bytes) = (value.text.len(), value.bytes);
                    format!("[{shown} of {bytes} bytes; it is {inside}; point inside of it]")
                });
                (0, value.bytes as u64, note, value.text)
            }
            Self::Search(sought) => {
                let found = output
                    .search(&sought, MAX_FOUND)
                    .await
                    .map_err(unreadable)?;
                let note = match (found.found.is_empty(), found.more) {
                    (true, _) => Some("[no line holds that]".to_owned()),
                    (false, true) => Some("[there are more; seek something longer]".to_owned()),
                    (false, false) => None,
                };
                let lines = found.found.iter();
                let lines = lines.map(|found| format!("{}: {}\n", found.line, found.text));
                let text: String = lines.collect();
                (0, text.len() as u64, note, text)
            }
        };
        Ok(Output {
            report: Report {
                offset,
                next: None,
                total,
                note,
            },
            text,
        })
    }
}

/// Unknown, expired and another session's are one and the same to a model.
fn unreadable(error: StoreError) -> HandlerError {
    match error.kind() {
        StoreErrorKind::NotFound => {
            let failure = ToolFailure::new(
                "there is no output of that id; it may have expired, and ids hold only in the session that made them",
            );
            failure.because(error).into()
        }
        StoreErrorKind::TooLarge => {
            let failure = ToolFailure::new("the output is too large for that; read it by bytes");
            failure.because(error).into()
        }
        _ => error.into(),
    }
}

/// Whether a pattern of that text means that text only.
fn is_plain(id: &str) -> bool {
    id.chars()
        .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
}

fn blocks(output: Output) -> Vec<Content> {
    let Output { report, text } = output;
    let note = match report.next {
        _ if report.note.is_some() => report.note,
        Some(next) => Some(format!(
            "[bytes {} to {next} of {}; read on with offset {next}]",
            report.offset, report.total
        )),
        None if text.is_empty() => Some(format!(
            "[the output ends at byte {}; there is nothing to read]",
            report.total
        )),
        None => None,
    };
    let page = (!text.is_empty()).then_some(text);
    page.into_iter().chain(note).map(Content::text).collect()
}
