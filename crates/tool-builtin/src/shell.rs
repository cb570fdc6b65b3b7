//! The tool that runs a line in a shell.

mod capture;
mod options;
mod process;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tool_core::{
    Annotations, Capability, Content, HandlerError, Permission, Resource, Streamed, Tool,
    ToolFailure,
};

pub use self::options::ShellOptions;

use self::process::{Ended, Spawn};
use crate::Workspace;
use crate::offload::offload;

/// The longest that one call may run.
const MAX_TIMEOUT_MS: u64 = 600_000;

#[derive(Deserialize, JsonSchema)]
struct Input {
    /// The line for the shell.
    command: String,
    /// The folder to run it in, relative to the workspace. The workspace itself when absent.
    cwd: Option<String>,
    /// After how many milliseconds it is stopped; the most is 600000.
    #[schemars(range(min = 1, max = MAX_TIMEOUT_MS))]
    timeout_ms: Option<u64>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Output {
    #[serde(flatten)]
    report: Report,
    /// What was printed to standard output and standard error, in the order in which it arrived.
    /// Empty where that was too long to be handed on at once.
    output: String,
    /// Where it was too long: what is shown of it, and under which id the whole is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kept: Option<Kept>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Kept {
    /// The id to read it by.
    id: String,
    /// The beginning, what the runtime says of the part that is left out, and the end.
    shown: Vec<String>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Report {
    /// The exit status; absent when a signal ended the shell.
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    /// The signal that ended the shell.
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<i32>,
    /// The time was over, and the shell and all that it had started were stopped.
    timed_out: bool,
    /// The bytes that were printed.
    bytes: u64,
    /// How many of them, at the end, were not kept.
    lost_bytes: u64,
    /// Something was printed that is not UTF-8; each such sequence is shown as U+FFFD.
    invalid_utf8: bool,
    /// A process that could not be stopped kept the output open; what it prints from then on is
    /// not here.
    left_open: bool,
}

/// The tool `shell`: runs a line in a shell, and shows what it prints.
///
/// It asks for the action `shell` on the line with its folder, both exactly as they would run, and
/// offers "always" only for a line of plain words. The line runs with `-c`, without standard
/// input, in the workspace or a folder of it, and with an environment of allowed variables only
/// ([`ShellOptions`]). What it touches is not confined to the workspace.
///
/// Standard output and standard error are one stream. Up to 64 MiB less 64 KiB are kept, from the
/// start; what is lost is counted, and reported so that the runtime says it beside the text. Text
/// that is valid UTF-8 comes back byte for byte as one block. A last block says what the text does
/// not: an exit status that is not zero, a signal, a timeout. An exit status that is not zero is a
/// result, not a failure.
///
/// What is printed goes on to the runtime's store as soon as it is over the bound of what a model is
/// shown. Under the default bound, and with a store that is a folder, a call holds some 200 KiB of it
/// at most; a larger bound, or a store that sends larger pieces, holds more. A store that hangs until
/// five seconds after the timeout of the line makes the call a defect. The output of text that was
/// stored has the preview and the id in its place. Without a store, and where another tool calls, the text is held.
///
/// # Processes
/// The shell leads a process group of its own. When it ends, whoever still holds the output open has
/// a quarter of a second to finish; then all are killed: nothing goes on in the background. On a
/// timeout, and when the call is dropped, the group is killed at once. On Linux, processes that
/// left the group are found by a mark that they inherit in their environment, or by their parents,
/// and are killed too, without a runtime if need be. Out of reach are only a process that has
/// another user, or that has left the group, dropped its environment and outlived its parents; on
/// other systems, every process that leaves the group.
///
/// # Cancel safety
/// Dropping the call kills what it started. What that did until then stays.
#[must_use]
pub fn shell(workspace: &Workspace, permission: Permission, options: ShellOptions) -> Tool {
    let shell = Arc::new(Shell {
        workspace: workspace.clone(),
        permission,
        program: options.find_program(),
        options,
    });
    let mut hints = Annotations::default();
    hints.title = Some("Run a command".to_owned());
    Tool::new(
        format!(
            "Run a command line in {} in the workspace. Standard output and standard error come \
             together, in order; an exit status other than 0 is told after them. There is no \
             standard input. Processes left in the background are killed when the command ends. It is \
             stopped after {} seconds unless timeout_ms says otherwise.",
            shell.name(),
            shell.options.default_timeout().as_secs_f64()
        ),
        move |input: Input, cx| {
            let shell = Arc::clone(&shell);
            async move { shell.run(input, &cx).await }
        },
    )
    .structured(|output: Output| output.report)
    .model(|input, output| blocks(&input, output))
    .annotations(hints)
    .capabilities([Capability::ExternalNet])
    .asserts_permission()
    .into()
}

#[derive(Debug)]
struct Shell {
    workspace: Workspace,
    permission: Permission,
    program: PathBuf,
    options: ShellOptions,
}

impl Shell {
    fn name(&self) -> String {
        let name = self.program.file_name().unwrap_or(self.program.as_os_str());
        name.to_string_lossy().into_owned()
    }

    async fn run(&self, input: Input, cx: &tool_core::Context) -> Result<Output, HandlerError> {
        let line = input.command;
        if line.trim().is_empty() {
            return Err(ToolFailure::new("the command is empty").into());
        }
        if line.contains('\0') {
            return Err(ToolFailure::new("the command holds a NUL character").into());
        }
        let timeout = match input.timeout_ms {
            None => self.options.default_timeout(),
            Some(ms @ 1..=MAX_TIMEOUT_MS) => Duration::from_millis(ms),
            Some(_) => {
                return Err(ToolFailure::new(format!(
                    "timeout_ms is not from 1 to {MAX_TIMEOUT_MS}"
                ))
                .into());
            }
        };
        let cwd = self.folder(input.cwd.as_deref().unwrap_or("."), cx).await?;

        let resource = Resource::command(self.workspace.root(), &cwd, &line);
        let timeout_ms = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
        let mut assertion = self
            .permission
            .assert(cx, "shell", [resource])
            .metadata("timeout_ms", timeout_ms);
        if is_plain(&line) {
            assertion = assertion.save(&line);
        }
        assertion.await?;

        let spawn = Spawn {
            program: &self.program,
            line: &line,
            cwd: &cwd,
            options: &self.options,
            timeout,
        };
        Ok(spawn.run(cx).await?.into())
    }

    /// The absolute path of a folder of the workspace, all links resolved.
    async fn folder(&self, path: &str, cx: &tool_core::Context) -> Result<PathBuf, HandlerError> {
        let place = self.workspace.place(path)?;
        let workspace = self.workspace.clone();
        offload(cx, move |_stop| {
            let target = workspace
                .resolve(&place)
                .map_err(|unresolved| unresolved.explain(&place))?;
            if target.exists && workspace.open_folder(&target.path).is_ok() {
                return Ok(joined(workspace.root(), &target.path));
            }
            let problem = if target.exists {
                "is not a folder that can be entered"
            } else {
                "does not exist"
            };
            Err(ToolFailure::new(format!("{place} {problem}; cwd must be a folder")).into())
        })
        .await?
    }
}

/// The root itself, and not the root with a slash at its end, for the empty path.
fn joined(root: &Path, below: &Path) -> PathBuf {
    if below.as_os_str().is_empty() {
        root.to_owned()
    } else {
        root.join(below)
    }
}

/// Whether a rule of that text would mean that line only, and would ever match it: plain words,
/// one blank between two.
fn is_plain(line: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_./:@%+=,-".contains(c);
    line.split(' ')
        .all(|word| !word.is_empty() && word.chars().all(plain))
}

impl From<Ended> for Output {
    fn from(ended: Ended) -> Self {
        let (output, kept) = match ended.captured.text {
            Streamed::Whole(text) => (text, None),
            Streamed::Kept(content, retained) => {
                let shown = content.iter().filter_map(Content::as_text);
                let kept = Kept {
                    id: retained.id,
                    shown: shown.map(str::to_owned).collect(),
                };
                (String::new(), Some(kept))
            }
        };
        Self {
            report: Report {
                exit_code: ended.exit_code,
                signal: ended.signal,
                timed_out: ended.timed_out,
                bytes: ended.captured.bytes,
                lost_bytes: ended.captured.lost_bytes,
                invalid_utf8: ended.captured.invalid_utf8,
                left_open: ended.left_open,
            },
            output,
            kept,
        }
    }
}

impl Report {
    /// What the output does not say.
    fn note(&self, input: &Input, is_empty: bool) -> Option<String> {
        let mut notes = Vec::new();
        if self.timed_out {
            notes.push(match input.timeout_ms {
                Some(ms) => format!("stopped after {ms} ms, before it had ended"),
                None => "stopped when its time was over, before it had ended".to_owned(),
            });
        } else if let Some(signal) = self.signal {
            notes.push(format!("ended by signal {signal}"));
        } else if let Some(code) = self.exit_code.filter(|code| *code != 0) {
            notes.push(format!("exit status {code}"));
        }
        if is_empty {
            notes.push("no output".to_owned());
        }
        if self.invalid_utf8 {
            notes.push("bytes that are not UTF-8 are shown as U+FFFD".to_owned());
        }
        if self.left_open {
            notes.push("a process that could not be stopped may print more".to_owned());
        }
        (!notes.is_empty()).then(|| format!("[{}]", notes.join("; ")))
    }
}

fn blocks(input: &Input, output: Output) -> Vec<Content> {
    let Output {
        report,
        output,
        kept,
    } = output;
    let mut shown = kept.map_or_else(Vec::new, |kept| kept.shown);
    if !output.is_empty() {
        shown.push(output);
    }
    let note = report.note(input, shown.is_empty());
    shown.into_iter().chain(note).map(Content::text).collect()
}
