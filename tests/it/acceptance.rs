//! Every line of the acceptance lists has tests that exist, or says what it waits for.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Deserialize;

const LISTS: [&str; 4] = [
    include_str!("../acceptance/settlement.md"),
    include_str!("../acceptance/declarations.md"),
    include_str!("../acceptance/field-reports.md"),
    include_str!("../acceptance/security.md"),
];
const INDEX: &str = include_str!("../acceptance/index.toml");

/// How many lines wait, and for what. A change of a number here is a change of what is promised.
const LATER: [(&str, usize); 0] = [];
/// The items of the list of security that concern a gateway. None of them may be left out.
const GATEWAY: [&str; 26] = [
    "S1", "S3", "S4", "S15", "S16", "S17", "S19", "S20", "S21", "S25", "S26", "S28", "S30", "S31",
    "S32", "S33", "S34", "S35", "S36", "S37", "S38", "S39", "S40", "S41", "S42", "S43",
];
/// How many lines the product decided otherwise.
const INSTEAD: usize = 28;

/// What the index says of one line.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    #[serde(default)]
    tests: Vec<String>,
    later: Option<String>,
    instead: Option<String>,
}

type Index = BTreeMap<String, Entry>;

/// The key of each line of a list, in its order.
fn keys(list: &str) -> Vec<&str> {
    let lines = list.lines().filter_map(|line| line.strip_prefix("- "));
    lines
        .map(|line| match line.split_once(": ") {
            Some((key, text)) if is_key(key) && !text.trim().is_empty() => key,
            _ => panic!("a line has no key or no text: {line}"),
        })
        .collect()
}

/// Three letters and two digits, as in `reg-01`, or the letter and number of a report, as in `D1`.
fn is_key(key: &str) -> bool {
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    match key.split_once('-') {
        Some((section, number)) => {
            section.len() == 3
                && section.bytes().all(|byte| byte.is_ascii_lowercase())
                && number.len() == 2
                && digits(number)
        }
        None => key
            .strip_prefix(|first: char| first.is_ascii_uppercase())
            .is_some_and(|number| !number.is_empty() && digits(number)),
    }
}

/// What is wrong with an index; `source` gives the text of a file by its path.
fn findings(lists: &[&str], index: &Index, source: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let mut findings = Vec::new();
    let mut lines = BTreeSet::new();
    for key in lists.iter().flat_map(|list| keys(list)) {
        if !lines.insert(key) {
            findings.push(format!("{key} is the key of two lines"));
        }
        if !index.contains_key(key) {
            findings.push(format!("{key} has no entry"));
        }
    }
    for (key, entry) in index {
        if !lines.contains(key.as_str()) {
            findings.push(format!("{key} is the entry of no line"));
        }
        if entry.tests.is_empty() && entry.later.is_none() {
            findings.push(format!("{key} has no test and waits for nothing"));
        }
        let missing = entry
            .tests
            .iter()
            .filter_map(|test| find(test, &source).err());
        findings.extend(missing.map(|problem| format!("{key}: {problem}")));
    }
    findings
}

/// Looks for the test at `crate::module::test` in the sources.
fn find(path: &str, source: &impl Fn(&str) -> Option<String>) -> Result<(), String> {
    let parts: Vec<_> = path.split("::").collect();
    let [krate, module, test] = parts[..] else {
        return Err(format!("{path} is not of the form crate::module::test"));
    };
    let folder = match krate {
        "workspace_tests" => "tests/it".to_owned(),
        other => format!("crates/{}/tests/it", other.replace('_', "-")),
    };
    let file = format!("{folder}/{module}.rs");
    let text = source(&file).ok_or_else(|| format!("there is no {file}"))?;
    let main = source(&format!("{folder}/main.rs")).unwrap_or_default();
    let declares = format!("mod {module};");
    if !main.lines().any(|line| line.trim().starts_with(&declares)) {
        return Err(format!("{file} is part of no test binary"));
    }
    if is_test(&text, test) {
        Ok(())
    } else {
        Err(format!("{file} has no test {test}"))
    }
}

/// Whether a function of that name stands in `text` with the attribute of a test.
fn is_test(text: &str, name: &str) -> bool {
    let lines: Vec<_> = text.lines().map(str::trim).collect();
    let openings = [format!("fn {name}("), format!("async fn {name}(")];
    let Some(at) = lines
        .iter()
        .position(|line| openings.iter().any(|opening| line.starts_with(opening)))
    else {
        return false;
    };
    let attributes: Vec<_> = lines[..at]
        .iter()
        .rev()
        .take_while(|line| line.starts_with("#[") || line.starts_with("///"))
        .collect();
    let is = |name: &str| attributes.iter().any(|line| line.starts_with(name));
    is("#[test]") || is("#[tokio::test]") || is("#[tokio::test(")
}

fn index() -> Index {
    toml::from_str(INDEX).unwrap()
}

#[test]
fn every_line_has_tests_that_exist_or_waits_for_something() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let source = |path: &str| std::fs::read_to_string(root.join(path)).ok();
    let findings = findings(&LISTS, &index(), source);
    assert!(findings.is_empty(), "\n{}\n", findings.join("\n"));
}

#[test]
fn what_waits_and_what_was_decided_otherwise_is_counted() {
    let (mut later, mut instead) = (BTreeMap::new(), 0);
    for entry in index().into_values() {
        if let Some(subject) = entry.later {
            *later.entry(subject).or_insert(0) += 1;
        }
        if let Some(words) = entry.instead {
            assert!(!words.trim().is_empty() && !entry.tests.is_empty());
            instead += 1;
        }
    }
    let expected = LATER.map(|(subject, count)| (subject.to_owned(), count));
    assert_eq!(later, BTreeMap::from(expected));
    assert_eq!(instead, INSTEAD);
}

#[test]
fn no_item_of_the_gateway_is_left_out() {
    let [.., security] = LISTS;
    let there = keys(security);
    let missing: Vec<_> = GATEWAY.iter().filter(|key| !there.contains(key)).collect();
    assert!(missing.is_empty(), "{missing:?} are no lines of the list");
}

/// A folder with a test, a function that is none, a test that is commented out, and a file that
/// no binary has.
fn fixture(path: &str) -> Option<String> {
    let text = match path {
        "crates/a-b/tests/it/main.rs" => "mod one;\n// mod out;\n",
        "crates/a-b/tests/it/one.rs" | "crates/a-b/tests/it/out.rs" => {
            "#[tokio::test(start_paused = true)]\nasync fn works() {}\n\nfn no_test() {}\n\n\
             // #[test]\n// fn gone() {}\n"
        }
        _ => return None,
    };
    Some(text.to_owned())
}

#[test]
fn an_index_that_is_wrong_is_found_out() {
    let list = "# A list\n\n- abc-01: first\n- abc-02: second\n";
    let check = |index: &str| findings(&[list], &toml::from_str(index).unwrap(), fixture);
    let second = "[abc-02]\nlater = \"more\"\n";
    let of = |tests: &str| check(&format!("[abc-01]\ntests = [{tests}]\n{second}"));
    assert!(of("\"a_b::one::works\"").is_empty());
    for (tests, problem) in [
        ("", "abc-01 has no test and waits for nothing"),
        (
            "\"works\"",
            "abc-01: works is not of the form crate::module::test",
        ),
        (
            "\"a_b::two::works\"",
            "abc-01: there is no crates/a-b/tests/it/two.rs",
        ),
        (
            "\"a_b::out::works\"",
            "abc-01: crates/a-b/tests/it/out.rs is part of no test binary",
        ),
        (
            "\"a_b::one::no_test\"",
            "abc-01: crates/a-b/tests/it/one.rs has no test no_test",
        ),
        (
            "\"a_b::one::gone\"",
            "abc-01: crates/a-b/tests/it/one.rs has no test gone",
        ),
        (
            "\"a_b::one::work\"",
            "abc-01: crates/a-b/tests/it/one.rs has no test work",
        ),
    ] {
        assert_eq!(of(tests), [problem]);
    }
    assert_eq!(check(second), ["abc-01 has no entry"]);
    let more = format!("{second}[abc-01]\nlater = \"more\"\n[abc-03]\nlater = \"more\"\n");
    assert_eq!(check(&more), ["abc-03 is the entry of no line"]);
    let twice = "- abc-01: first\n- abc-01: again\n";
    let entry = toml::from_str("[abc-01]\nlater = \"more\"\n").unwrap();
    assert_eq!(
        findings(&[twice], &entry, fixture),
        ["abc-01 is the key of two lines"]
    );
}
