//! Lines for a shell: what they would run, and the ruling on that.
//!
//! | module | reads |
//! |---|---|
//! | `cursor`, `parser`, `keyword`, `compound`, `conditional`, `word`, `expansion`, `arithmetic`, `quoting`, `heredoc`, `redirect` | text into the `tree` |
//! | `brace`, `field` | words of the tree into the words that a command gets |
//! | `walk`, `control`, `call`, `opening`, `state`, `folder`, `alias` | the tree into an analysis |
//! | `wrapper`, `simple`, `runner`, `launcher`, `package`, `package_name`, `remote`, `session`, `options`, `shell`, `interpreter`, `builtin`, `git`, `git_runs`, `variable` | words into what they run or set |
//! | `decision` | an analysis and rules into a ruling |

mod alias;
mod analysis;
mod arithmetic;
mod brace;
mod builtin;
mod call;
mod compound;
mod conditional;
mod control;
mod cursor;
mod decision;
mod expansion;
mod field;
mod folder;
mod git;
mod git_runs;
mod heredoc;
mod interpreter;
mod keyword;
mod launcher;
mod opening;
mod options;
mod package;
mod package_name;
mod parser;
mod quoting;
mod reading;
mod redirect;
mod remote;
mod runner;
mod session;
mod shell;
mod simple;
mod state;
mod tree;
mod variable;
mod walk;
mod word;
mod wrapper;

use std::path::Path;

use tool_core::Ruling;

pub use analysis::{CommandAnalysis, CommandAssignment, CommandRedirect};
pub(crate) use decision::{Part, PartKind};
pub use field::CommandWord;

use crate::judge::Judge;
use crate::{Effect, Pattern};

/// The ruling on a line for bash that runs in `cwd`; what lies below `root` is inside.
pub(crate) fn rule(judge: &Judge<'_>, action: &str, root: &Path, cwd: &Path, line: &str) -> Ruling {
    decision::rule(judge, action, &CommandAnalysis::new(root, cwd, line))
}

/// The ruling on each part of a line that is shown to people.
pub(crate) fn parts(
    judge: &Judge<'_>,
    action: &str,
    root: &Path,
    cwd: &Path,
    line: &str,
) -> Vec<Part> {
    decision::parts(judge, action, &CommandAnalysis::new(root, cwd, line))
}

/// Whether a rule of that effect would match one of the commands.
pub(crate) fn matches(analysis: &CommandAnalysis, effect: Effect, pattern: &Pattern) -> bool {
    decision::matches(analysis, effect, pattern)
}
