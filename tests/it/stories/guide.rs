//! The pages of the guide and the README, held to the programs that they show.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::run;

const PAGES: [&str; 8] = [
    "approval",
    "artifacts",
    "credentials",
    "dynamic",
    "provider-defined",
    "streaming",
    "teardown",
    "typed",
];

#[test]
fn every_page_is_tested_and_linked() {
    let names = fs::read_dir(root().join("docs/guide")).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let pages: BTreeSet<_> = names.filter(|name| name != "README.md").collect();
    let tested: BTreeSet<_> = PAGES.iter().map(|page| format!("{page}.md")).collect();
    assert_eq!(pages, tested);
    let (readme, index) = (read("README.md"), read("docs/guide/README.md"));
    for page in PAGES {
        assert!(
            readme.contains(&format!("](docs/guide/{page}.md)")),
            "{page}"
        );
        assert!(index.contains(&format!("]({page}.md)")), "{page}");
    }
}

#[test]
fn the_page_on_approval_is_true() {
    check("approval");
}

#[test]
fn the_page_on_artifacts_is_true() {
    check("artifacts");
}

#[test]
fn the_page_on_credentials_is_true() {
    check("credentials");
}

#[test]
fn the_page_on_dynamic_tools_is_true() {
    check("dynamic");
}

#[test]
fn the_page_on_provider_defined_tools_is_true() {
    check("provider-defined");
}

#[test]
fn the_page_on_streaming_is_true() {
    check("streaming");
}

#[test]
fn the_page_on_teardown_is_true() {
    check("teardown");
}

#[test]
fn the_page_on_typed_tools_is_true() {
    check("typed");
}

#[test]
fn the_program_of_the_readme_is_one_that_runs() {
    let program = read("examples/divide.rs");
    let shown = blocks(&read("README.md"), "rust");
    let code = program.split_once("\n\n").unwrap().1;
    assert_eq!(shown.first().map(String::as_str), Some(code));
    assert_eq!(run("divide"), "", "it says nothing and asserts");
}

/// Holds a page to its program: every block of code stands in it line by line, and the last block
/// of text is what it prints.
#[track_caller]
fn check(name: &str) {
    let page = read(&format!("docs/guide/{name}.md"));
    let program = read(&format!("examples/{name}.rs"));
    let lines = page.lines().count();
    assert!((40..=100).contains(&lines), "{name} has {lines} lines");
    assert!(page.contains(&format!("](../../examples/{name}.rs)")));

    let code = blocks(&page, "rust");
    assert!(!code.is_empty(), "{name} shows no code");
    let program: Vec<_> = program.lines().map(str::trim).collect();
    for block in code {
        let shown: Vec<_> = block.lines().map(str::trim).collect();
        let stands = program.windows(shown.len()).any(|lines| lines == shown);
        assert!(stands, "{name}.rs does not hold:\n{block}");
    }
    let printed = blocks(&page, "text").pop();
    assert_eq!(printed.as_deref(), Some(&*run(name)), "what {name} prints");
}

/// The fenced blocks of one language, without their fences.
fn blocks(page: &str, language: &str) -> Vec<String> {
    let fence = format!("```{language}");
    let mut blocks = Vec::new();
    let mut lines = page.lines();
    while lines.by_ref().any(|line| line == fence) {
        let block = lines.by_ref().take_while(|line| *line != "```");
        blocks.push(block.flat_map(|line| [line, "\n"]).collect());
    }
    blocks
}

#[track_caller]
fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

fn root() -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    tests.parent().unwrap().to_owned()
}
