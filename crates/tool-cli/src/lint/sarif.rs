//! What was found as a log in the Static Analysis Results Interchange Format.
//!
//! Source: OASIS, SARIF 2.1.0 with errata 01, sections 3.13 to 3.52.

use std::path::{Component, Path};

use serde_json::{Value, json};
use tool_runtime::provider::{Finding, Level, LintRule, Profile, RULES_READ, lint_rules};

use super::listed::Listed;
use super::{Linted, Unread};

/// The whole log: one run, whose rules are those of the profiles.
///
/// A server that could not be asked is a notification of the invocation, which then did not succeed.
pub(super) fn document(
    linted: &[Linted],
    unread: &[Unread],
    profiles: &[Profile],
    status: u8,
) -> Value {
    let rules: Vec<&LintRule> = lint_rules()
        .filter(|rule| rule.profiles.iter().any(|it| profiles.contains(it)))
        .collect();
    let results: Vec<Value> = linted
        .iter()
        .flat_map(|list| results(list, &rules))
        .collect();
    json!({
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "tool lint",
                "version": env!("CARGO_PKG_VERSION"),
                "informationUri": env!("CARGO_PKG_REPOSITORY"),
                "rules": rules.iter().map(|rule| descriptor(rule)).collect::<Vec<_>>(),
            }},
            "invocations": [{
                "executionSuccessful": unread.is_empty(),
                "exitCode": status,
                "toolExecutionNotifications": unread.iter().map(notification).collect::<Vec<_>>(),
            }],
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

fn notification(unread: &Unread) -> Value {
    let listed = &unread.listed;
    json!({
        "level": "error",
        "message": {"text": format!("{unread}.")},
        "locations": [{"physicalLocation": physical(listed, "")}],
    })
}

/// A place of the file.
fn physical(listed: &Listed, place: &str) -> Value {
    json!({
        "artifactLocation": {"uri": uri(&listed.artifact)},
        "region": {"startLine": listed.line_of(place)},
    })
}

fn descriptor(rule: &LintRule) -> Value {
    json!({
        "id": rule.id,
        "shortDescription": {"text": rule.summary},
        "help": {"text": rule.fix},
        "defaultConfiguration": {"level": level(rule.level)},
        "properties": {
            "profiles": rule.profiles.iter().map(|it| it.as_str()).collect::<Vec<_>>(),
            "source": rule.source,
            "read": RULES_READ,
        },
    })
}

/// One result for each place and rule; the profiles stand in its properties.
fn results(list: &Linted, rules: &[&LintRule]) -> Vec<Value> {
    let mut groups: Vec<(&Finding, Vec<&Finding>)> = Vec::new();
    for finding in &list.findings {
        let same = groups.iter_mut().find(|(first, _)| {
            first.index == finding.index
                && first.rule.id == finding.rule.id
                && first.pointer == finding.pointer
                && first.message == finding.message
        });
        match same {
            Some((_, all)) => all.push(finding),
            None => groups.push((finding, vec![finding])),
        }
    }
    let result = |(first, all): (&Finding, Vec<&Finding>)| {
        let handled: Vec<Value> = all
            .iter()
            .map(|it| json!({"profile": it.profile.as_str(), "handling": it.handling, "handled": it.handled}))
            .collect();
        let index = rules.iter().position(|rule| rule.id == first.rule.id);
        json!({
            "ruleId": first.rule.id,
            "ruleIndex": index,
            "level": level(first.rule.level),
            "message": {"text": message(first)},
            "locations": [location(&list.listed, first)],
            "properties": {"fix": first.fix, "profiles": handled},
        })
    };
    groups.into_iter().map(result).collect()
}

fn message(finding: &Finding) -> String {
    match finding.tool.as_str() {
        "" => format!("{}. {}", finding.message, finding.fix),
        tool => format!("{tool}: {}. {}", finding.message, finding.fix),
    }
}

fn location(listed: &Listed, finding: &Finding) -> Value {
    let place = match (listed.pointer, finding.index) {
        (Some(list), Some(index)) => format!("{list}/{index}{}", finding.pointer),
        (Some(list), None) => list.to_owned(),
        (None, Some(index)) => format!("{}/tools/{index}{}", listed.name, finding.pointer),
        (None, None) => listed.name.clone(),
    };
    let name = match finding.tool.as_str() {
        "" => listed.name.as_str(),
        tool => tool,
    };
    json!({
        "physicalLocation": physical(listed, &place),
        "logicalLocations": [{
            "name": name,
            "fullyQualifiedName": place,
            "kind": "value",
        }],
    })
}

fn level(level: Level) -> &'static str {
    match level {
        Level::Refused => "error",
        Level::GivenUp => "warning",
        _ => "note",
    }
}

/// A path as a reference: relative where it is, else with the scheme.
fn uri(path: &Path) -> String {
    if path.as_os_str() == "-" {
        return "stdin".to_owned();
    }
    let parts: Vec<String> = path
        .components()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(encoded(&name.to_string_lossy())),
            Component::ParentDir => Some("..".to_owned()),
            Component::Prefix(prefix) => Some(prefix.as_os_str().to_string_lossy().into_owned()),
            Component::RootDir | Component::CurDir => None,
        })
        .collect();
    let path_text = parts.join("/");
    match path.is_absolute() {
        true => format!("file:///{path_text}"),
        false => path_text,
    }
}

fn encoded(name: &str) -> String {
    let mut text = String::new();
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            text.push(char::from(byte));
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
    text
}
