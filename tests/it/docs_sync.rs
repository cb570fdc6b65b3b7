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

#[test]
fn the_policy_file_on_the_page_of_permission_is_loaded_as_it_stands() {
    let page = include_str!("../../docs/permission.md");
    let (_, from) = page.split_once("```toml\n").unwrap();
    let (file, _) = from.split_once("```").unwrap();
    let layer = tool_runtime::permission::Layer::parse("policy.toml", file).unwrap();
    assert_eq!(layer.rules().len(), 4);
    assert_eq!(tool_runtime::permission::lint(&[layer]), []);
}
