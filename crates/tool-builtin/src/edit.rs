//! The tool that changes a part of a file.

use std::io::Read;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Map;
use tool_core::{Content, HandlerError, Permission, Tool, ToolFailure};

use crate::Workspace;
use crate::access::Access;
use crate::atomic;
use crate::hints;
use crate::nearest;
use crate::offload::{Stop, offload};
use crate::place::{Place, Target, refused, shown};
use crate::replacement::{Mismatch, Replaced, Replacement};
use crate::write::writable;

/// The most bytes of a file that is changed.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

#[derive(Deserialize, JsonSchema)]
struct Input {
    /// The file, relative to the workspace.
    path: String,
    /// The text to replace, exactly as it stands in the file, with enough around it to stand there
    /// only once.
    old_string: String,
    /// The text to put in its place.
    new_string: String,
    /// Replaces every place where the text stands. Off by default.
    replace_all: Option<bool>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Output {
    /// The path relative to the workspace, links resolved.
    path: String,
    /// How often the text was replaced.
    replacements: u64,
    /// The lines where it stood, before anything was replaced; the first 100 of them.
    lines: Vec<u64>,
    /// The bytes of the file now.
    bytes: u64,
}

/// The tool `edit`: replaces one text of a file by another.
///
/// It asks for the action `write` on the path, and tells the person who is asked how many bytes go
/// and come. The text must stand in the file exactly, and only once unless `replace_all` is given;
/// else the model reads at which lines it stands, or what is like it. Every other byte stays, the
/// mode too. In a file whose lines all end with CR LF, a line break of the arguments stands for
/// that. Files of more than 16 MiB are refused. The change is written aside and renamed; two
/// changes of one workspace never undo each other.
///
/// # Cancel safety
/// Dropping the call leaves the old contents or the new ones.
#[must_use]
pub fn edit(workspace: &Workspace, permission: Permission) -> Tool {
    let access = Access::new(workspace, permission);
    Tool::new(
        "Replace a text in a file of the workspace by another. The old text must stand in the file \
         exactly, blanks and line breaks included, and only once unless replace_all is true.",
        move |input: Input, cx| {
            let access = access.clone();
            async move {
                if input.old_string.is_empty() {
                    return Err(
                        ToolFailure::new("old_string is empty; use write to make a file").into(),
                    );
                }
                if input.old_string == input.new_string {
                    return Err(ToolFailure::new(
                        "old_string and new_string are the same; there is nothing to change",
                    )
                    .into());
                }
                let place = access.workspace.place(&input.path)?;
                let mut metadata = Map::new();
                metadata.insert("old_bytes".to_owned(), input.old_string.len().into());
                metadata.insert("new_bytes".to_owned(), input.new_string.len().into());
                let all = input.replace_all.unwrap_or(false);
                metadata.insert("replace_all".to_owned(), all.into());
                let target = access.ask(&cx, "write", &place, metadata).await?;
                offload(&cx, move |stop| {
                    let replacement = Replacement {
                        old: &input.old_string,
                        new: &input.new_string,
                        all,
                    };
                    change(&access.workspace, &place, &target, replacement, stop)
                })
                .await?
            }
        },
    )
    .model(|_input, output: Output| [Content::text(output.sentence())])
    .annotations(hints::writing("Edit file"))
    .capabilities([])
    .asserts_permission()
    .into()
}

fn change(
    workspace: &Workspace,
    place: &Place,
    target: &Target,
    replacement: Replacement<'_>,
    stop: &Stop,
) -> Result<Output, HandlerError> {
    if !target.exists {
        let hint = nearest::hint(workspace, &target.path);
        return Err(ToolFailure::new(format!("{place} does not exist{hint}")).into());
    }
    let refuse = |error| refused(&place.to_string(), error);
    let _writing = workspace.writing();
    let mode = writable(workspace, place, &target.path)?;
    let file = workspace.open_file(&target.path).map_err(refuse)?;
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(refuse)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(ToolFailure::new(format!(
            "{place} has more than {MAX_BYTES} bytes, which is the most that edit changes"
        ))
        .into());
    }
    let Replaced { bytes, mut lines } = replacement
        .apply(&bytes)
        .map_err(|mismatch| mismatched(place, &mismatch))?;
    atomic::replace(workspace, &target.path, &bytes, Some(mode), stop).map_err(refuse)?;
    let replacements = lines.len() as u64;
    lines.truncate(100);
    Ok(Output {
        path: shown(&target.path),
        replacements,
        lines,
        bytes: bytes.len() as u64,
    })
}

fn mismatched(place: &Place, mismatch: &Mismatch) -> ToolFailure {
    ToolFailure::new(match mismatch {
        Mismatch::Several(lines) => format!(
            "old_string stands {} times in {place}, {}; give more of the text around it, or set replace_all",
            lines.len(),
            at(lines)
        ),
        Mismatch::OtherBlanks(lines) => format!(
            "old_string is not in {place}; the same text with other blanks or line breaks is {}",
            at(lines)
        ),
        Mismatch::FirstLine(lines) => format!(
            "old_string is not in {place}; its first line is {}, but what follows differs",
            at(lines)
        ),
        Mismatch::Similar(line) => {
            format!("old_string is not in {place}; line {line} is most like its first line")
        }
        Mismatch::Nothing => format!("old_string is not in {place}, nor anything like it"),
    })
}

impl Output {
    fn sentence(&self) -> String {
        let times = match self.replacements {
            1 => "once".to_owned(),
            times => format!("{times} times"),
        };
        format!("replaced {times} in {}, {}", self.path, at(&self.lines))
    }
}

/// `at line 3` or `at lines 3, 5 and more`.
fn at(lines: &[u64]) -> String {
    const MOST: usize = 10;
    let numbers: Vec<_> = lines.iter().take(MOST).map(u64::to_string).collect();
    let word = if lines.len() == 1 { "line" } else { "lines" };
    let more = if lines.len() > MOST { " and more" } else { "" };
    format!("at {word} {}{more}", numbers.join(", "))
}
