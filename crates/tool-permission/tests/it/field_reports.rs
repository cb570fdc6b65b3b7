//! What surprised people in the permission rules of other programs: one test or more for each report.

use tool_core::Decision::{self, Allow, Ask, Deny};
use tool_core::{Action, Facts, Request, Resource};
use tool_permission::{LabelledCase, Layer, LintKind, Rule, RulePolicy, lint};

use crate::command_rules::{check, of};
use crate::command_variants::variants;
use crate::policy;

#[test]
fn d1_a_prefix_allows_no_chain() {
    check("allow shell git status *", "git status && rm -rf x", Ask);
    check("allow shell cd *", "cd a && rm -rf x", Ask);
    check("allow shell ls *", "ls; id", Ask);
}

#[test]
fn d3_a_wrapper_a_path_or_a_shell_hides_no_denied_program() {
    for line in [
        "setsid rm x",
        "xargs rm",
        "env rm x",
        "/bin/rm x",
        "bash -c 'rm x'",
        "builtin rm x",
        "timeout 1 nice nohup stdbuf -oL rm x",
    ] {
        check("allow shell *, deny shell rm *", line, Deny);
    }
}

#[test]
fn d3_a_wrapper_that_is_not_known_needs_a_rule_of_its_own() {
    check(
        "allow shell ls *, deny shell rm *",
        "strange-wrapper rm x",
        Ask,
    );
    check("allow shell ls *", "strange-wrapper ls", Ask);
}

#[test]
fn d6_a_substitution_is_a_part_and_what_evaluates_is_opaque() {
    check("allow shell echo *", "echo $(cat ~/.ssh/id)", Ask);
    check(
        "allow shell echo *, deny shell cat *",
        "echo >(cat x)",
        Deny,
    );
    check("allow shell *", "eval \"$x\"", Ask);
    check("allow shell *", "echo cm0gLXJmCg== | base64 -d | sh", Ask);
}

#[test]
fn d7_a_substitution_of_allowed_parts_is_not_asked_about() {
    let allowed = "allow shell git log *, allow shell date *, allow shell ls *";
    for line in [
        "git log --since=\"$(date +%F)\"",
        "git log --since=`date +%F` 2>/dev/null",
        "ls \"$(git log -1 --format=%h)\" <(date)",
        "date -d \"$(git log -1 --format=%cd)\" || ls",
    ] {
        check(allowed, line, Allow);
        check("allow shell git log *, allow shell ls *", line, Ask);
    }
}

#[test]
fn d8_a_redirect_is_a_write() {
    check(
        "allow shell echo *, allow shell cat *",
        "echo x | cat > file",
        Ask,
    );
    check("allow shell echo *", "echo x > ~/.bashrc", Ask);
    check(
        "allow shell echo *, deny write ~/.bashrc",
        "echo x > ~/.bashrc",
        Deny,
    );
}

#[test]
fn d11_allow_and_deny_see_the_same_form_of_a_line() {
    let line = "bash -lc 'RUST_LOG=x cargo test 2>&1'";
    check("allow shell cargo test *", line, Allow);
    check("allow shell *, deny shell cargo test *", line, Deny);
}

#[test]
fn d14_the_order_of_rules_means_nothing_and_a_rule_without_effect_is_reported() {
    check("deny shell git push *, allow shell *", "git push", Deny);
    check("allow shell *, deny shell git push *", "git push", Deny);
    let rules = [Rule::deny("shell", "*"), Rule::allow("shell", "git push *")];
    let found = lint(&[Layer::new("test", rules).unwrap()]);
    assert_eq!(found[0].kind, LintKind::Shadowed);
}

#[test]
fn d15_a_pattern_ends_at_the_border_of_a_word() {
    check("allow shell git diff *", "git difftool -x cmd", Ask);
    check("allow shell ls *", "lstmeval", Ask);
    check("allow shell ls *", "ls", Allow);
}

#[test]
fn d4_a_rule_in_another_programs_words_is_reported() {
    for rule in [
        Rule::allow("call", "mcp__server__*"),
        Rule::deny("Edit", "/abs/x/**"),
    ] {
        let found = lint(&[Layer::new("test", [rule]).unwrap()]);
        assert_eq!(found[0].kind, LintKind::NeverMatches);
    }
}

#[test]
fn d13_an_argument_can_be_what_a_rule_is_about() {
    let policy = policy([Rule::allow("call", "db/query").argument("/sql", "SELECT *")]);
    let facts = Facts::new();
    for (sql, expected) in [("SELECT 1", Allow), ("DROP t", Ask)] {
        let arguments = serde_json::json!({ "sql": sql });
        let mut request = Request::new(Action::CALL, [Resource::from("db/query")], &facts);
        request.set_arguments(Some(&arguments));
        assert_eq!(policy.judge(&request).decision, expected);
    }
}

#[test]
fn d4_a_rule_for_a_path_holds_from_the_root_of_the_workspace_and_of_the_machine() {
    for rule in ["deny write /repo/x/**", "deny write x/**"] {
        let rules = format!("allow shell *, allow write **, {rule}");
        check(&rules, "echo a > x/y", Deny);
        check(&rules, "echo a > /repo/x/y", Deny);
        check(&rules, "echo a > y", Allow);
    }
}

#[test]
fn d5_a_decision_names_the_file_and_line_of_its_rule_among_several_files() {
    let file = |name: &str, effect: &str| {
        let text = format!(
            "version = 1\n\n[[rule]]\neffect = \"{effect}\"\naction = \"shell\"\nresource = \"git *\"\n"
        );
        Layer::parse(name, &text).unwrap()
    };
    let layers = [("a.toml", "allow"), ("b.toml", "deny"), ("c.toml", "ask")];
    let policy = RulePolicy::new(layers.map(|(name, effect)| file(name, effect)));
    let facts = Facts::new();
    let resources = [Resource::command("/repo", "/repo", "git log; date")];
    let request = Request::new(Action::new("shell"), resources, &facts);
    let told = "deny shell git * (b.toml:3)";
    let because = policy.judge(&request).because;
    assert_eq!(because, format!("git log: {told}"));
    let explained = policy.explain(&request);
    assert_eq!(explained.ruling.because, told);
    assert!(explained.parts.iter().any(|part| part.rule.is_none()));
}

#[test]
fn d5_rules_are_tested_by_labelled_cases() {
    let case = |expect: &str| {
        let rules = r#"[{"effect":"allow","action":"shell","resource":"ls *"}]"#;
        let text =
            format!(r#"{{"id":"x","rules":{rules},"command":"ls; id","expect":"{expect}"}}"#);
        let case = LabelledCase::parse(&text).unwrap();
        case.run("/x".as_ref()).unwrap().is_right()
    };
    assert!(case("ask") && !case("allow"));
}

/// Rules, an act, and the verdict that each way of writing it deserves at least.
const ACTS: &[(&str, &str, Decision)] = &[
    ("allow shell git status *", "git status && rm -rf x", Ask),
    ("allow shell cd *", "cd a && rm -rf x", Ask),
    ("allow shell *, deny shell rm *", "setsid rm x", Deny),
    ("allow shell *, deny shell rm *", "xargs rm", Deny),
    ("allow shell *, deny shell rm *", "env rm x", Deny),
    ("allow shell *, deny shell rm *", "/bin/rm x", Deny),
    ("allow shell *, deny shell rm *", "bash -c 'rm x'", Deny),
    (
        "allow shell *, allow write **, deny write /repo/x/**",
        "echo a > x/y",
        Deny,
    ),
    (
        "allow shell *, deny shell git *, ask shell git *",
        "git log",
        Deny,
    ),
    ("allow shell echo *", "echo $(cat ~/.ssh/id)", Ask),
    (
        "allow shell *, deny shell cat *",
        "echo $(cat ~/.ssh/id)",
        Deny,
    ),
    ("allow shell *", "echo cm0K | base64 -d | sh", Ask),
    (
        "allow shell git log *",
        "git log --since=\"$(date +%F)\"",
        Ask,
    ),
    (
        "allow shell *, deny shell date *",
        "git log --since=\"$(date +%F)\"",
        Deny,
    ),
    ("allow shell *", "echo x | cat > file", Ask),
    (
        "allow shell *, allow write **, deny write ~/.bashrc",
        "echo x > ~/.bashrc",
        Deny,
    ),
    (
        "allow shell *, deny shell cargo test *",
        "zsh -lc \"RUST_LOG=x cargo test 2>&1\"",
        Deny,
    ),
    ("allow shell ls *", "ls; id", Ask),
    ("allow shell *, deny shell id *", "ls; id", Deny),
    ("deny shell git push *, allow shell *", "git push", Deny),
    ("allow shell git diff *", "git difftool -x cmd", Ask),
    (
        "allow shell *, deny shell rm *",
        "git status && rm -rf ./tmp",
        Deny,
    ),
];

#[test]
fn d_each_act_gets_its_verdict_in_every_way_of_writing_it() {
    let facts = Facts::new();
    let mut wrong = Vec::new();
    for (rules, act, expected) in ACTS {
        let policy = of(rules);
        for (how, line) in variants(act) {
            let resources = [Resource::command("/repo", "/repo", &line)];
            let ruling = policy.judge(&Request::new(Action::new("shell"), resources, &facts));
            if ruling.decision != *expected {
                wrong.push(format!("{how}: {line:?} by {rules}: {}", ruling.because));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
