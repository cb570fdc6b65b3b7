//! Tests of `tool-provider` through its public interface.
//!
//! `TOOL_CORPUS` names a folder with the saved `tools/list` results of real servers; tests over it
//! say that they are skipped where it is not set. `TOOL_CORPUS_WHOLE` samples every tool of it.
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "what tests share fails the test, and says what it skips and counts"
)]

mod bounds;
mod checker;
mod corpus;
mod field_reports;
mod incoming;
#[cfg(feature = "lint")]
mod lint_corpus;
#[cfg(feature = "lint")]
mod lint_examples;
#[cfg(feature = "lint")]
mod lint_rules;
#[cfg(feature = "lint")]
mod lint_tools;
mod nulls;
mod processes;
mod random_schemas;
mod results;
mod reverse;
mod samples;
mod stream_faults;
mod streamed;
mod superset;
mod tools;
