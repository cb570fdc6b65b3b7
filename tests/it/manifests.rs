//! The manifests of this workspace say once what holds for all.

use xtask::{Finding, Rule, Workspace, listed, rules};

#[track_caller]
fn holds(rule: Rule) {
    let findings = rules::tidy(&Workspace::here()).expect("the workspace can be read");
    let of_rule: Vec<Finding> = findings.into_iter().filter(|it| it.rule == rule).collect();
    assert!(of_rule.is_empty(), "\n{}\n", listed(&of_rule));
}

#[test]
fn every_member_inherits_from_the_workspace() {
    holds(Rule::Manifest);
}

#[test]
fn every_workspace_dependency_is_used() {
    holds(Rule::UnusedDependency);
}
