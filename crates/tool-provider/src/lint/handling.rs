//! What the projection does about what was found.

use std::collections::HashMap;

use super::catalogue::lint_rules;
use super::finding::{Finding, Handling};
use super::rule::{Level, LintRule};
use super::subject::{Hit, Subject};
use crate::Profile;
use crate::loss::{Effect, Loss};
use crate::project::Projection;
use crate::quarantine::Quarantine;

/// What is sent, and what was said of each place.
pub(super) struct Told {
    sent: Projection,
    /// Which of the losses are told of a place, as both may be thousands.
    by_place: HashMap<String, Vec<usize>>,
}

/// What becomes of a tool for one profile.
pub(super) enum Sent {
    As(Box<Told>),
    Not(Box<Quarantine>),
    /// No definition can be made of it.
    Hopeless,
}

impl Sent {
    pub(super) fn of(subject: &Subject<'_>, profile: Profile) -> Self {
        match subject.definition() {
            None => Self::Hopeless,
            Some(definition) => match profile.project(&definition) {
                Ok(sent) => Self::As(Box::new(Told::of(sent))),
                Err(quarantine) => Self::Not(Box::new(quarantine)),
            },
        }
    }

    /// What becomes of one hit, and in words.
    pub(super) fn handling(&self, rule: &LintRule, hit: &Hit) -> (Handling, String) {
        let sent = match self {
            Self::Hopeless => {
                let words = "no host can register the tool".to_owned();
                return (Handling::LeftOut, words);
            }
            Self::Not(quarantine) => {
                let words = format!("the tool is not sent: {}", quarantine.reason);
                return (Handling::LeftOut, words);
            }
            Self::As(told) => told,
        };
        let (told, sent) = (sent, &sent.sent);
        if rule.id == "definition/duplicate-name" {
            let words = "only one of the two is sent".to_owned();
            return (Handling::LeftOut, words);
        }
        if let Some(because) = sent.fell_back()
            && rule.profiles.iter().all(|profile| profile.is_strict())
        {
            let words = format!("the tool is sent without strictness: {}", because.note);
            return (Handling::NotStrict, words);
        }
        if hit.pointer == "/name" && rule.level == Level::Refused {
            let words = format!("it is sent as {}", sent.name());
            return (Handling::Rewritten, words);
        }
        if let Some(loss) = told.loss_of(&hit.pointer, &hit.keyword) {
            let handling = match loss.effect {
                Effect::Rewritten | Effect::Narrowed => Handling::Rewritten,
                Effect::GivenUp => Handling::GivenUp,
            };
            return (handling, loss.note.clone());
        }
        match rule.level {
            Level::Refused => (
                Handling::Rewritten,
                "it is sent in a form that is taken and means the same".to_owned(),
            ),
            _ => (Handling::Sent, "it is sent".to_owned()),
        }
    }

    /// What no rule told of: the reason why a tool is not sent, or not strictly, and what is given
    /// up.
    pub(super) fn remaining(&self, found: &[Finding]) -> Vec<(&'static LintRule, Hit)> {
        let rule = |id: &str| lint_rules().find(|rule| rule.id == id);
        let refused = found.iter().any(|it| it.rule.level == Level::Refused);
        let mut remaining = Vec::new();
        match self {
            Self::Hopeless => {}
            Self::Not(quarantine) => {
                let explained = found.iter().any(|it| {
                    let id = it.rule.id;
                    let says_why = id.starts_with("schema/")
                        || id.starts_with("definition/")
                        || id.ends_with("/size");
                    says_why && it.rule.level == Level::Refused
                });
                if let Some(rule) = rule("schema/unusable").filter(|_| !explained) {
                    remaining.push((rule, hit(&quarantine.path, "", &quarantine.reason)));
                }
            }
            Self::As(told) => {
                let sent = &told.sent;
                let Some(rule) = rule("schema/given-up") else {
                    return remaining;
                };
                if let Some(because) = sent.fell_back().filter(|_| !refused) {
                    let message = format!("the tool cannot be strict: {}", because.note);
                    remaining.push((rule, hit(&because.path, &because.keyword, &message)));
                }
                let given_up = sent
                    .losses()
                    .iter()
                    .filter(|it| it.effect == Effect::GivenUp);
                let mut heeded: HashMap<&str, Vec<&Finding>> = HashMap::new();
                for finding in found.iter().filter(|it| it.rule.level != Level::Note) {
                    for place in places(&finding.pointer) {
                        heeded.entry(place).or_default().push(finding);
                    }
                }
                for loss in given_up {
                    let there = heeded.get(loss.path.as_str()).into_iter().flatten();
                    let mut there = there.copied();
                    let told = there.any(|it| is_about(loss, &it.pointer, &it.keyword));
                    if !told {
                        let message = match loss.keyword.as_str() {
                            "" => loss.note.clone(),
                            keyword => format!("`{keyword}`: {}", loss.note),
                        };
                        remaining.push((rule, hit(&loss.path, &loss.keyword, &message)));
                    }
                }
            }
        }
        remaining
    }
}

fn hit(place: &str, keyword: &str, message: &str) -> Hit {
    Hit {
        pointer: format!("/inputSchema{place}"),
        keyword: keyword.to_owned(),
        message: message.to_owned(),
        fix: None,
    }
}

impl Told {
    fn of(sent: Projection) -> Self {
        let mut by_place: HashMap<String, Vec<usize>> = HashMap::new();
        for (index, loss) in sent.losses().iter().enumerate() {
            by_place.entry(loss.path.clone()).or_default().push(index);
        }
        Self { sent, by_place }
    }

    /// What the projection says first of what was found.
    fn loss_of(&self, pointer: &str, keyword: &str) -> Option<&Loss> {
        let firsts = places(pointer).filter_map(|place| {
            let mut there = self.by_place.get(place)?.iter().copied();
            there.find(|index| {
                let loss = self.sent.losses().get(*index);
                loss.is_some_and(|loss| is_about(loss, pointer, keyword))
            })
        });
        self.sent.losses().get(firsts.min()?)
    }
}

/// The places of the schema of which a loss may be about what was found at a pointer: that one, and
/// what it stands in.
fn places(pointer: &str) -> impl Iterator<Item = &str> {
    let site = pointer.rsplit_once('/').map(|(site, _)| site);
    let both = std::iter::once(pointer).chain(site);
    both.filter_map(|place| place.strip_prefix("/inputSchema"))
}

/// Whether a loss is about what was found: the keyword that the place ends with, or one of the
/// schema that stands there.
fn is_about(loss: &Loss, pointer: &str, keyword: &str) -> bool {
    let at = |pointer: &str| pointer.strip_prefix("/inputSchema") == Some(&loss.path);
    let (site, last) = pointer.rsplit_once('/').unwrap_or(("", pointer));
    let same = keyword.is_empty() || loss.keyword.is_empty() || loss.keyword == keyword;
    at(pointer) && same || at(site) && loss.keyword == last
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Sent, is_about};
    use crate::Profile;
    use crate::lint::subject::Subject;

    /// Each pointer below a value.
    fn pointers(value: &Value, at: &str, all: &mut Vec<String>) {
        all.push(at.to_owned());
        match value {
            Value::Object(members) => members
                .iter()
                .for_each(|(key, value)| pointers(value, &format!("{at}/{key}"), all)),
            Value::Array(items) => items
                .iter()
                .enumerate()
                .for_each(|(index, value)| pointers(value, &format!("{at}/{index}"), all)),
            _ => {}
        }
    }

    #[test]
    fn what_is_found_by_place_is_what_a_look_at_every_loss_finds_first() {
        let schema = json!({
            "type": "object",
            "minProperties": 1,
            "not": {"required": ["b"]},
            "properties": {
                "a": {"not": {"$ref": "#/$defs/x"}, "pattern": "(?=a)", "format": "odd", "minLength": 2},
                "b": {"type": "array", "uniqueItems": true, "contains": {"const": 1}, "maxItems": 3},
                "c": {"if": {"type": "string"}, "then": {"minLength": 1}, "multipleOf": 2},
            },
            "patternProperties": {"^x": {"type": "string", "maxLength": 9}},
            "$defs": {"x": {"not": {"$ref": "#/$defs/y"}}, "y": {"not": {"$ref": "#/$defs/x"}}},
        });
        let entry = json!({"name": "t", "description": "T.", "inputSchema": schema.clone()});
        let mut all = vec!["/name".to_owned(), "/description".to_owned()];
        pointers(&schema, "/inputSchema", &mut all);
        let keywords = [
            "",
            "not",
            "pattern",
            "minLength",
            "$ref",
            "uniqueItems",
            "if",
        ];
        let (subject, mut losses) = (Subject::of(&entry), 0);
        for profile in Profile::ALL {
            let Sent::As(told) = Sent::of(&subject, profile) else {
                continue;
            };
            for pointer in &all {
                for keyword in keywords {
                    let mut each = told.sent.losses().iter();
                    let first = each.find(|loss| is_about(loss, pointer, keyword));
                    let found = told.loss_of(pointer, keyword);
                    let same = match (first, found) {
                        (Some(first), Some(found)) => std::ptr::eq(first, found),
                        (first, found) => first.is_none() && found.is_none(),
                    };
                    assert!(same, "{profile:?} {pointer} {keyword}: {first:?} {found:?}");
                    losses += usize::from(first.is_some());
                }
            }
        }
        assert!(losses > 100, "only {losses} losses are about anything");
    }
}
