//! The rules, each fed what it has to refuse.

#![expect(
    clippy::unwrap_used,
    reason = "a fixture that cannot be read fails its test"
)]

mod bench;
mod changelog;
mod chores;
mod crate_docs;
mod disk;
mod exceptions;
mod feature_set;
mod fence;
mod file_grain;
mod laws;
mod layers;
mod links;
mod manifests;
mod text;
mod versions;

use xtask::{Finding, SourceFile, listed};

/// Asserts what a rule says, one finding a line.
#[track_caller]
fn says(findings: &[Finding], expected: &str) {
    assert_eq!(listed(findings), expected.trim());
}

fn files(of: &[(&str, &str)]) -> Vec<SourceFile> {
    of.iter()
        .map(|(path, text)| SourceFile::new(*path, *text))
        .collect()
}
mod whole;
