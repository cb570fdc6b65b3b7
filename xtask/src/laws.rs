//! Every law has a row in ARCHITECTURE.md, and every guard that the page names exists.

use crate::markdown::{self, Table};
use crate::{Finding, Rule, SourceFile};

const PAGE: &str = "ARCHITECTURE.md";
const HEADER: [&str; 3] = ["#", "law", "guarded by"];
/// How a row says that nothing guards its law yet; what will comes after it.
const UNGUARDED: &str = "unguarded: ";

/// The laws, in their order.
pub const LAWS: [&str; 15] = [
    "Single executor",
    "Codec boundary",
    "Durable identity",
    "Scoped registration",
    "Captured execution",
    "Per-call rejection",
    "Exactly one settlement",
    "Storage encapsulation",
    "No lossy success",
    "Pages equal bytes",
    "Superset projection",
    "Stable lists",
    "Order-free policy",
    "Fail closed",
    "Nothing left running",
];

/// Looks at the law table, and at every guard that the page names as `test` in `file`.
#[must_use]
pub fn check(files: &[SourceFile]) -> Vec<Finding> {
    let page = page(files);
    let mut findings = rows(page);
    for (number, paragraph) in markdown::paragraphs(page) {
        for (test, path) in guards(&paragraph) {
            if let Err(message) = find(files, test, path) {
                findings.push(law(message).at(number));
            }
        }
    }
    findings
}

/// The laws without a guard, each with the work that will bring one.
#[must_use]
pub fn unguarded(files: &[SourceFile]) -> Vec<String> {
    Table::find(page(files), &HEADER)
        .into_iter()
        .flat_map(|table| table.rows)
        .filter(|row| row.cell(2).starts_with(UNGUARDED))
        .map(|row| format!("law {} ({}) is {}", row.cell(0), row.cell(1), row.cell(2)))
        .collect()
}

fn rows(page: &str) -> Vec<Finding> {
    let Some(table) = Table::find(page, &HEADER) else {
        return vec![law("there is no table of the laws".to_owned())];
    };
    let mut findings = Vec::new();
    for (at, name) in LAWS.iter().enumerate() {
        let number = (at + 1).to_string();
        let row = table
            .rows
            .iter()
            .find(|row| row.cell(0) == number && row.cell(1) == *name);
        let Some(row) = row else {
            findings.push(law(format!("law {number} ({name}) has no row")));
            continue;
        };
        let open = row
            .cell(2)
            .strip_prefix(UNGUARDED)
            .is_some_and(|later| !later.trim().is_empty());
        if !open && guards(row.cell(2)).is_empty() {
            let message = format!(
                "law {number} names no guard; write `test` in `file`, or \"{UNGUARDED}\" and what will bring one"
            );
            findings.push(law(message).at(row.line));
        }
    }
    for row in table.rows.iter().filter(|row| !LAWS.contains(&row.cell(1))) {
        findings.push(law(format!("there is no law \"{}\"", row.cell(1))).at(row.line));
    }
    findings
}

/// The pairs of a test and its file in a paragraph: two code spans with `in` between them.
fn guards(line: &str) -> Vec<(&str, &str)> {
    let pieces: Vec<&str> = line.split('`').collect();
    // The pieces at odd places are code.
    pieces
        .windows(3)
        .enumerate()
        .filter(|(at, _)| at % 2 == 1)
        .filter_map(|(_, window)| match window {
            [test, " in ", path] if path.ends_with(".rs") => Some((*test, *path)),
            _ => None,
        })
        .collect()
}

fn find(files: &[SourceFile], test: &str, path: &str) -> Result<(), String> {
    let Some(file) = files.iter().find(|file| file.path == path) else {
        return Err(format!(
            "there is no {path}, in which `{test}` should stand"
        ));
    };
    let opening = format!("fn {test}(");
    let lines: Vec<&str> = file.text.lines().map(str::trim).collect();
    let is_test = lines
        .iter()
        .enumerate()
        .filter(|(_, line)| line.contains(&opening))
        .any(|(at, _)| {
            lines
                .iter()
                .take(at)
                .rev()
                .take_while(|line| line.starts_with("#[") || line.starts_with("//"))
                .any(|line| line.ends_with("test]") || line.contains("test("))
        });
    if is_test {
        Ok(())
    } else {
        Err(format!("{path} has no test `{test}`"))
    }
}

fn page(files: &[SourceFile]) -> &str {
    let page = files.iter().find(|file| file.path == PAGE);
    page.map_or("", |page| page.text.as_str())
}

fn law(message: String) -> Finding {
    Finding::new(Rule::Law, PAGE, message)
}
