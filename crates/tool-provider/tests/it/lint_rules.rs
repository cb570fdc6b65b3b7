//! The rules and the page that documents them.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use tool_provider::{RULES_READ, lint_rules};

const PAGE: &str = include_str!("../../RULES.md");

#[test]
fn the_page_has_every_rule_as_the_program_has_it() {
    let mut table = String::new();
    for rule in lint_rules() {
        let profiles: Vec<&str> = rule.profiles.iter().map(|it| it.as_str()).collect();
        let profiles = match profiles.len() {
            13 => "all".to_owned(),
            _ => profiles.join(", "),
        };
        let _ = writeln!(
            table,
            "| `{}` | {} | {profiles} | {} | {} | {} |",
            rule.id,
            rule.level.as_str(),
            rule.summary,
            rule.fix,
            rule.source
        );
    }
    let start = PAGE.find("| `").expect("a table");
    let documented: BTreeSet<&str> = PAGE[start..].lines().filter(|it| !it.is_empty()).collect();
    let known: BTreeSet<&str> = table.lines().collect();
    let missing: Vec<&&str> = known.difference(&documented).collect();
    let stale: Vec<&&str> = documented.difference(&known).collect();
    assert!(
        missing.is_empty() && stale.is_empty(),
        "missing: {missing:#?}\nstale: {stale:#?}"
    );
    assert!(
        PAGE.contains(RULES_READ),
        "the page says when the rules were read"
    );
}

#[test]
fn rules_have_names_of_one_kind_and_texts_that_are_sentences() {
    let mut seen = BTreeSet::new();
    for rule in lint_rules() {
        assert!(seen.insert(rule.id), "{} stands twice", rule.id);
        let (owner, name) = rule.id.split_once('/').expect("an owner and a name");
        let legal = |part: &str| {
            !part.is_empty() && part.chars().all(|c| c.is_ascii_lowercase() || c == '-')
        };
        assert!(legal(owner) && legal(name), "{}", rule.id);
        assert!(
            rule.summary.ends_with('.') && rule.fix.ends_with('.'),
            "{}",
            rule.id
        );
        assert!(
            !rule.source.is_empty() && !rule.source.contains('|'),
            "{}",
            rule.id
        );
        assert!(!rule.profiles.is_empty(), "{}", rule.id);
    }
}
