//! The labelled lines for a shell, written in other ways and with their rules in another order.
//! That each comes out as labelled is tested with the public reader of cases.

use serde_json::Value;
use tool_core::{Action, Decision, Facts, Request, Resource, Ruling};
use tool_permission::{Effect, Rule};

use crate::command_variants::{respelled, variants};
use crate::policy;

const CASES: &str = include_str!("data/command-cases.jsonl");

/// One label.
struct Case(Value);

impl Case {
    fn all() -> Vec<Self> {
        let lines = CASES.lines();
        lines
            .map(|line| Self(serde_json::from_str(line).unwrap()))
            .collect()
    }

    fn text(&self, key: &str) -> &str {
        self.0[key].as_str().unwrap()
    }

    fn cwd(&self) -> &str {
        self.0["cwd"].as_str().unwrap_or("/repo")
    }

    fn rules(&self) -> Vec<Rule> {
        let rules = self.0["rules"].as_array().unwrap().iter();
        rules
            .map(|rule| {
                let effect = match rule["effect"].as_str().unwrap() {
                    "allow" => Effect::Allow,
                    "ask" => Effect::Ask,
                    _ => Effect::Deny,
                };
                let action = rule["action"].as_str().unwrap();
                Rule::new(effect, action, rule["resource"].as_str().unwrap())
            })
            .collect()
    }
}

#[test]
fn a_labelled_line_that_is_denied_is_denied_in_every_way_of_writing_it() {
    let mut wrong = Vec::new();
    for case in Case::all() {
        let line = case.text("command");
        let denied = decide(case.rules(), case.cwd(), line).decision == Decision::Deny;
        if !denied {
            continue;
        }
        let mut lines = variants(line);
        for rule in case
            .rules()
            .iter()
            .filter(|rule| rule.effect() == Effect::Deny)
        {
            let pattern = rule.resource().to_string();
            let program = pattern.split(' ').next().unwrap_or_default();
            if rule.action() == "shell" && program != "*" {
                lines.extend(respelled(line, program));
            }
        }
        for (how, line) in lines {
            let ruling = decide(case.rules(), case.cwd(), &line);
            // A change of folder that runs later or again leads nobody knows where from.
            let unsure = matches!(
                (case.text("id"), how),
                ("sh-120" | "sh-149", "function" | "loop" | "trap") | ("sh-070", "wrapper find")
            );
            if ruling.decision != Decision::Deny && !(unsure && ruling.decision == Decision::Ask) {
                wrong.push(format!(
                    "{} {how}: {line:?}: {}",
                    case.text("id"),
                    ruling.because
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn shuffling_the_rules_of_a_labelled_line_changes_nothing() {
    for case in Case::all() {
        let mut rules = case.rules();
        let before = decide(rules.clone(), case.cwd(), case.text("command"));
        rules.reverse();
        let after = decide(rules, case.cwd(), case.text("command"));
        assert_eq!(before, after, "{}", case.text("id"));
    }
}

fn decide(rules: Vec<Rule>, cwd: &str, line: &str) -> Ruling {
    let policy = policy(rules).home("/home/dev");
    let resources = [Resource::command("/repo", cwd, line)];
    policy.judge(&Request::new(
        Action::new("shell"),
        resources,
        &Facts::new(),
    ))
}
