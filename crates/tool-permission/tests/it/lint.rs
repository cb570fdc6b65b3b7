//! Rules that are reported, explanations, and that containment of patterns is never wrong.

use proptest::prelude::*;
use tool_core::{Action, Decision, Facts, Request, Resource};
use tool_permission::{Approval, Layer, LintKind, Pattern, Rule, Scope, lint};

use crate::policy;

fn kinds(rules: impl IntoIterator<Item = Rule>) -> Vec<(usize, LintKind)> {
    let rules: Vec<Rule> = rules.into_iter().collect();
    let layer = Layer::new("test", rules).unwrap();
    let at = |rule: &Rule| layer.rules().iter().position(|one| one == rule).unwrap();
    let found = lint(std::slice::from_ref(&layer));
    found
        .iter()
        .map(|lint| (at(&lint.rule), lint.kind))
        .collect()
}

#[test]
fn a_rule_that_a_stricter_one_includes_never_decides() {
    use LintKind::{Repeated, Shadowed};
    let deny = || Rule::deny("shell", "git *");
    assert_eq!(
        kinds([deny(), Rule::allow("shell", "git push *")]),
        [(1, Shadowed)]
    );
    assert_eq!(kinds([Rule::ask("shell", "git"), deny()]), [(0, Shadowed)]);
    assert_eq!(
        kinds([Rule::deny("*", "*"), Rule::allow("read", "src/**")]),
        [(1, Shadowed)]
    );
    assert_eq!(
        kinds([deny(), Rule::deny("shell", "git log")]),
        [(1, Repeated)]
    );
    // The first of two that are equal is shown, as both look the same.
    let twice = || Rule::allow("read", "a");
    assert_eq!(kinds([twice(), twice()]), [(0, Repeated)]);
}

#[test]
fn what_decides_somewhere_is_not_reported() {
    let of_agent = Rule::deny("shell", "git *").agent("explore");
    assert!(kinds([of_agent, Rule::allow("shell", "git push *")]).is_empty());
    let with = Rule::deny("call", "db/query").argument("/sql", "DROP *");
    assert!(kinds([with, Rule::allow("call", "db/query")]).is_empty());
    let sticky = Rule::ask("shell", "git push *").sticky();
    assert!(kinds([Rule::ask("shell", "git *"), sticky]).is_empty());
    assert!(
        kinds([
            Rule::allow("shell", "git *"),
            Rule::deny("shell", "git push *")
        ])
        .is_empty()
    );
    assert!(kinds([Rule::deny("read", "a/*"), Rule::allow("read", "a/**")]).is_empty());
}

#[test]
fn what_can_never_match_is_reported() {
    for rule in [
        Rule::allow("shell", "ls && *"),
        Rule::allow("shell", "git  push"),
        Rule::allow("shell", "A=1 ls"),
        Rule::deny("shell", "echo \"x\""),
        Rule::allow("bash", "ls"),
        Rule::allow("call", "mcp__db__*"),
        Rule::allow("write", "**").argument("/path", "a"),
    ] {
        assert_eq!(
            kinds([rule.clone()]),
            [(0, LintKind::NeverMatches)],
            "{rule}"
        );
    }
}

#[test]
fn an_action_that_looks_misspelt_is_reported_and_a_tools_own_is_not() {
    for action in ["shel", "Shell", "wirte", "READ", "externall", "CALL"] {
        let rule = Rule::deny(action, "x");
        assert_eq!(kinds([rule]), [(0, LintKind::Misspelt)], "{action}");
    }
    for action in ["shell", "read", "write", "call", "head", "send", "fetch"] {
        assert_eq!(kinds([Rule::deny(action, "x")]), [], "{action}");
    }
}

#[test]
fn an_explanation_names_for_each_part_the_rule_and_a_way_out() {
    let rules = [
        Rule::allow("shell", "git *"),
        Rule::deny("shell", "git push *").reason("a person pushes"),
        Rule::ask("shell", "git reset *").sticky(),
    ];
    let policy = policy(rules);
    let facts = Facts::new();
    let explain = |line: &str| {
        let resources = [Resource::command("/repo", "/repo", line)];
        policy.explain(&Request::new(Action::new("shell"), resources, &facts))
    };
    let all = explain("git log; git push; git reset; date; eval \"$x\"");
    assert_eq!(all.ruling.decision, Decision::Deny);
    assert_eq!(all.ruling.reason.as_deref(), Some("a person pushes"));
    let of = |part: &str| all.parts.iter().find(|one| one.part == part).unwrap();
    let rule = |part: &str| of(part).rule.as_ref().map(ToString::to_string);
    assert_eq!(rule("git log").as_deref(), Some("allow shell git *"));
    assert_eq!(rule("git push").as_deref(), Some("deny shell git push *"));
    assert!(of("git push").changes[1].contains("no allow, no answer and no saved approval"));
    assert!(of("git reset").changes[1].contains("sticky"));
    assert!(of("date").rule.is_none());
    assert!(of("date").changes[0].contains("resource \"date\""));
    assert!(of("the line").changes[1].contains("no rule and no saved approval"));
}

#[test]
fn an_explanation_names_a_rule_of_the_session() {
    let policy = policy([Rule::allow("shell", "git *")]);
    let layer = Layer::new("session", [Rule::deny("shell", "git push *")]).unwrap();
    policy.start_session("s", layer);
    let facts = Facts::new().session("s");
    let resources = [Resource::command("/repo", "/repo", "git push")];
    let explained = policy.explain(&Request::new(Action::new("shell"), resources, &facts));
    let rule = explained.parts[0].rule.as_ref().unwrap();
    assert_eq!(rule.place(), "session");
    assert!(explained.parts[0].changes[0].contains("the rule at session"));
}

#[test]
fn an_approval_is_overruled_only_by_what_no_approval_answers() {
    let rules = [
        Rule::deny("fetch", "a/*"),
        Rule::ask("fetch", "b/*").sticky(),
        Rule::ask("fetch", "c/*"),
        Rule::deny("fetch", "d/*").agent("build"),
    ];
    let layers = [Layer::new("test", rules).unwrap()];
    let overruled = |resource: &str| {
        let approval = Approval::new("fetch", resource, Scope::Project);
        let rule = approval.overruled_by(&layers);
        rule.map(|rule| rule.resource().as_str().to_owned())
    };
    assert_eq!(overruled("a/b").as_deref(), Some("a/*"));
    assert_eq!(overruled("b/*").as_deref(), Some("b/*"));
    for counts in ["*", "c/x", "d/x"] {
        assert_eq!(overruled(counts), None, "{counts}");
    }
}

proptest! {
    #[test]
    fn a_rule_that_is_reported_as_shadowed_never_decides(
        wide in "[ab*? ]{1,4}",
        narrow in "[ab*? ]{1,4}",
        name in "[ab ]{0,5}",
    ) {
        prop_assume!(!wide.trim().is_empty() && !narrow.trim().is_empty());
        let rules = [Rule::deny("fetch", &wide), Rule::allow("fetch", &narrow)];
        if kinds(rules).contains(&(1, LintKind::Shadowed)) {
            let (wide, narrow) = (Pattern::new(&wide), Pattern::new(&narrow));
            prop_assert!(!narrow.matches(&name) || wide.matches(&name));
            prop_assert!(!narrow.matches_path(&name) || wide.matches_path(&name));
        }
    }

    #[test]
    fn a_path_rule_that_is_reported_as_shadowed_never_decides(
        wide in "[a/*?]{1,5}",
        narrow in "[a/*?]{1,5}",
        path in "a?(/a){0,3}",
    ) {
        let (deny, allow) = (Rule::deny("read", &wide), Rule::allow("read", &narrow));
        let both = Layer::new("test", [deny, allow]);
        prop_assume!(both.is_ok());
        let found = lint(&[both.unwrap()]);
        if found.iter().any(|one| one.kind == LintKind::Shadowed) {
            let (wide, narrow) = (Pattern::new(&wide), Pattern::new(&narrow));
            prop_assert!(!narrow.matches_path(&path) || wide.matches_path(&path));
        }
    }
}
