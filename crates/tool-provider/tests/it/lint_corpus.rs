//! The linter beside the projection and beside the independent checker, over real definitions.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tool_core::Definition;
use tool_provider::{Effect, Finding, Level, Profile, lint_tools};

use crate::checker::refused;
use crate::tools::{corpus, lists, tool};

/// Of how many tools one is looked at.
fn step() -> usize {
    match std::env::var_os("TOOL_CORPUS_WHOLE") {
        Some(_) => 1,
        None => 6,
    }
}

/// A definition of the corpus in the envelope of a profile, without any projection.
fn raw(profile: Profile, entry: &Value) -> Value {
    let schema = &entry["inputSchema"];
    let mut tool = json!({"name": "tool", "description": entry["description"]});
    match profile {
        Profile::Anthropic | Profile::AnthropicStrict => tool["input_schema"] = schema.clone(),
        Profile::OpenAiResponses | Profile::OpenAiResponsesStrict => {
            tool["type"] = "function".into();
            tool["strict"] = profile.is_strict().into();
            tool["parameters"] = schema.clone();
        }
        Profile::Gemini => {
            tool["parameters"] = schema.clone();
            capitals(&mut tool["parameters"]);
        }
        Profile::GeminiJson => tool["parametersJsonSchema"] = schema.clone(),
        Profile::Mcp => tool["inputSchema"] = schema.clone(),
        _ => {
            tool["parameters"] = schema.clone();
            return json!({"type": "function", "function": tool});
        }
    }
    tool
}

/// Writes types as the checker of one provider has them; the provider reads either.
fn capitals(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            for (key, value) in map {
                match value {
                    Value::String(name) if key == "type" => name.make_ascii_uppercase(),
                    value => capitals(value),
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(capitals),
        _ => {}
    }
}

/// Keywords of the corpus that constrain and that the provider ignores.
const CONSTRAINTS: [&str; 12] = [
    "const",
    "allOf",
    "pattern",
    "minLength",
    "maxLength",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "uniqueItems",
    "propertyNames",
    "patternProperties",
    "minProperties",
];

/// Whether something that the checker objects to is refused. It is not where there is a finding of
/// less weight: what has no effect, what a client does about a tool without arguments, and what
/// only some versions of a provider refuse.
fn counts(rule: &str, found: &[&Finding]) -> bool {
    let (name, place) = rule.split_once(' ').unwrap_or((rule, ""));
    let less = match name {
        "G-ROOTEMPTY" => "gemini/no-arguments",
        "G-ANYOFSIB" => "gemini/any-of-alone",
        // Texts about a schema, and words that nobody knows, constrain nothing.
        "GJ-KEY"
            if !CONSTRAINTS
                .iter()
                .any(|key| place.starts_with(&format!("{key} "))) =>
        {
            return false;
        }
        "GJ-KEY" => "gemini-json/ignored-keyword",
        "OS-REQ"
            if found
                .iter()
                .any(|it| it.rule.id == "openai-strict/required") =>
        {
            return true;
        }
        "OS-REQ" => "openai-strict/no-required",
        // Nothing says that these are refused.
        "OS-KEY" => {
            let unknown = ["default", "$schema", "examples", "minLength", "maxLength"];
            return !unknown
                .iter()
                .any(|key| place.starts_with(&format!("{key} ")));
        }
        _ => return true,
    };
    !found.iter().any(|it| it.rule.id == less)
}

#[test]
fn findings_agree_with_the_independent_checker_and_with_what_is_sent() {
    let name = "findings_agree_with_the_independent_checker_and_with_what_is_sent";
    let Some(lists) = lists(name) else {
        return;
    };
    let mut differing: BTreeMap<String, (usize, String)> = BTreeMap::new();
    let (mut compared, mut clean) = (0, 0);
    for (server, entries) in lists {
        for entry in entries.iter().step_by(step()) {
            let mut entry = entry.clone();
            entry["name"] = "tool".into();
            let tool = tool("tool", entry["inputSchema"].clone());
            let all = lint_tools(std::slice::from_ref(&entry), &Profile::ALL);
            for profile in Profile::ALL {
                let found: Vec<&Finding> = all.iter().filter(|it| it.profile == profile).collect();
                compared += 1;
                clean += usize::from(is_sent_as_found(profile, &tool, &found));
                let own = found.iter().find(|it| it.rule.level == Level::Refused);
                let mut theirs = refused(profile, &raw(profile, &entry), profile.is_strict());
                theirs.retain(|rule| counts(rule, &found));
                let differs = match (own, theirs.first()) {
                    (Some(own), None) if own.rule.id.starts_with("mcp/") => continue,
                    (Some(own), None) => format!("{profile}: only {}", own.rule.id),
                    (None, Some(theirs)) => format!("{profile}: only {theirs}"),
                    _ => continue,
                };
                let name = format!("{server} {}", entry["title"]);
                differing.entry(differs).or_insert((0, name)).0 += 1;
            }
        }
    }
    println!("{compared} compared, {clean} sent with all that they say");
    assert!(differing.is_empty(), "{differing:#?}");
    assert!(clean > compared / 2, "{clean}");
}

/// Whether a tool is sent with all that it says; findings have to say so if it is not.
#[track_caller]
fn is_sent_as_found(profile: Profile, tool: &Definition, found: &[&Finding]) -> bool {
    let has = |level| found.iter().any(|it| it.rule.level == level);
    if has(Level::Refused) {
        return false;
    }
    let sent = profile.project(tool).expect("what nobody refuses is sent");
    assert_eq!(sent.is_strict(), profile.is_strict(), "{profile} {tool:?}");
    let lost = sent.losses().iter().find(|it| it.effect == Effect::GivenUp);
    assert!(lost.is_none() || has(Level::GivenUp), "{profile} {tool:?}");
    !has(Level::GivenUp)
}

#[test]
fn nothing_that_is_sent_is_refused() {
    let Some(tools) = corpus("nothing_that_is_sent_is_refused") else {
        return;
    };
    let mut wrong = Vec::new();
    for profile in Profile::ALL {
        for tool in tools.iter().step_by(step()) {
            let sent = profile.project(tool).expect("it is sent");
            let entry = json!({
                "name": sent.name(),
                "description": "It is said elsewhere.",
                "inputSchema": sent.schema(),
            });
            let judge = if sent.is_strict() {
                profile
            } else {
                profile.plain()
            };
            let found = lint_tools(&[entry], &[judge]);
            for finding in found.iter().filter(|it| it.rule.level != Level::Note) {
                // What plain forms leave to a client, and what is lost once more.
                wrong.push(format!(
                    "{judge} {}: {} at {}: {}",
                    sent.name(),
                    finding.rule.id,
                    finding.pointer,
                    finding.message
                ));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of them\n{}",
        wrong.len(),
        wrong[..wrong.len().min(40)].join("\n")
    );
}

#[test]
fn the_same_list_gives_the_same_findings_twice() {
    let Some(lists) = lists("the_same_list_gives_the_same_findings_twice") else {
        return;
    };
    let mut rules: BTreeMap<&str, usize> = BTreeMap::new();
    for (server, entries) in lists.iter().filter(|(_, entries)| entries.len() < 30) {
        let found = lint_tools(entries, &Profile::ALL);
        for finding in &found {
            *rules.entry(finding.rule.id).or_default() += 1;
            assert!(
                finding.pointer.is_empty()
                    || entries[finding.index.unwrap_or(0)]
                        .pointer(&finding.pointer)
                        .is_some(),
                "{server} {}: {} names no place",
                finding.tool,
                finding.pointer
            );
        }
        let written = serde_json::to_string(&found).expect("JSON");
        let again = serde_json::to_string(&lint_tools(entries, &Profile::ALL)).expect("JSON");
        assert!(written == again, "{server}");
    }
    println!("{rules:#?}");
}
