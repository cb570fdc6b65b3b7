//! The tool that writes a whole file.

use std::io;
use std::path::Path;

use cap_std::fs::Permissions;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Map;
use tool_core::{Content, HandlerError, Permission, Tool, ToolFailure};

use crate::Workspace;
use crate::access::Access;
use crate::atomic;
use crate::hints;
use crate::offload::{Stop, offload};
use crate::place::{Place, Target, refused, shown};

#[derive(Deserialize, JsonSchema)]
struct Input {
    /// The file, relative to the workspace. Missing folders are made.
    path: String,
    /// The whole contents.
    content: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Output {
    /// The path relative to the workspace, links resolved.
    path: String,
    /// The bytes written.
    bytes: u64,
    /// The file was not there before.
    created: bool,
}

/// The tool `write`: puts the given contents into a file, whether or not it was there.
///
/// It asks for the action `write` on the path, and tells the person who is asked how many bytes it
/// would write. The contents are written aside and renamed, so that nobody sees a part of them; an
/// existing file keeps its mode, and a link inside the workspace keeps being one: what it leads to
/// is replaced. A link out of the workspace, a read-only file and whatever is no file are failures
/// that the model reads.
///
/// # Cancel safety
/// Dropping the call leaves the old contents or the new ones, and folders that were made.
#[must_use]
pub fn write(workspace: &Workspace, permission: Permission) -> Tool {
    let access = Access::new(workspace, permission);
    let mut hints = hints::writing("Write file");
    hints.idempotent = true;
    Tool::new(
        "Write a whole file of the workspace, replacing what it held. Missing folders are made. \
         Use edit to change a part of a file.",
        move |input: Input, cx| {
            let access = access.clone();
            async move {
                let place = access.workspace.place(&input.path)?;
                let mut metadata = Map::new();
                metadata.insert("bytes".to_owned(), input.content.len().into());
                let target = access.ask(&cx, "write", &place, metadata).await?;
                offload(&cx, move |stop| {
                    put(&access.workspace, &place, &target, &input.content, stop)
                })
                .await?
            }
        },
    )
    .model(|_input, output| {
        let verb = if output.created {
            "created"
        } else {
            "replaced"
        };
        let Output { path, bytes, .. } = output;
        [Content::text(format!("{verb} {path} ({bytes} bytes)"))]
    })
    .annotations(hints)
    .capabilities([])
    .asserts_permission()
    .into()
}

fn put(
    workspace: &Workspace,
    place: &Place,
    target: &Target,
    content: &str,
    stop: &Stop,
) -> Result<Output, HandlerError> {
    let refuse = |error| refused(&place.to_string(), error);
    let _writing = workspace.writing();
    let mode = if target.exists {
        Some(writable(workspace, place, &target.path)?)
    } else {
        let parent = target.path.parent().unwrap_or(Path::new(""));
        if !parent.as_os_str().is_empty() {
            workspace.make_folder(parent).map_err(refuse)?;
        }
        None
    };
    atomic::replace(workspace, &target.path, content.as_bytes(), mode, stop).map_err(refuse)?;
    Ok(Output {
        path: shown(&target.path),
        bytes: content.len() as u64,
        created: !target.exists,
    })
}

/// The mode of a file that may be replaced.
pub(crate) fn writable(
    workspace: &Workspace,
    place: &Place,
    path: &Path,
) -> Result<Permissions, HandlerError> {
    let metadata = workspace
        .dir()
        .symlink_metadata(crate::workspace::dotted(path))
        .map_err(|error: io::Error| refused(&place.to_string(), error))?;
    if metadata.is_dir() {
        return Err(ToolFailure::new(format!("{place} is a folder; name a file")).into());
    }
    if !metadata.is_file() {
        return Err(
            ToolFailure::new(format!("{place} is not a file and cannot be written")).into(),
        );
    }
    // Renaming would get around the mode of the file.
    if metadata.permissions().readonly() {
        return Err(ToolFailure::new(format!("{place} is read-only")).into());
    }
    Ok(metadata.permissions())
}
