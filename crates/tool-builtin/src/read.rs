//! The tool that reads a file or lists a folder.

use std::io::{self, BufRead, BufReader, Read};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cap_std::fs::File;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Map;
use tool_core::{Content, HandlerError, Permission, Tool, ToolFailure};

use crate::Workspace;
use crate::access::Access;
use crate::hints;
use crate::nearest;
use crate::offload::{Stop, offload};
use crate::page::{Beyond, Page, PageLimits, Position, read_page};
use crate::place::{Place, Target, refused, shown};
use crate::sniff::Sniffed;

/// The most bytes of text in one call: what the default bound shows, less room for the note.
const MAX_BYTES: usize = 50_000;
/// The most lines in one call, likewise.
const MAX_LINES: u64 = 1_990;
/// The most bytes of an image. Providers refuse larger ones.
const MAX_IMAGE_BYTES: u64 = 5 * 1024 * 1024;
/// The most entries of a folder.
const MAX_ENTRIES: usize = 1_000;

#[derive(Deserialize, JsonSchema)]
struct Input {
    /// The file or folder, relative to the workspace. "." is the workspace itself.
    path: String,
    /// The first line to read, from 1. Defaults to 1.
    #[schemars(range(min = 1))]
    offset: Option<u64>,
    /// The most lines to read. Defaults to 1990, which is also the most.
    #[schemars(range(min = 1, max = MAX_LINES))]
    limit: Option<u64>,
    /// Where to begin in the first line, in bytes from 0. Only of use in a line that is too long
    /// for one call. Defaults to 0.
    column: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Text,
    Image,
    Folder,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Output {
    #[serde(flatten)]
    report: Report,
    /// The text of a text file, exactly as it stands there.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// The bytes of an image in base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<String>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Report {
    /// The path relative to the workspace, links resolved.
    path: String,
    /// What is there.
    kind: Kind,
    /// The size of the whole file in bytes; of a folder, the number of its entries.
    size: u64,
    /// The number of lines read.
    #[serde(skip_serializing_if = "Option::is_none")]
    lines: Option<u64>,
    /// Where the text goes on, if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<Next>,
    /// The text holds bytes that are not UTF-8; each such sequence is shown as U+FFFD.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    lossy: bool,
    /// The MIME type of an image.
    #[serde(skip_serializing_if = "Option::is_none")]
    mime: Option<String>,
    /// The entries of a folder, sorted, folders with a "/" at the end and links with a "@".
    #[serde(skip_serializing_if = "Option::is_none")]
    entries: Option<Vec<String>>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Next {
    /// The line.
    offset: u64,
    /// The byte in that line.
    column: u64,
}

/// The tool `read`: a text file in whole or by lines, an image, or the entries of a folder.
///
/// It asks for the action `read` on the path. One call shows at most 1,990 lines and 50,000 bytes
/// of text and says where the text goes on; images (PNG, JPEG, GIF, WebP) pass up to 5 MiB; a
/// folder shows its first 1,000 entries. Other binary files, missing files and whatever the
/// operating system refuses are failures that the model reads.
///
/// # Cancel safety
/// Dropping the call ends the reading; nothing has changed.
#[must_use]
pub fn read(workspace: &Workspace, permission: Permission) -> Tool {
    let access = Access::new(workspace, permission);
    Tool::new(
        "Read a file of the workspace, or list a folder. Text comes exactly as it stands in the \
         file, without line numbers; a long file comes in parts, with a note on how to read on. \
         PNG, JPEG, GIF and WebP images are shown.",
        move |input: Input, cx| {
            let access = access.clone();
            async move {
                let place = access.workspace.place(&input.path)?;
                let target = access.ask(&cx, "read", &place, Map::new()).await?;
                offload(&cx, move |stop| {
                    read_target(&access.workspace, &place, &target, &input, stop)
                })
                .await?
            }
        },
    )
    .structured(|output: Output| output.report)
    .model(|_input, output| blocks(output))
    .annotations(hints::reading("Read file"))
    .capabilities([])
    .asserts_permission()
    .into()
}

fn read_target(
    workspace: &Workspace,
    place: &Place,
    target: &Target,
    input: &Input,
    stop: &Stop,
) -> Result<Output, HandlerError> {
    if !target.exists {
        let hint = nearest::hint(workspace, &target.path);
        return Err(ToolFailure::new(format!("{place} does not exist{hint}")).into());
    }
    let refuse = |error| refused(&place.to_string(), error);
    let metadata = workspace
        .dir()
        .symlink_metadata(crate::workspace::dotted(&target.path))
        .map_err(refuse)?;
    if metadata.is_dir() {
        return list(workspace, target).map_err(refuse);
    }
    if !metadata.is_file() {
        return Err(not_a_file(place).into());
    }
    let file = workspace.open_file(&target.path).map_err(refuse)?;
    let metadata = file.metadata().map_err(refuse)?;
    if !metadata.is_file() {
        return Err(not_a_file(place).into());
    }
    let size = metadata.len();
    let mut file = BufReader::with_capacity(64 * 1024, file);
    let head = file.fill_buf().map_err(refuse)?;
    match Sniffed::of(head.get(..8 * 1024).unwrap_or(head)) {
        Sniffed::Text => text(file, place, target, size, input, stop),
        Sniffed::Image(mime) => image(file, place, target, size, mime),
        Sniffed::Binary(what) => Err(ToolFailure::new(format!(
            "{place} is {what} of {size} bytes and cannot be shown as text"
        ))
        .into()),
    }
}

fn text(
    mut file: BufReader<File>,
    place: &Place,
    target: &Target,
    size: u64,
    input: &Input,
    stop: &Stop,
) -> Result<Output, HandlerError> {
    let from = Position {
        line: input.offset.unwrap_or(1).max(1),
        column: input.column.unwrap_or(0),
    };
    let limits = PageLimits {
        lines: input.limit.unwrap_or(MAX_LINES).clamp(1, MAX_LINES),
        bytes: MAX_BYTES,
    };
    let page = read_page(&mut file, from, limits, stop)
        .map_err(|error| refused(&place.to_string(), error))?;
    let Page { bytes, lines, next } = page.map_err(|beyond| match beyond {
        Beyond::Lines(lines) => ToolFailure::new(format!("{place} has only {lines} lines")),
        Beyond::Columns(bytes) => ToolFailure::new(format!(
            "line {} of {place} has only {bytes} bytes",
            from.line
        )),
    })?;
    let (text, lossy) = match String::from_utf8(bytes) {
        Ok(text) => (text, false),
        Err(error) => (String::from_utf8_lossy(error.as_bytes()).into_owned(), true),
    };
    Ok(Output {
        report: Report {
            lines: Some(lines),
            next: next.map(|next| Next {
                offset: next.line,
                column: next.column,
            }),
            lossy,
            ..Report::new(target, Kind::Text, size)
        },
        text: Some(text),
        data: None,
    })
}

fn image(
    file: BufReader<File>,
    place: &Place,
    target: &Target,
    size: u64,
    mime: &str,
) -> Result<Output, HandlerError> {
    let mut bytes = Vec::new();
    // The file may have grown since its size was read.
    file.take(MAX_IMAGE_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| refused(&place.to_string(), error))?;
    if bytes.len() as u64 > MAX_IMAGE_BYTES {
        return Err(ToolFailure::new(format!(
            "{place} is an image of {size} bytes; the most that can be shown is {MAX_IMAGE_BYTES}"
        ))
        .into());
    }
    Ok(Output {
        report: Report {
            mime: Some(mime.to_owned()),
            ..Report::new(target, Kind::Image, size)
        },
        text: None,
        data: Some(STANDARD.encode(bytes)),
    })
}

fn list(workspace: &Workspace, target: &Target) -> io::Result<Output> {
    let mut entries = Vec::new();
    for entry in workspace.open_folder(&target.path)?.entries()? {
        let entry = entry?;
        let mut name = shown(entry.file_name().as_ref());
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => name.push('/'),
            Ok(kind) if kind.is_symlink() => name.push('@'),
            _ => {}
        }
        entries.push(name);
    }
    entries.sort_unstable();
    let size = entries.len() as u64;
    entries.truncate(MAX_ENTRIES);
    Ok(Output {
        report: Report {
            entries: Some(entries),
            ..Report::new(target, Kind::Folder, size)
        },
        text: None,
        data: None,
    })
}

fn not_a_file(place: &Place) -> ToolFailure {
    ToolFailure::new(format!(
        "{place} is neither a file nor a folder and cannot be read"
    ))
}

impl Report {
    fn new(target: &Target, kind: Kind, size: u64) -> Self {
        Self {
            path: shown(&target.path),
            kind,
            size,
            lines: None,
            next: None,
            lossy: false,
            mime: None,
            entries: None,
        }
    }

    /// What the text alone does not say.
    fn note(&self) -> Option<String> {
        let mut notes = Vec::new();
        if self.size == 0 {
            notes.push(format!("{} is empty", self.path));
        }
        match &self.next {
            Some(Next { offset, column: 0 }) => notes.push(format!(
                "{} has {} bytes and goes on; read on with offset {offset}",
                self.path, self.size
            )),
            Some(Next { offset, column }) => notes.push(format!(
                "line {offset} of {} goes on; read on with offset {offset} and column {column}",
                self.path
            )),
            None => {}
        }
        if self.lossy {
            notes.push("bytes that are not UTF-8 are shown as U+FFFD".to_owned());
        }
        if let Some(entries) = &self.entries {
            let more = self.size - (entries.len() as u64).min(self.size);
            if more > 0 {
                notes.push(format!("{more} more entries are not shown; use glob"));
            }
        }
        (!notes.is_empty()).then(|| format!("[{}]", notes.join("; ")))
    }
}

fn blocks(output: Output) -> Vec<Content> {
    let note = output.report.note();
    let mut blocks = Vec::new();
    if let Some(text) = output.text.filter(|text| !text.is_empty()) {
        blocks.push(Content::text(text));
    }
    if let (Some(data), Some(mime)) = (output.data, &output.report.mime) {
        // The data is this tool's own encoding.
        if let Ok(bytes) = STANDARD.decode(data) {
            blocks.push(Content::image(mime, bytes));
        }
    }
    if let Some(entries) = output.report.entries.filter(|entries| !entries.is_empty()) {
        blocks.push(Content::text(entries.join("\n")));
    }
    blocks.extend(note.map(Content::text));
    blocks
}
