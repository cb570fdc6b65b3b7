//! What becomes of lists that are hopeless, and of what is found in them.

use serde_json::{Value, json};
use tool_provider::{Finding, Handling, Level, Profile, lint_tools};

use crate::tools::property;

fn ids(found: &[Finding]) -> Vec<&'static str> {
    let mut ids: Vec<_> = found.iter().map(|it| it.rule.id).collect();
    ids.dedup();
    ids
}

fn refusals(entry: Value, profile: Profile) -> Vec<(&'static str, String)> {
    let found = lint_tools(&[entry], &[profile]);
    let refused = found
        .into_iter()
        .filter(|it| it.rule.level == Level::Refused);
    refused.map(|it| (it.rule.id, it.pointer)).collect()
}

#[test]
fn hopeless_entries_are_reported_and_stop_no_other() {
    let good = json!({"name": "good", "description": "d", "inputSchema": property(json!({"type": "string"}))});
    let entries = [
        json!(null),
        json!([]),
        json!({}),
        json!({"name": 7, "inputSchema": "x"}),
        json!({"name": "", "inputSchema": null}),
        json!({"name": "a", "inputSchema": {"type": "object", "properties": 3, "required": {}}}),
        json!({"name": "b", "inputSchema": {"type": 5, "$ref": 7, "enum": {}, "items": null}}),
        json!({"name": "c", "inputSchema": {"type": "object", "$schema": 9, "anyOf": {}, "not": 1}}),
        good,
    ];
    let found = lint_tools(&entries, &Profile::ALL);
    for index in 0..8 {
        let of = found.iter().filter(|it| it.index == Some(index));
        let refused = of.filter(|it| it.rule.level == Level::Refused);
        let left_out = refused
            .filter(|it| it.handling == Handling::LeftOut)
            .count();
        assert!(left_out > 0, "{index}");
    }
    let of_good = found
        .iter()
        .filter(|it| it.tool == "good" && it.profile == Profile::Mcp);
    assert_eq!(of_good.count(), 0);
}

#[test]
fn a_schema_beyond_the_bounds_is_not_looked_into() {
    let deep = (0..400).fold(json!({"type": "string"}), |inner, _| property(inner));
    let wide: serde_json::Map<String, Value> = (0..20_000)
        .map(|it| (format!("p{it}"), json!({"type": "string"})))
        .collect();
    let wide = json!({"type": "object", "properties": wide});
    for schema in [deep, wide] {
        let entry = json!({"name": "large", "description": "d", "inputSchema": schema});
        let refused = refusals(entry, Profile::OpenAiChatStrict);
        assert_eq!(refused, [("schema/too-large", "/inputSchema".to_owned())]);
    }
}

#[test]
fn names_that_stand_twice_and_lists_that_are_too_long_are_told_of_once() {
    let entry = |name: String| json!({"name": name, "description": "d", "inputSchema": property(json!({"type": "string"}))});
    let mut entries: Vec<Value> = (0..129).map(|it| entry(format!("tool{it}"))).collect();
    entries.push(entry("tool7".to_owned()));
    let found = lint_tools(&entries, &[Profile::OpenAiChat]);
    let found: Vec<_> = found
        .iter()
        .map(|it| (it.rule.id, it.index, it.handling))
        .collect();
    let expected = [
        ("openai/tool-count", None, Handling::LeftOut),
        ("definition/duplicate-name", Some(129), Handling::LeftOut),
    ];
    assert_eq!(found, expected);
}

#[test]
fn a_finding_says_what_is_sent_instead() {
    let schema = json!({
        "type": "object",
        "properties": {
            "level": {"type": ["string", "null"]},
            "limit": {"type": "integer", "exclusiveMinimum": 0},
            "size": {"type": "integer", "multipleOf": 5},
        },
    });
    let entry = json!({"name": "db.query", "description": "d", "inputSchema": schema});
    let found = lint_tools(std::slice::from_ref(&entry), &[Profile::Gemini]);
    let at = |pointer: &str| {
        let found = found.iter().find(|it| it.pointer == pointer);
        found.expect("it is found").handling
    };
    assert_eq!(
        at("/inputSchema/properties/level/type"),
        Handling::Rewritten
    );
    assert_eq!(
        at("/inputSchema/properties/limit/exclusiveMinimum"),
        Handling::Rewritten
    );
    assert_eq!(
        at("/inputSchema/properties/size/multipleOf"),
        Handling::GivenUp
    );
    let found = lint_tools(&[entry], &[Profile::Mistral]);
    let name = found
        .iter()
        .find(|it| it.pointer == "/name")
        .expect("the name is refused");
    assert!(
        name.handled.starts_with("it is sent as db_query-x"),
        "{}",
        name.handled
    );
}

#[test]
fn a_tool_that_cannot_be_strict_is_said_to_be_sent_without() {
    let schema = json!({
        "type": "object",
        "properties": {"env": {"type": "object", "additionalProperties": {"type": "string"}}},
        "required": ["env"],
        "additionalProperties": false,
    });
    let entry = json!({"name": "run", "description": "d", "inputSchema": schema});
    let found = lint_tools(&[entry], &[Profile::OpenAiResponsesStrict]);
    let map = found
        .iter()
        .find(|it| it.rule.id == "openai-strict/closed-object");
    let map = map.expect("the map is found");
    assert_eq!(map.handling, Handling::NotStrict);
    assert_eq!(
        map.pointer,
        "/inputSchema/properties/env/additionalProperties"
    );
    assert!(map.fix.starts_with("Name the keys"), "{}", map.fix);
}

#[test]
fn what_no_argument_fits_is_refused_by_everybody_who_reads_schemas() {
    let entry = json!({"name": "no", "description": "d", "inputSchema": property(json!({"type": "null", "enum": ["A"]}))});
    let found = lint_tools(&[entry], &[Profile::Anthropic, Profile::Kimi]);
    assert!(
        ids(&found).contains(&"schema/unusable"),
        "{:?}",
        ids(&found)
    );
    assert!(
        found.iter().all(|it| it.handling == Handling::LeftOut),
        "{found:?}"
    );
}

#[test]
fn a_cycle_by_a_property_that_may_be_left_out_is_a_cycle_for_some_only() {
    let node = |required: Value| {
        json!({
            "type": "object",
            "properties": {"tree": {"$ref": "#/$defs/node"}},
            "$defs": {"node": {
                "type": "object",
                "properties": {"next": {"$ref": "#/$defs/node"}},
                "required": required,
            }},
        })
    };
    let refused = |required: Value, profile| {
        let entry = json!({"name": "tree", "description": "d", "inputSchema": node(required)});
        let found = refusals(entry, profile);
        found.iter().any(|(id, _)| id.ends_with("/recursion"))
    };
    assert!(refused(json!([]), Profile::AnthropicStrict));
    assert!(!refused(json!([]), Profile::GeminiJson));
    assert!(refused(json!(["next"]), Profile::GeminiJson));
    assert!(!refused(json!(["next"]), Profile::OpenAiChatStrict));
}

#[test]
fn in_a_chain_of_thousands_only_what_leads_back_is_a_cycle() {
    let count = 4_000;
    let definitions: serde_json::Map<String, Value> = (0..count)
        .map(|at| {
            let next = format!("#/$defs/d{}", (at + 1).min(count - 1));
            (format!("d{at}"), json!({"$ref": next}))
        })
        .collect();
    let mut schema = property(json!({"$ref": "#/$defs/d0"}));
    schema["$defs"] = definitions.into();
    let entry = json!({"name": "chain", "description": "d", "inputSchema": schema});
    let found = refusals(entry, Profile::AnthropicStrict);
    let mut cycles = found.iter().filter(|(id, _)| id.ends_with("/recursion"));
    let (_, place) = cycles.next().expect("the last one leads to itself");
    assert!(place.contains("/$defs/d3999/"), "{place}");
    assert_eq!(cycles.next(), None);
}

#[test]
fn a_finding_is_written_with_names_that_stay() {
    let entry = json!({"name": "x y", "description": "d", "inputSchema": property(json!({"type": "string"}))});
    let found = lint_tools(&[entry], &[Profile::Groq]);
    let written = serde_json::to_value(&found).expect("JSON");
    let handled = &written[0]["handled"];
    assert_eq!(
        written,
        json!([{
            "rule": "groq/name",
            "level": "refused",
            "profile": "groq",
            "index": 0,
            "tool": "x y",
            "path": "/name",
            "message": "the name holds \" \"",
            "handling": "rewritten",
            "handled": handled,
            "fix": "Rename the tool with those characters.",
        }])
    );
}
