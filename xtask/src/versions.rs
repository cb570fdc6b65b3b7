//! Versions in documents are the versions in the manifests.

use crate::{Finding, Rule, SourceFile};

/// Looks at every version of a crate of the workspace, and of Rust, that a page names.
///
/// A page may give fewer numbers than the manifest: `0.1` for `0.1.0`.
#[must_use]
pub fn check(files: &[SourceFile], version: &str, rust_version: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files.iter().filter(|file| file.is_markdown()) {
        for (number, line) in file.lines() {
            let of_crates = as_dependency(line)
                .or_else(|| {
                    file.name()
                        .eq("README.md")
                        .then(|| after(line, "version "))?
                })
                .filter(|named| !is_start_of(named, version))
                .map(|named| format!("names version {named}, the workspace has {version}"));
            let of_rust = after(line, "Rust ")
                .filter(|named| !is_start_of(named, rust_version))
                .map(|named| format!("names Rust {named}, the workspace needs {rust_version}"));
            for message in of_crates.into_iter().chain(of_rust) {
                findings.push(Finding::new(Rule::Docs, &file.path, message).at(number));
            }
        }
    }
    findings
}

/// The version in `tool-x = "0.1"` or `tool-x = { version = "0.1", .. }`.
fn as_dependency(line: &str) -> Option<&str> {
    let (name, value) = line.split_once('=')?;
    if !name.trim().starts_with("tool-") {
        return None;
    }
    let value = match value.split_once("version") {
        Some((_, after)) => after,
        None if value.trim().starts_with('"') => value,
        None => return None,
    };
    value.split('"').nth(1)
}

/// The number with at least one dot that follows a word.
fn after<'a>(line: &'a str, word: &str) -> Option<&'a str> {
    line.match_indices(word).find_map(|(at, found)| {
        let rest = line.get(at + found.len()..)?;
        let end = rest
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(rest.len());
        let number = rest.get(..end)?.trim_end_matches('.');
        number.contains('.').then_some(number)
    })
}

fn is_start_of(named: &str, whole: &str) -> bool {
    whole
        .strip_prefix(named)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}
