//! Lines for a shell against the labelled cases: the decision, and every part that was found.

use serde_json::Value;
use tool_core::{Action, Decision, Facts, Request, Resource, Ruling};
use tool_permission::{CommandAnalysis, CommandWord, Effect, Rule};

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

    fn allows(&self, decision: &str) -> bool {
        let also = self.0["also"].as_array();
        self.text("expect") == decision
            || also.is_some_and(|also| also.iter().any(|word| word == decision))
    }
}

#[test]
fn every_labelled_line_is_decided_as_its_label_says() {
    let cases = Case::all();
    assert_eq!(cases.len(), 156);
    let mut wrong = Vec::new();
    for case in &cases {
        let ruling = decide(case.rules(), case.cwd(), case.text("command"));
        let word = word_of(ruling.decision);
        if !case.allows(word) {
            let (id, why) = (case.text("id"), case.text("why"));
            wrong.push(format!("{id}: {word} ({}), but {why}", ruling.because));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_part_of_a_labelled_line_is_found_and_nothing_else() {
    let mut wrong = Vec::new();
    for case in Case::all() {
        let analysis = CommandAnalysis::new("/repo", case.cwd(), case.text("command"));
        let differs = differences(&case.0["parts"], &analysis);
        if !differs.is_empty() {
            wrong.push(format!("{}: {}", case.text("id"), differs.join("; ")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_labelled_line_that_is_denied_is_denied_in_every_way_of_writing_it() {
    let mut wrong = Vec::new();
    for case in Case::all() {
        let line = case.text("command");
        let denied = word_of(decide(case.rules(), case.cwd(), line).decision) == "deny";
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
    let resources = vec![Resource::command("/repo", cwd, line)];
    policy.judge(&Request::new(
        Action::new("shell"),
        resources,
        &Facts::new(),
    ))
}

fn word_of(decision: Decision) -> &'static str {
    match decision {
        Decision::Allow => "allow",
        Decision::Ask => "ask",
        Decision::Deny => "deny",
    }
}

fn differences(parts: &Value, analysis: &CommandAnalysis) -> Vec<String> {
    let mut differs = Vec::new();
    let mut left: Vec<&[CommandWord]> = analysis.commands().collect();
    for argv in parts["argv"].as_array().unwrap() {
        match left.iter().position(|words| same_words(argv, words)) {
            Some(at) => {
                left.remove(at);
            }
            None => differs.push(format!("{argv} is missing")),
        }
    }
    differs.extend(
        left.iter()
            .map(|words| format!("{} was found", shown(words))),
    );

    let mut files: Vec<_> = analysis.redirects().collect();
    for opened in parts["redirects"].as_array().unwrap() {
        let same = files.iter().position(|file| {
            opened["op"] == file.operator() && opened["path"].as_str() == file.path().as_deref()
        });
        match same {
            Some(at) => {
                files.remove(at);
            }
            None => differs.push(format!("{opened} is missing")),
        }
    }
    differs.extend(files.iter().map(|file| format!("{file:?} was found")));

    if parts["opaque"] != analysis.opaque().is_some() {
        differs.push(format!("opaque is {:?}", analysis.opaque()));
    }
    if let Some(assign) = parts["assign"].as_array() {
        let found: Vec<_> = analysis.assignments().collect();
        let same = found.len() == assign.len()
            && assign.iter().zip(&found).all(|(label, found)| {
                label[0] == found.name() && same_word(&label[1], found.value())
            });
        if !same {
            differs.push(format!("{found:?} is assigned"));
        }
    }
    differs
}

fn same_words(labels: &Value, words: &[CommandWord]) -> bool {
    let labels = labels.as_array().unwrap();
    labels.len() == words.len()
        && labels
            .iter()
            .zip(words)
            .all(|(label, word)| same_word(label, word))
}

/// Known words are the same; an unknown one is shown as it was written.
fn same_word(label: &Value, word: &CommandWord) -> bool {
    match label {
        Value::String(text) => word.known() == Some(text),
        label => word.known().is_none() && label["unknown"].as_str() == Some(word.shown()),
    }
}

fn shown(words: &[CommandWord]) -> String {
    let words: Vec<&str> = words.iter().map(CommandWord::shown).collect();
    words.join(" ")
}
