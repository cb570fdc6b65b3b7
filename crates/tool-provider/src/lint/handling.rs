//! What the projection does about what was found.

use super::catalogue::lint_rules;
use super::finding::{Finding, Handling};
use super::rule::{Level, LintRule};
use super::subject::{Hit, Subject};
use crate::Profile;
use crate::loss::{Effect, Loss};
use crate::project::Projection;
use crate::quarantine::Quarantine;

/// What becomes of a tool for one profile.
pub(super) enum Sent {
    As(Box<Projection>),
    Not(Box<Quarantine>),
    /// No definition can be made of it.
    Hopeless,
}

impl Sent {
    pub(super) fn of(subject: &Subject<'_>, profile: Profile) -> Self {
        match subject.definition() {
            None => Self::Hopeless,
            Some(definition) => match profile.project(&definition) {
                Ok(sent) => Self::As(Box::new(sent)),
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
            Self::As(sent) => sent,
        };
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
        if let Some(loss) = loss_of(sent, hit) {
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
            Self::As(sent) => {
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
                for loss in given_up {
                    let told = found.iter().any(|finding| {
                        finding.rule.level != Level::Note
                            && is_about(loss, &finding.pointer, &finding.keyword)
                    });
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

/// What a projection says of the place of a hit.
fn loss_of<'a>(sent: &'a Projection, hit: &Hit) -> Option<&'a Loss> {
    let mut losses = sent.losses().iter();
    losses.find(|loss| is_about(loss, &hit.pointer, &hit.keyword))
}

/// Whether a loss is about what was found: the keyword that the place ends with, or one of the
/// schema that stands there.
fn is_about(loss: &Loss, pointer: &str, keyword: &str) -> bool {
    let at = |pointer: &str| pointer.strip_prefix("/inputSchema") == Some(&loss.path);
    let (site, last) = pointer.rsplit_once('/').unwrap_or(("", pointer));
    let same = keyword.is_empty() || loss.keyword.is_empty() || loss.keyword == keyword;
    at(pointer) && same || at(site) && loss.keyword == last
}
