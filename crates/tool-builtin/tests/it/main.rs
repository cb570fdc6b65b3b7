//! The built-in tools through their public API, one module per tool.
//!
//! Links, modes and signals are those of Unix.
#![cfg(unix)]
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "what a fixture cannot do fails the test"
)]

/// A temporary workspace, a policy that records, and the running of calls.
mod fixture;

/// Every tool at once: names, schemas and hints.
mod builtins;
/// Paths: what is inside, what is outside, and what policy is asked.
mod paths;

mod edit;
mod glob;
mod grep;
/// What policy says of the files of a search, and when a search ends.
mod grep_permission;
#[cfg(unix)]
mod races; // what is swapped between check and use
mod read;
mod read_output;
mod shell;
/// That nothing goes on running after a call of the shell.
#[cfg(target_os = "linux")]
mod shell_processes;
/// A store that does not take what the shell prints.
mod shell_storing;
mod write;
