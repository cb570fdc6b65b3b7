//! What providers refuse of a definition as it stands.

mod catalogue;
mod checks;
mod cycles;
mod finding;
mod handling;
mod rule;
mod site;
mod subject;

use serde_json::Value;

pub use catalogue::lint_rules;
pub use finding::{Finding, Handling};
pub use rule::{Level, LintRule, RULES_READ};

use crate::Profile;
use handling::Sent;
use rule::Check;
use subject::{Hit, Hits, Subject};

/// What the providers of these profiles would refuse of the tools of a server, as they stand in a
/// `tools/list` result, and what they take without heeding it.
///
/// An entry may be anything: one that is hopeless is reported and stops no other. The findings come
/// in the order of the entries; of one entry in that of the profiles, and then of the rules.
///
/// A finding says what this library does about it, which is what [`Profile::tools`] would: most of
/// what is refused is sent in another form. An author whose server is used with other clients
/// cannot count on that.
///
/// ```
/// use serde_json::json;
/// use tool_provider::{Level, Profile, lint_tools};
///
/// let entry = json!({
///     "name": "open",
///     "description": "Opens something.",
///     "inputSchema": {
///         "type": "object",
///         "properties": {"route": {"type": "string"}, "file": {"type": "string"}},
///         "anyOf": [{"required": ["route"]}, {"required": ["file"]}],
///     },
/// });
/// let found = lint_tools(&[entry], &[Profile::Anthropic]);
/// let refused = found.iter().find(|it| it.rule.level == Level::Refused);
/// let refused = refused.map(|it| (it.rule.id, it.pointer.as_str()));
/// assert_eq!(refused, Some(("anthropic/root-combinator", "/inputSchema/anyOf")));
/// ```
#[must_use]
pub fn lint_tools(entries: &[Value], profiles: &[Profile]) -> Vec<Finding> {
    let mut found = Vec::new();
    for profile in profiles {
        counts(entries, *profile, &mut found);
    }
    for (index, entry) in entries.iter().enumerate() {
        let subject = Subject::of(entry);
        let before = entries.get(..index).unwrap_or_default();
        let same = |other: &Value| {
            let name = other.get("name").and_then(Value::as_str);
            subject.name().is_some() && name == subject.name()
        };
        let twice = before.iter().any(same);
        for profile in profiles {
            one(&subject, index, *profile, twice, &mut found);
        }
    }
    found
}

/// Rules about the number of tools in a request.
fn counts(entries: &[Value], profile: Profile, found: &mut Vec<Finding>) {
    for rule in of(profile) {
        let Check::Count(most) = rule.check else {
            continue;
        };
        let (handling, handled) = match most < profile.rules().request.tools {
            true => (
                Handling::NotStrict,
                "further tools are sent without strictness",
            ),
            false => (
                Handling::LeftOut,
                "tools beyond the limit are not sent, in the order of names",
            ),
        };
        if entries.len() > most {
            found.push(Finding {
                rule,
                profile,
                index: None,
                tool: String::new(),
                pointer: String::new(),
                keyword: String::new(),
                message: format!("the list has {} tools", entries.len()),
                handling,
                handled: handled.to_owned(),
                fix: rule.fix.to_owned(),
            });
        }
    }
}

/// Everything about one tool and one profile.
fn one(
    subject: &Subject<'_>,
    index: usize,
    profile: Profile,
    twice: bool,
    found: &mut Vec<Finding>,
) {
    let rules = profile.rules();
    let sent = Sent::of(subject, profile);
    let first = found.len();
    let push = |found: &mut Vec<Finding>, rule: &'static LintRule, hit: Hit| {
        let (handling, handled) = sent.handling(rule, &hit);
        found.push(Finding {
            rule,
            profile,
            index: Some(index),
            tool: subject.name().unwrap_or_default().to_owned(),
            pointer: hit.pointer,
            keyword: hit.keyword,
            message: hit.message,
            handling,
            handled,
            fix: hit.fix.unwrap_or_else(|| rule.fix.to_owned()),
        });
    };
    for rule in of(profile) {
        let mut hits = Hits::default();
        match rule.check {
            Check::Tool(check) => check(subject, rules, &mut hits),
            Check::Name if twice => hits.entry("/name", "a tool before it has the same name"),
            _ => {}
        }
        for hit in hits.0 {
            push(found, rule, hit);
        }
    }
    // What the projection cannot do, or gives up, that no rule told of.
    for (rule, hit) in sent.remaining(found.get(first..).unwrap_or_default()) {
        push(found, rule, hit);
    }
}

fn of(profile: Profile) -> impl Iterator<Item = &'static LintRule> {
    lint_rules().filter(move |rule| rule.profiles.contains(&profile))
}
