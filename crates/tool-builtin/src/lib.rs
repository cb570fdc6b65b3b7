#![doc = include_str!("../README.md")]

mod access;
mod atomic;
mod builtins;
mod edit;
mod glob;
mod globs;
mod grep;
mod hints;
mod ignores;
mod nearest;
mod offload;
mod page;
mod place;
mod read;
mod read_output;
mod replacement;
mod search;
#[cfg(unix)]
mod shell;
mod sniff;
mod walk;
mod workspace;
mod write;

pub use builtins::{Options, all};
pub use edit::edit;
pub use glob::glob;
pub use grep::grep;
pub use read::read;
pub use read_output::read_output;
#[cfg(unix)]
pub use shell::{ShellOptions, shell};
pub use workspace::{Workspace, WorkspaceError};
pub use write::write;
