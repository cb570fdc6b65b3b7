//! Why a request is decided as it is.

use tool_core::{Decision, Request, Resource, Ruling};

use crate::command::{self, PartKind};
use crate::judge::{Judge, Saved, strictest};
use crate::policy::resource_ruling;
use crate::{Effect, Rule, RulePolicy};

/// Why a request is decided as it is, part by part.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Explanation {
    /// The decision on the whole request: the strictest of all parts.
    pub ruling: Ruling,
    /// Each resource; of a line for a shell, each command, file and folder in it. At least one.
    pub parts: Vec<ExplainedPart>,
}

/// One part of a request, and what decided on it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ExplainedPart {
    /// The part, for people.
    pub part: String,
    /// The decision on it.
    pub ruling: Ruling,
    /// The rule that decided. None where it was the want of one, or no rule could matter.
    pub rule: Option<Rule>,
    /// What would change the decision, one way each.
    pub changes: Vec<String>,
}

impl RulePolicy {
    /// Explains the decision on a request: that of [`judge`](Self::judge), with the rule behind
    /// each part and what would change it. It takes time in proportion to the number of rules.
    #[must_use]
    pub fn explain(&self, request: &Request<'_>) -> Explanation {
        let approved = self.saved().current();
        let saved = Saved::Of(&approved, self.saved().now());
        let parts: Vec<ExplainedPart> = self.with_judges(request, saved, |judges| {
            let asked = judges.iter();
            let parts = asked.flat_map(|(judge, request)| {
                let resources = request.resources.iter();
                let parts = resources.flat_map(|resource| parts(judge, request, resource));
                parts.map(|part| {
                    let mut all = judge.rules().chain(approved.rules());
                    let rule = all.find(|rule| decided(rule, &part.ruling));
                    ExplainedPart {
                        changes: changes(&part, rule),
                        part: part.shown,
                        ruling: part.ruling,
                        rule: rule.cloned(),
                    }
                })
            });
            parts.collect()
        });
        Explanation {
            ruling: strictest(parts.iter().map(|part| part.ruling.clone())),
            parts,
        }
    }
}

/// A part with its ruling.
struct Ruled {
    shown: String,
    /// The rule that would allow it, if one can.
    allow: Option<(String, String)>,
    ruling: Ruling,
}

fn parts(judge: &Judge<'_>, request: &Request<'_>, resource: &Resource) -> Vec<Ruled> {
    let action = request.action.as_str();
    let Resource::Command { root, cwd, line } = resource else {
        return vec![Ruled {
            shown: resource.to_string(),
            allow: Some((action.to_owned(), resource.to_string())),
            ruling: resource_ruling(judge, request, resource),
        }];
    };
    let parts = command::parts(judge, action, root, cwd, line).into_iter();
    parts
        .map(|part| Ruled {
            allow: match part.kind {
                PartKind::Command => Some((action.to_owned(), part.shown.clone())),
                PartKind::Folder => Some((Rule::EXTERNAL.to_owned(), part.shown.clone())),
                PartKind::File => {
                    let (operator, file) = part.shown.split_once(' ').unwrap_or_default();
                    let action = if operator == "<" { "read" } else { "write" };
                    Some((action.to_owned(), file.to_owned()))
                }
                PartKind::Line => None,
            },
            shown: part.shown,
            ruling: part.ruling,
        })
        .collect()
}

/// Whether the rule is the one that a ruling names.
fn decided(rule: &Rule, ruling: &Ruling) -> bool {
    [rule.ruling(), rule.possible_ruling()]
        .iter()
        .any(|own| own.decision == ruling.decision && ruling.because.ends_with(&*own.because))
}

fn changes(part: &Ruled, rule: Option<&Rule>) -> Vec<String> {
    let narrow = |rule: &Rule| match rule.line() {
        Some(line) => format!("remove or narrow the rule at {}:{line}", rule.place()),
        None => format!(
            "have the program remove or narrow the rule at {}, which stands in no file",
            rule.place()
        ),
    };
    let wild = part
        .allow
        .as_ref()
        .is_some_and(|(_, resource)| resource.contains(['*', '?', '"', '\n']));
    let allow = part
        .allow
        .as_ref()
        .filter(|_| !wild)
        .map(|(action, resource)| {
            format!("a rule with effect \"allow\", action \"{action}\", resource \"{resource}\"")
        });
    let mut ways = Vec::new();
    match (part.ruling.decision, rule) {
        (Decision::Deny, Some(rule)) => {
            ways.push(narrow(rule));
            ways.push(
                "nothing else: no allow, no answer and no saved approval lifts a deny".to_owned(),
            );
        }
        (Decision::Deny, None) => {
            ways.push("name something that exists in a way that can be resolved".to_owned());
        }
        (Decision::Ask, Some(rule)) => {
            if rule.effect() == Effect::Deny || part.ruling.because.contains(" may match ") {
                ways.push("write out what is known only when running, so that the rule surely matches or surely does not".to_owned());
            }
            ways.push(narrow(rule));
            ways.push(match rule.is_sticky() {
                true => "an answer each time; the rule is sticky, so that no saved approval counts"
                    .to_owned(),
                false => "an answer, or a saved approval".to_owned(),
            });
        }
        (Decision::Ask, None) if part.allow.is_none() => {
            ways.push("write the line so that it can be read: without eval, a program from a pipe or file, or a variable as the program".to_owned());
            ways.push("an answer each time; no rule and no saved approval allows it".to_owned());
        }
        (Decision::Ask, None) => {
            ways.extend(allow);
            ways.push("an answer, or a saved approval".to_owned());
        }
        (Decision::Allow, Some(rule)) => {
            ways.push(narrow(rule));
            ways.push("a rule that denies or asks; it wins over every allow".to_owned());
        }
        (Decision::Allow, None) => {
            ways.push("a rule that denies or asks; it wins over every allow".to_owned());
        }
    }
    ways
}
