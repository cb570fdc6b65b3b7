//! What no tracked file holds: unfinished pieces, the author's machine, sleeping tests.

use crate::{Finding, Rule, SourceFile};

/// Marks of unfinished work in Rust source. Written in two halves, as this file is searched too.
const UNFINISHED_CODE: [&str; 3] = [
    concat!("to", "do!"),
    concat!("un", "implemented!"),
    concat!("#[ig", "nore"),
];

/// Marks of unfinished work anywhere, as whole words.
const UNFINISHED_WORDS: [&str; 2] = [concat!("FIX", "ME"), concat!("XX", "X")];

/// Folders of a machine on which the project happened to be written.
const MACHINE_FOLDERS: [&str; 3] = [
    concat!("/wo", "rk/"),
    concat!("/ro", "ot/"),
    concat!("/fa", "rm/"),
];

/// Hosts that a mirror may stand in for. The index of crates.io in Cargo.lock is no such host: cargo
/// maps it by itself.
const REGISTRY_HOSTS: [&str; 4] = [
    concat!("registry.", "npmjs.org"),
    concat!("registry.", "yarnpkg.com"),
    concat!("pypi.", "org"),
    concat!("python", "hosted.org"),
];

/// A folder beside the repository. One file may look there: it is the one that starts everything.
const NEIGHBOUR: &str = concat!("../", "shared");
const MAY_NAME_THE_NEIGHBOUR: &str = ".ci/run";

/// Ways to let time pass.
const SLEEPS: [&str; 2] = ["sleep(", "sleep_until("];

/// Searches every file.
#[must_use]
pub fn check(files: &[SourceFile]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files {
        for (number, line) in file.lines() {
            let hits = [
                unfinished(file, line),
                surroundings(file, line),
                sleeping(file, line),
            ];
            for (rule, message) in hits.into_iter().flatten() {
                findings.push(Finding::new(rule, &file.path, message).at(number));
            }
        }
    }
    findings
}

fn unfinished(file: &SourceFile, line: &str) -> Option<(Rule, String)> {
    let code = UNFINISHED_CODE
        .iter()
        .find(|mark| file.is_rust() && line.contains(**mark));
    let found = code.or_else(|| UNFINISHED_WORDS.iter().find(|word| has_word(line, word)))?;
    Some((
        Rule::Unfinished,
        format!("\"{found}\" marks a piece that is not done"),
    ))
}

fn surroundings(file: &SourceFile, line: &str) -> Option<(Rule, String)> {
    let folder = MACHINE_FOLDERS
        .iter()
        .find(|folder| begins_a_path(line, folder));
    let host = REGISTRY_HOSTS.iter().find(|host| line.contains(**host));
    let neighbour =
        Some(&NEIGHBOUR).filter(|it| line.contains(**it) && file.path != MAY_NAME_THE_NEIGHBOUR);
    let found = folder.or(host).or(neighbour)?;
    Some((
        Rule::Surroundings,
        format!("\"{found}\" is of the machine and not of the project"),
    ))
}

fn sleeping(file: &SourceFile, line: &str) -> Option<(Rule, String)> {
    if !file.is_rust() || !file.is_test() {
        return None;
    }
    SLEEPS.iter().find(|call| begins_a_word(line, call))?;
    Some((
        Rule::Sleep,
        "wait for the event itself, or say in the exceptions why time is the subject".to_owned(),
    ))
}

/// Whether the text stands in the line with no letter, digit or underscore ahead of it.
fn begins_a_word(line: &str, text: &str) -> bool {
    occurrences(line, text).any(|(before, _)| !before.ends_with(is_word_char))
}

fn has_word(line: &str, word: &str) -> bool {
    occurrences(line, word)
        .any(|(before, after)| !before.ends_with(is_word_char) && !after.starts_with(is_word_char))
}

/// Whether the folder is where a path begins, as against the middle of a longer one.
fn begins_a_path(line: &str, folder: &str) -> bool {
    let inside =
        |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | '/' | '}' | '~' | '*');
    occurrences(line, folder).any(|(before, _)| !before.ends_with(inside))
}

fn occurrences<'a>(line: &'a str, text: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
    line.match_indices(text).filter_map(|(at, found)| {
        let before = line.get(..at)?;
        let after = line.get(at + found.len()..)?;
        Some((before, after))
    })
}

fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}
