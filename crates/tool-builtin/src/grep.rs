//! The tool that searches the contents of files.

use std::path::Path;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Map;
use tokio::runtime::Handle;
use tool_core::{
    Action, Content, Context, Decision, HandlerError, Permission, Request, Resource, Tool,
    ToolFailure,
};

use crate::Workspace;
use crate::access::Access;
use crate::globs::FilePattern;
use crate::hints;
use crate::nearest;
use crate::offload::{Stop, offload_counted};
use crate::place::{Place, Target, refused};
use crate::search::{Found, Match, Search};
use crate::walk::Walk;
use crate::workspace::dotted;

const DEFAULT_LIMIT: u64 = 100;
const MAX_LIMIT: u64 = 1_000;
const MAX_CONTEXT: u64 = 20;

#[derive(Deserialize, JsonSchema)]
struct Input {
    /// The regular expression, for one line. Neither look-around nor back-references.
    pattern: String,
    /// The folder or file to search, relative to the workspace. The whole workspace when absent.
    path: Option<String>,
    /// Searches only files that match this pattern: without "/" by their names, as in "*.rs"; with
    /// "/" by the path from the folder on, as in "src/**/*.rs".
    glob: Option<String>,
    /// Takes upper and lower case for the same. Off by default.
    ignore_case: Option<bool>,
    /// How many lines to show before and after each match. Defaults to 0.
    #[schemars(range(max = MAX_CONTEXT))]
    context: Option<u64>,
    /// The most matching lines to show. Defaults to 100.
    #[schemars(range(min = 1, max = MAX_LIMIT))]
    limit: Option<u64>,
}

/// The tool `grep`: the lines of files that a regular expression matches.
///
/// It asks for the action `read` on the folder or file, and then, without asking anybody, what
/// policy says of each file that has a match: one that policy denies stays out, and so does one
/// that policy would ask about, unless the folder itself had to be asked about and was granted.
///
/// What is walked is what [`glob`](crate::glob) finds; links are not followed, and binary files
/// are skipped. The engine is linear in the text. At most 1,000 matching lines, 100 by default,
/// and 512 KiB are shown, in the order of the paths, each line cut to 400 bytes around its match.
///
/// # Cancel safety
/// Dropping the call ends the search at the next file, match or read.
#[must_use]
pub fn grep(workspace: &Workspace, permission: Permission) -> Tool {
    let access = Access::new(workspace, permission);
    Tool::new(
        "Search the contents of the workspace's files for a regular expression, line by line. \
         Files that .gitignore leaves out and binary files are skipped. Shows path:line:text.",
        move |input: Input, cx| {
            let access = access.clone();
            async move { run(access, input, cx).await }
        },
    )
    .model(|_input, found| blocks(&found))
    .annotations(hints::reading("Search files"))
    .capabilities([])
    .asserts_permission()
    .into()
}

async fn run(access: Access, input: Input, cx: Context) -> Result<Found, HandlerError> {
    let context = input.context.unwrap_or(0).min(MAX_CONTEXT);
    let limit = input.limit.unwrap_or(DEFAULT_LIMIT).clamp(1, MAX_LIMIT);
    let search = Search::new(
        &input.pattern,
        input.ignore_case.unwrap_or(false),
        usize::try_from(context)?,
        usize::try_from(limit)?,
    )?;
    let only = input.glob.as_deref().map(FilePattern::parse).transpose()?;
    let place = access
        .workspace
        .place(input.path.as_deref().unwrap_or("."))?;

    let mut metadata = Map::new();
    metadata.insert("pattern".to_owned(), input.pattern.into());
    let judge = Judge::new(&access, &cx, &place).await;
    let target = access.ask(&cx, "read", &place, metadata).await?;

    offload_counted(&cx, "files searched", move |stop| {
        let job = Job {
            workspace: &access.workspace,
            search: &search,
            only: only.as_ref(),
            judge: &judge,
            stop,
        };
        job.run(&place, &target)
    })
    .await?
}

struct Job<'a> {
    workspace: &'a Workspace,
    search: &'a Search,
    only: Option<&'a FilePattern>,
    judge: &'a Judge,
    stop: &'a Stop,
}

impl Job<'_> {
    fn run(&self, place: &Place, target: &Target) -> Result<Found, HandlerError> {
        if !target.exists {
            let hint = nearest::hint(self.workspace, &target.path);
            return Err(ToolFailure::new(format!("{place} does not exist{hint}")).into());
        }
        let base = &target.path;
        let metadata = self
            .workspace
            .dir()
            .symlink_metadata(dotted(base))
            .map_err(|error| refused(&place.to_string(), error))?;
        let mut found = Found::default();
        let mut searcher = self.search.searcher();
        let mut search = |path: &Path, found: &mut Found| {
            self.search.file(
                &mut searcher,
                self.workspace,
                path,
                self.stop,
                found,
                |path| self.judge.may_show(path, self.stop),
            );
        };

        if !metadata.is_dir() {
            search(base, &mut found);
            if found.unreadable > 0 {
                return Err(ToolFailure::new(format!(
                    "{place} cannot be searched: it is no file that can be read, or one of its lines is too long"
                ))
                .into());
            }
            return Ok(found);
        }
        let mut walk = Walk::new(self.workspace, base, self.stop);
        for file in walk.by_ref().filter(|file| !file.is_link) {
            let below = file.path.strip_prefix(base).unwrap_or(&file.path);
            if self.only.is_none_or(|only| only.matches(below)) {
                search(&file.path, &mut found);
            }
            if found.truncated {
                break;
            }
        }
        found.unreadable += walk.unreadable;
        Ok(found)
    }
}

/// Whether the matches of a file may be shown. A rule against one file holds in a search of its
/// folder too.
struct Judge {
    permission: Permission,
    cx: Context,
    workspace: Workspace,
    /// The place that was asked about; it needs no second look.
    asked: Resource,
    /// The folder needed nobody's leave, so nothing in it got any.
    by_rule: bool,
    runtime: Handle,
}

impl Judge {
    async fn new(access: &Access, cx: &Context, place: &Place) -> Self {
        let mut judge = Self {
            permission: access.permission.clone(),
            cx: cx.clone(),
            workspace: access.workspace.clone(),
            asked: place.resource(access.workspace.root()),
            by_rule: false,
            runtime: Handle::current(),
        };
        judge.by_rule = judge.decide(judge.asked.clone()).await == Decision::Allow;
        judge
    }

    fn may_show(&self, path: &Path, stop: &Stop) -> bool {
        let resource = Resource::path(self.workspace.root(), path);
        if resource == self.asked {
            return true;
        }
        let decision = self
            .runtime
            .block_on(stop.unless(self.decide(resource)))
            .unwrap_or(Decision::Deny);
        match decision {
            Decision::Allow => true,
            Decision::Ask => !self.by_rule,
            Decision::Deny => false,
        }
    }

    async fn decide(&self, resource: Resource) -> Decision {
        let mut request = Request::new(Action::new("read"), [resource], self.cx.facts());
        request.call = self.cx.call_id();
        request.tool = self.cx.tool();
        request.source = self.cx.source();
        self.permission.decide(&request).await.decision
    }
}

fn blocks(found: &Found) -> Vec<Content> {
    let mut notes = Vec::new();
    if found.matches.is_empty() {
        notes.push(format!("no match in {} files", found.files_searched));
    }
    if found.truncated {
        notes.push(format!(
            "there are more than these {} matches; narrow the pattern, the path or the glob",
            found.matches.len()
        ));
    }
    if found.withheld > 0 {
        notes.push(format!(
            "permission keeps back the matches in {} files",
            found.withheld
        ));
    }
    if found.unreadable > 0 {
        notes.push(format!("{} files could not be read", found.unreadable));
    }

    let mut blocks = Vec::new();
    if !found.matches.is_empty() {
        blocks.push(Content::text(lines(&found.matches)));
    }
    if !notes.is_empty() {
        blocks.push(Content::text(format!("[{}]", notes.join("; "))));
    }
    blocks
}

/// `path:line:text` for lines that match, `path-line-text` for those around, and `--` where lines
/// are left out between lines of context.
fn lines(matches: &[Match]) -> String {
    let with_context = matches
        .iter()
        .any(|found| !found.before.is_empty() || !found.after.is_empty());
    let mut lines = Vec::new();
    let mut last: Option<(&str, u64)> = None;
    for found in matches {
        let path = found.path.as_str();
        let first = found.line - (found.before.len() as u64).min(found.line);
        if with_context && last.is_some_and(|last| last != (path, first - first.min(1))) {
            lines.push("--".to_owned());
        }
        for (line, text) in (first..).zip(&found.before) {
            lines.push(format!("{path}-{line}-{text}"));
        }
        lines.push(format!("{path}:{}:{}", found.line, found.text));
        for (line, text) in (found.line + 1..).zip(&found.after) {
            lines.push(format!("{path}-{line}-{text}"));
        }
        last = Some((path, found.line + found.after.len() as u64));
    }
    lines.join("\n")
}
