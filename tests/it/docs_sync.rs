//! The pages of this repository say what the manifests and the tests say.

use xtask::{Finding, Rule, Workspace, listed, rules};

#[track_caller]
fn holds(rule: Rule) {
    let findings = rules::docs(&Workspace::here()).expect("the workspace can be read");
    let of_rule: Vec<Finding> = findings.into_iter().filter(|it| it.rule == rule).collect();
    assert!(of_rule.is_empty(), "\n{}\n", listed(&of_rule));
}

#[test]
fn pages_agree_with_the_manifests() {
    holds(Rule::Docs);
}

#[test]
fn every_link_leads_somewhere() {
    holds(Rule::Link);
}

#[test]
fn every_law_names_a_guard_that_exists() {
    holds(Rule::Law);
}
