//! One definition for each rule that breaks it, and the place where it does.

#![expect(
    clippy::needless_pass_by_value,
    reason = "examples are written where they are used"
)]

use serde_json::{Map, Value, json};
use tool_provider::{Level, Profile, lint_rules, lint_tools};

use crate::tools::property;

/// A list whose last entry breaks the rule, and the place in that entry.
type Example = (Vec<Value>, &'static str);

fn entry(schema: Value) -> Vec<Value> {
    vec![json!({"name": "tool", "description": "d", "inputSchema": schema})]
}

/// An object with one property of that schema, as the one entry.
fn of(schema: Value) -> Vec<Value> {
    entry(property(schema))
}

fn named(name: &str) -> Vec<Value> {
    let mut entries = of(json!({"type": "string"}));
    entries[0]["name"] = name.into();
    entries
}

fn with(key: &str, value: Value) -> Vec<Value> {
    let mut entries = of(json!({"type": "string"}));
    entries[0][key] = value;
    entries
}

fn without(key: &str) -> Vec<Value> {
    let mut entries = of(json!({"type": "string"}));
    entries[0].as_object_mut().expect("an entry").remove(key);
    entries
}

fn many(count: usize) -> Vec<Value> {
    (0..count)
        .map(|it| named(&format!("tool{it}")).remove(0))
        .collect()
}

fn wide(count: usize, schema: &Value) -> Vec<Value> {
    let properties: Map<String, Value> = (0..count)
        .map(|it| (format!("p{it}"), schema.clone()))
        .collect();
    entry(json!({"type": "object", "properties": properties}))
}

fn rooted(key: &str, value: Value) -> Vec<Value> {
    let mut schema = property(json!({"type": "string"}));
    schema[key] = value;
    entry(schema)
}

/// A reference with something beside it, and what it leads to.
fn referring(schema: Value, to: &str, target: Value) -> Vec<Value> {
    let mut entries = of(schema);
    entries[0]["inputSchema"][to] = json!({"part": target});
    entries
}

fn bare() -> Value {
    json!({"$ref": "#/$defs/part"})
}

const X: &str = "/inputSchema/properties/x";

fn example(id: &str) -> Option<Example> {
    let (owner, rule) = id.split_once('/')?;
    let text = json!({"type": "string"});
    let looking = json!({"type": "string", "pattern": "^(?=a)b"});
    let beside = json!({"$ref": "#/$defs/part", "description": "d", "minLength": 2});
    let tree = json!({"type": "object", "properties": {"next": bare()}, "required": ["next"]});
    let place = |at: &'static str| at;
    Some(match (owner, rule) {
        ("definition", "not-an-object") => (vec![json!("tool")], ""),
        ("definition", "name") => (named(""), "/name"),
        ("definition", "duplicate-name") => ([named("tool"), named("tool")].concat(), "/name"),
        ("definition", "no-schema") => (without("inputSchema"), ""),
        ("definition", "text") => (with("title", json!(7)), "/title"),
        ("definition", "no-description") => (without("description"), ""),
        ("schema", "root-type") => (entry(json!({"properties": {}})), "/inputSchema"),
        ("schema", "unknown-dialect") => (
            rooted("$schema", json!("https://example.com/mine")),
            "/inputSchema/$schema",
        ),
        ("schema", "too-large") => (wide(10_000, &text), "/inputSchema"),
        ("schema", "dangling-ref") => (of(bare()), "/inputSchema/properties/x/$ref"),
        ("schema", "external-ref") => (
            of(json!({"$ref": "https://example.com/s.json"})),
            "/inputSchema/properties/x/$ref",
        ),
        ("schema", "unusable") => (
            of(json!({"type": "null", "enum": ["A"]})),
            "/inputSchema/properties/x",
        ),
        ("schema", "given-up") => return None,
        ("schema", "ignored-beside-ref") => {
            let mut entries = referring(
                json!({"$ref": "#/definitions/part", "minLength": 2}),
                "definitions",
                text,
            );
            entries[0]["inputSchema"]["$schema"] = "http://json-schema.org/draft-07/schema#".into();
            (entries, "/inputSchema/properties/x/minLength")
        }
        ("schema", "idle-keyword") => (
            of(json!({"type": "string", "properties": {}})),
            "/inputSchema/properties/x/properties",
        ),
        ("schema", "misplaced-property") => (
            entry(json!({"type": "object", "limit": {"type": "integer"}})),
            "/inputSchema/limit",
        ),
        ("schema", "pattern-unreadable") => (
            of(json!({"type": "string", "pattern": "[a"})),
            "/inputSchema/properties/x/pattern",
        ),
        (_, "pattern-backtracks" | "pattern") => (of(looking), "/inputSchema/properties/x/pattern"),
        ("schema", "invalid") => {
            // Valid in draft 7 and no more since, but for the one that reads draft 7.
            (
                of(json!({"type": "array", "items": 7})),
                "/inputSchema/properties/x/items",
            )
        }
        ("schema", "no-schema") => (of(json!(7)), X),
        ("mcp", "dialect") => (
            rooted("$schema", json!("http://json-schema.org/draft-07/schema#")),
            "/inputSchema/$schema",
        ),
        ("mcp", "output-schema") => (
            with("outputSchema", json!({"type": "object", "required": 7})),
            "/outputSchema/required",
        ),
        ("mcp", "annotations") => (
            with("annotations", json!({"readOnlyHint": "yes"})),
            "/annotations/readOnlyHint",
        ),
        ("mcp", "header") => (
            of(json!({"type": "number", "x-mcp-header": "Count"})),
            "/inputSchema/properties/x/x-mcp-header",
        ),
        (_, "name") => (named("d\u{e9}j\u{e0} vu"), "/name"),
        (_, "name-length") => (named(&"a".repeat(65)), "/name"),
        (_, "tool-count") => (many(513), ""),
        (_, "description-length") => (with("description", json!("d".repeat(1025))), "/description"),
        (_, "root-combinator") => (
            rooted("anyOf", json!([{"required": ["x"]}])),
            "/inputSchema/anyOf",
        ),
        (_, "root-properties" | "no-arguments") => {
            (entry(json!({"type": "object"})), "/inputSchema")
        }
        ("groq", "required-without-properties") => (
            of(json!({"type": "object", "required": ["a"]})),
            "/inputSchema/properties/x/required",
        ),
        ("generic", "reference") => (
            referring(bare(), "$defs", text),
            "/inputSchema/properties/x/$ref",
        ),
        ("generic", "combinator") => (
            of(json!({"oneOf": [{"type": "string"}]})),
            "/inputSchema/properties/x/oneOf",
        ),
        (_, "array-items") => (of(json!({"type": "array"})), X),
        ("kimi", "enum-value") => (
            of(json!({"type": "string", "enum": [1, "a"]})),
            "/inputSchema/properties/x/enum",
        ),
        (_, "enum-value") => (
            of(json!({"enum": [[1], {}]})),
            "/inputSchema/properties/x/enum",
        ),
        ("anthropic" | "kimi", "property-name") => {
            let name = if owner == "kimi" { "$ref" } else { "a b" };
            let properties = json!({name: {"type": "string"}});
            let at = if owner == "kimi" {
                "/inputSchema/properties/$ref"
            } else {
                "/inputSchema/properties/a b"
            };
            (
                entry(json!({"type": "object", "properties": properties})),
                at,
            )
        }
        (_, "closed-object") => (of(text), "/inputSchema"),
        ("anthropic-strict" | "openai-strict", "keyword") => (
            of(json!({"type": "array", "items": {"type": "string"}, "uniqueItems": true})),
            "/inputSchema/properties/x/uniqueItems",
        ),
        (_, "format") => (
            of(json!({"type": "string", "format": "iri"})),
            "/inputSchema/properties/x/format",
        ),
        (_, "type" | "no-type") => (of(json!({})), X),
        (_, "boolean-schema") => (of(json!(true)), X),
        (_, "recursion") => (
            referring(bare(), "$defs", tree),
            "/inputSchema/$defs/part/properties/next/$ref",
        ),
        ("anthropic-strict", "ref-in-all-of") => (
            referring(json!({"allOf": [bare()]}), "$defs", text),
            "/inputSchema/properties/x/allOf/0/$ref",
        ),
        (_, "ref-sibling") => (
            referring(beside, "$defs", json!({"type": "string", "minLength": 1})),
            "/inputSchema/properties/x/$ref",
        ),
        (_, "ref-target") => (
            referring(json!({"$ref": "#/definitions/part"}), "definitions", text),
            "/inputSchema/properties/x/$ref",
        ),
        (_, "optional-count") => (wide(25, &text), "/inputSchema"),
        (_, "union-count") => (
            wide(17, &json!({"type": ["string", "null"]})),
            "/inputSchema",
        ),
        ("openai-strict", "required") => (of(text), "/inputSchema"),
        (_, "required-name") => (rooted("required", json!(["y"])), "/inputSchema/required"),
        ("openai-strict", "no-required") => (
            entry(json!({"type": "object", "properties": {}})),
            "/inputSchema",
        ),
        (_, "size") => {
            let deep = (0..31).fold(text, |inner, _| property(inner));
            (entry(deep), "/inputSchema")
        }
        ("gemini", "unknown-keyword") => (
            of(json!({"type": "string", "const": "a"})),
            "/inputSchema/properties/x/const",
        ),
        ("gemini", "type-list") => (
            of(json!({"type": ["string", "null"]})),
            "/inputSchema/properties/x/type",
        ),
        ("kimi", "type-list") => (
            of(json!({"type": ["string", "null"], "minLength": 1})),
            "/inputSchema/properties/x/type",
        ),
        (_, "any-of-sibling") => (
            of(json!({"type": "string", "anyOf": [{"minLength": 1}, {"maxLength": 9}]})),
            "/inputSchema/properties/x/anyOf",
        ),
        ("gemini", "any-of-alone") => (
            of(json!({"description": "d", "anyOf": [{"type": "string"}, {"type": "null"}]})),
            "/inputSchema/properties/x/anyOf",
        ),
        (_, "ignored-keyword") => (
            of(json!({"type": "array", "items": {}, "uniqueItems": true})),
            "/inputSchema/properties/x/uniqueItems",
        ),
        ("kimi", "definition-name") => {
            let schema = json!({"type": "object", "properties": {"x": {}}, "$defs": {"a/b": {}}});
            (entry(schema), "/inputSchema/$defs")
        }
        ("kimi", "items") => (
            of(json!({"type": "array", "items": [{}]})),
            place("/inputSchema/properties/x/items"),
        ),
        _ => return None,
    })
}

#[test]
fn every_rule_finds_the_definition_that_breaks_it_at_its_place() {
    for rule in lint_rules().filter(|rule| rule.id != "schema/given-up") {
        let (entries, place) =
            example(rule.id).unwrap_or_else(|| panic!("{} has no example", rule.id));
        for profile in rule.profiles {
            let found = lint_tools(&entries, &[*profile]);
            let places: Vec<&str> = found
                .iter()
                .filter(|it| it.rule.id == rule.id)
                .map(|it| it.pointer.as_str())
                .collect();
            assert!(places.contains(&place), "{profile} {}: {places:?}", rule.id);
            assert!(found.iter().all(|it| it.rule.profiles.contains(profile)));
        }
    }
}

#[test]
fn what_no_rule_tells_of_is_found_where_it_is_given_up() {
    // The condition would stand, but a name that it speaks of is another on the wire.
    let schema = json!({
        "type": "object",
        "properties": {"a b": {"type": "string"}, "c": {"type": "string"}},
        "dependentRequired": {"c": ["a b"]},
    });
    let found = lint_tools(&entry(schema), &[Profile::Anthropic]);
    let lost = found.iter().find(|it| it.rule.id == "schema/given-up");
    let lost = lost.expect("the condition is given up");
    assert_eq!(
        lost.message,
        "`dependentRequired`: it speaks of names that are others now"
    );
}

#[test]
fn a_definition_that_keeps_every_rule_has_no_finding() {
    let mut schema = property(json!({
        "type": "array",
        "description": "What to look for.",
        "items": {"type": "string", "enum": ["a", "b"]},
    }));
    schema["required"] = json!(["x"]);
    let open = entry(schema.clone());
    assert_eq!(lint_tools(&open, &[Profile::Gemini]).len(), 0);
    schema["additionalProperties"] = false.into();
    let closed = entry(schema);
    // The one form of schemas that has no word for further keys.
    let others: Vec<Profile> = Profile::ALL
        .into_iter()
        .filter(|it| *it != Profile::Gemini)
        .collect();
    let found = lint_tools(&closed, &others);
    assert!(found.is_empty(), "{found:#?}");
    let found = lint_tools(&closed, &[Profile::Gemini]);
    assert!(
        found
            .iter()
            .all(|it| it.rule.level == Level::Refused && it.rule.id == "gemini/unknown-keyword")
    );
}
