//! The tool that finds files by name.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Map;
use tool_core::{Content, HandlerError, Permission, Tool, ToolFailure};

use crate::Workspace;
use crate::access::Access;
use crate::globs::FilePattern;
use crate::hints;
use crate::nearest;
use crate::offload::{Stop, offload_counted};
use crate::place::{Place, Target, shown};
use crate::walk::Walk;

const DEFAULT_LIMIT: u64 = 200;
const MAX_LIMIT: u64 = 1_900;

#[derive(Deserialize, JsonSchema)]
struct Input {
    /// The pattern. Without "/" it is for file names in every folder, as in "*.rs"; with "/" it is
    /// for the path from the folder on, as in "src/**/*.rs". Also "?", "[a-z]" and "{a,b}".
    pattern: String,
    /// The folder to look in, relative to the workspace. The workspace itself when absent.
    path: Option<String>,
    /// The most paths to show. Defaults to 200.
    #[schemars(range(min = 1, max = MAX_LIMIT))]
    limit: Option<u64>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Output {
    /// The paths relative to the workspace, sorted.
    paths: Vec<String>,
    /// How many more there are.
    more: u64,
    /// How many folders could not be listed.
    #[serde(default, skip_serializing_if = "is_zero")]
    unreadable: u64,
}

/// The tool `glob`: the files of a folder whose names or paths match a pattern.
///
/// It asks for the action `read` on the folder, so that one rule covers reading, finding and
/// searching. Hidden files are found; what `.gitignore` and `.ignore` files of the workspace leave
/// out is not, nor is what folders of version control hold. Links are found and not followed. The
/// paths are sorted name by name, the same on every call; at most 1,900 are shown, 200 by default,
/// and the rest is counted.
///
/// # Cancel safety
/// Dropping the call ends the search at the next file.
#[must_use]
pub fn glob(workspace: &Workspace, permission: Permission) -> Tool {
    let access = Access::new(workspace, permission);
    Tool::new(
        "Find files of the workspace by a pattern for their names or paths. Files that .gitignore \
         leaves out are not found. The paths are sorted.",
        move |input: Input, cx| {
            let access = access.clone();
            async move {
                let pattern = FilePattern::parse(&input.pattern)?;
                let place = access
                    .workspace
                    .place(input.path.as_deref().unwrap_or("."))?;
                let mut metadata = Map::new();
                metadata.insert("pattern".to_owned(), input.pattern.into());
                let target = access.ask(&cx, "read", &place, metadata).await?;
                let limit = input.limit.unwrap_or(DEFAULT_LIMIT).clamp(1, MAX_LIMIT);
                offload_counted(&cx, "files seen", move |stop| {
                    folder(&access.workspace, &place, &target)?;
                    Ok(find(&access.workspace, &target.path, &pattern, limit, stop))
                })
                .await?
            }
        },
    )
    .model(|_input, output| blocks(&output))
    .annotations(hints::reading("Find files"))
    .capabilities([])
    .asserts_permission()
    .into()
}

fn find(
    workspace: &Workspace,
    base: &Path,
    pattern: &FilePattern,
    limit: u64,
    stop: &Stop,
) -> Output {
    let mut found = Output {
        paths: Vec::new(),
        more: 0,
        unreadable: 0,
    };
    let mut walk = Walk::new(workspace, base, stop);
    for file in walk.by_ref() {
        stop.count();
        let below = file.path.strip_prefix(base).unwrap_or(&file.path);
        if !pattern.matches(below) {
            continue;
        }
        if (found.paths.len() as u64) < limit {
            found.paths.push(shown(&file.path));
        } else {
            found.more += 1;
        }
    }
    found.unreadable = walk.unreadable;
    found
}

/// Fails unless a folder is there.
fn folder(workspace: &Workspace, place: &Place, target: &Target) -> Result<(), HandlerError> {
    if !target.exists {
        let hint = nearest::hint(workspace, &target.path);
        return Err(ToolFailure::new(format!("folder {place} does not exist{hint}")).into());
    }
    match workspace.open_folder(&target.path) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => {
            Err(ToolFailure::new(format!("{place} is a file; name the folder to look in")).into())
        }
        Err(error) => Err(crate::place::refused(&place.to_string(), error)),
    }
}

fn blocks(output: &Output) -> Vec<Content> {
    let mut blocks = Vec::new();
    let mut notes = Vec::new();
    if output.paths.is_empty() {
        notes.push("no file matches".to_owned());
    } else {
        blocks.push(Content::text(output.paths.join("\n")));
    }
    if output.more > 0 {
        let more = output.more;
        notes.push(format!(
            "{more} more files match; narrow the pattern or the path"
        ));
    }
    if output.unreadable > 0 {
        notes.push(format!("{} folders could not be listed", output.unreadable));
    }
    if !notes.is_empty() {
        blocks.push(Content::text(format!("[{}]", notes.join("; "))));
    }
    blocks
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_zero(count: &u64) -> bool {
    *count == 0
}
