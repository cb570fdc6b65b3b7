//! One noun per file, and a name that says which.

use crate::{Finding, Rule, SourceFile};

/// Above this many lines a source file is worth a second look; it is named, and passes.
const SOFT_LINES: usize = 250;
/// The most lines of a source file.
const HARD_LINES: usize = 400;
/// The most lines of a test file.
const HARD_TEST_LINES: usize = 500;

/// Names under which everything and nothing belongs.
const VAGUE: [&str; 7] = [
    "common", "helper", "helpers", "misc", "types", "util", "utils",
];

/// Looks at the length and the name of every Rust file.
#[must_use]
pub fn check(files: &[SourceFile]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files.iter().filter(|file| file.is_rust()) {
        let lines = file.text.lines().count();
        let most = if file.is_test() {
            HARD_TEST_LINES
        } else {
            HARD_LINES
        };
        if lines > most {
            findings.push(Finding::new(
                Rule::LongFile,
                &file.path,
                format!("{lines} lines, the most is {most}; split it by noun"),
            ));
        }
        if is_vague(file) {
            findings.push(Finding::new(
                Rule::VagueName,
                &file.path,
                "name the file after the one thing that it holds",
            ));
        }
    }
    findings
}

/// The source files that are long and still pass, longest first, for the reader of a run.
#[must_use]
pub fn notes(files: &[SourceFile]) -> Vec<String> {
    let mut long: Vec<(usize, &str)> = files
        .iter()
        .filter(|file| file.is_rust() && !file.is_test())
        .map(|file| (file.text.lines().count(), file.path.as_str()))
        .filter(|(lines, _)| *lines > SOFT_LINES)
        .collect();
    long.sort_by(|one, other| other.cmp(one));
    long.into_iter()
        .map(|(lines, path)| format!("{path} has {lines} lines; look for a second noun in it"))
        .collect()
}

fn is_vague(file: &SourceFile) -> bool {
    let folder = file.path.rsplit('/').nth(1);
    VAGUE.contains(&file.stem())
        || (file.stem() == "mod" && folder.is_some_and(|it| VAGUE.contains(&it)))
}
