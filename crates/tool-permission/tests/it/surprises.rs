//! What surprised people in the permission rules of other programs, by the act that showed it.

use tool_core::Decision::{self, Allow, Ask, Deny};
use tool_core::{Action, Facts, Request, Resource};
use tool_permission::{Effect, Layer, LintKind, Rule, lint};

use crate::policy;

/// The decision on a line by rules such as `allow shell ls *, deny write **`.
#[track_caller]
fn check(rules: &str, line: &str, expected: Decision) {
    let rules = rules.split(", ").map(|rule| {
        let mut words = rule.splitn(3, ' ');
        let effect = match words.next() {
            Some("allow") => Effect::Allow,
            Some("ask") => Effect::Ask,
            _ => Effect::Deny,
        };
        Rule::new(effect, words.next().unwrap(), words.next().unwrap())
    });
    let facts = Facts::new();
    let resources = vec![Resource::command("/repo", "/repo", line)];
    let policy = policy(rules).home("/home/dev");
    let ruling = policy.judge(&Request::new(Action::new("shell"), resources, &facts));
    assert_eq!(ruling.decision, expected, "{line}: {}", ruling.because);
}

#[test]
fn a_prefix_allows_no_chain() {
    check("allow shell git status *", "git status && rm -rf x", Ask);
    check("allow shell cd *", "cd a && rm -rf x", Ask);
    check("allow shell ls *", "ls; id", Ask);
}

#[test]
fn a_wrapper_a_path_or_a_shell_hides_no_denied_program() {
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
fn a_substitution_is_judged_and_not_banned() {
    check("allow shell echo *", "echo $(cat ~/.ssh/id)", Ask);
    check(
        "allow shell echo *, deny shell cat *",
        "echo >(cat x)",
        Deny,
    );
    let allowed = "allow shell git log *, allow shell date *";
    check(allowed, "git log --since=\"$(date +%F)\"", Allow);
    check("allow shell *", "eval \"$x\"", Ask);
    check("allow shell *", "echo cm0gLXJmCg== | base64 -d | sh", Ask);
}

#[test]
fn a_redirect_is_a_write() {
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
fn allow_and_deny_see_the_same_form_of_a_line() {
    let line = "bash -lc 'RUST_LOG=x cargo test 2>&1'";
    check("allow shell cargo test *", line, Allow);
    check("allow shell *, deny shell cargo test *", line, Deny);
}

#[test]
fn the_order_of_rules_means_nothing_and_a_rule_without_effect_is_reported() {
    check("deny shell git push *, allow shell *", "git push", Deny);
    check("allow shell *, deny shell git push *", "git push", Deny);
    let rules = [Rule::deny("shell", "*"), Rule::allow("shell", "git push *")];
    let found = lint(&[Layer::new("test", rules).unwrap()]);
    assert_eq!(found[0].kind, LintKind::Shadowed);
}

#[test]
fn a_pattern_ends_at_the_border_of_a_word() {
    check("allow shell git diff *", "git difftool -x cmd", Ask);
    check("allow shell ls *", "lstmeval", Ask);
    check("allow shell ls *", "ls", Allow);
}

#[test]
fn a_rule_in_another_programs_words_is_reported() {
    for rule in [
        Rule::allow("call", "mcp__server__*"),
        Rule::deny("Edit", "/abs/x/**"),
    ] {
        let found = lint(&[Layer::new("test", [rule]).unwrap()]);
        assert_eq!(found[0].kind, LintKind::NeverMatches);
    }
}

#[test]
fn an_argument_can_be_what_a_rule_is_about() {
    let policy = policy([Rule::allow("call", "db/query").argument("/sql", "SELECT *")]);
    let facts = Facts::new();
    for (sql, expected) in [("SELECT 1", Allow), ("DROP t", Ask)] {
        let arguments = serde_json::json!({ "sql": sql });
        let mut request = Request::new(Action::CALL, vec![Resource::from("db/query")], &facts);
        request.arguments = Some(&arguments);
        assert_eq!(policy.judge(&request).decision, expected);
    }
}
