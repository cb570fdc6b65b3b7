//! References in schemas: what they mean does not change, and following them ends.

use serde_json::{Map, Value, json};
use tool_core::Tool;
use tool_registry::Registry;

use crate::ports::Count;
use crate::tools::{invalid, mirror, settle};

fn tool(schema: Value) -> Tool {
    mirror(schema, &Count::default())
}

const OLD: &str = "http://json-schema.org/draft-04/schema#";
const SEVEN: &str = "http://json-schema.org/draft-07/schema#";

/// Schemas that refer in all the ways there are, each with values.
fn referring() -> Vec<(Value, Vec<Value>)> {
    vec![
        // Beside a reference, and through it.
        (
            json!({"type": "object", "properties": {
                "a": {"$ref": "#/$defs/n", "minimum": 3, "allOf": [{"multipleOf": 2}]}
            }, "$defs": {"n": {"type": "integer", "maximum": 9}}}),
            vec![
                json!({"a": 4}),
                json!({"a": 2}),
                json!({"a": 5}),
                json!({"a": 10}),
                json!({}),
            ],
        ),
        // Draft 7 and older ignore what stands beside.
        (
            json!({"$schema": SEVEN, "type": "object", "properties": {
                "a": {"$ref": "#/definitions/n", "minimum": 3, "type": "string"}
            }, "definitions": {"n": {"type": "integer"}}}),
            vec![json!({"a": 1}), json!({"a": "x"}), json!({"a": 5})],
        ),
        (
            json!({"$schema": OLD, "type": "object", "properties": {
                "a": {"$ref": "#/definitions/n", "minimum": 3},
                "b": {"type": "array", "items": {"$ref": "#/definitions/n"}}
            }, "definitions": {"n": {"type": "integer"}}}),
            vec![
                json!({"a": 1}),
                json!({"a": "x"}),
                json!({"b": [1]}),
                json!({"b": [1, "x"]}),
            ],
        ),
        // The root itself refers.
        (
            json!({"type": "object", "$ref": "#/$defs/r", "$defs": {
                "r": {"required": ["a"], "properties": {"a": {"$ref": "#/$defs/s"}}},
                "s": {"type": "string"}
            }}),
            vec![json!({"a": "x"}), json!({"a": 1}), json!({})],
        ),
        // Names and data that look like references.
        (
            json!({"type": "object", "properties": {
                "$ref": {"$ref": "#/$defs/s"},
                "const": {"$ref": "#/$defs/s"},
                "d": {"enum": [{"$ref": "#/$defs/s"}], "default": {"$ref": "#"}}
            }, "$defs": {"s": {"type": "string"}}, "additionalProperties": false}),
            vec![
                json!({"$ref": "x"}),
                json!({"$ref": 1}),
                json!({"const": "x"}),
                json!({"const": 1}),
                json!({"d": {"$ref": "#/$defs/s"}}),
                json!({"d": {}}),
                json!({"allOf": 1}),
            ],
        ),
        // Anchors, and a part with an address of its own.
        (
            json!({"$id": "https://example.com/root", "type": "object", "properties": {
                "a": {"$ref": "#here"},
                "b": {"$ref": "part"},
                "c": {"$ref": "https://example.com/part#/$defs/deep"}
            }, "$defs": {
                "x": {"$anchor": "here", "type": "integer"},
                "y": {"$id": "part", "type": "string", "$defs": {"deep": {"type": "null"}}}
            }}),
            vec![
                json!({"a": 1}),
                json!({"a": "x"}),
                json!({"b": "x"}),
                json!({"b": 1}),
                json!({"c": null}),
                json!({"c": 1}),
            ],
        ),
        // What is unevaluated is known through references.
        (
            json!({"type": "object", "$ref": "#/$defs/base", "properties": {"own": true},
            "unevaluatedProperties": false,
            "$defs": {"base": {"properties": {"id": true}, "anyOf": [
                {"required": ["x"], "properties": {"x": true}}, true
            ]}}}),
            vec![
                json!({"own": 1, "id": 1}),
                json!({"own": 1, "x": 1}),
                json!({"y": 1}),
                json!({}),
            ],
        ),
        // A tree that is extended.
        (
            json!({"$id": "https://example.com/strict", "type": "object", "$dynamicAnchor": "node",
                "$ref": "tree", "unevaluatedProperties": false,
                "$defs": {"tree": {"$id": "tree", "$dynamicAnchor": "node", "type": "object",
                    "properties": {"data": true,
                        "children": {"type": "array", "items": {"$dynamicRef": "#node"}}}}}}),
            vec![
                json!({"data": 1}),
                json!({"daat": 1}),
                json!({"children": [{"data": 1}]}),
                json!({"children": [{"daat": 1}]}),
            ],
        ),
    ]
}

#[tokio::test]
async fn a_schema_with_references_takes_what_the_plain_validator_takes() {
    for (schema, values) in referring() {
        let plain = jsonschema::options().offline().build(&schema).unwrap();
        if schema.to_string().contains("dynamic") {
            // What is unevaluated is not looked for through what cannot be followed.
            let registry = Registry::default();
            let error = registry.register([("tool", tool(schema))]).unwrap_err();
            assert!(error.to_string().contains("unevaluated"), "{error}");
            continue;
        }
        for value in values {
            let settled = settle(tool(schema.clone()), &value.to_string()).await;
            let expected = plain.is_valid(&value);
            assert_eq!(
                !settled.is_error(),
                expected,
                "{schema}\n{value}: {}",
                settled.text()
            );
        }
    }
}

/// A chain of definitions, each of which refers to the next in this way.
fn chain(links: usize, link: impl Fn(Value) -> Value, last: Value) -> Value {
    let refers = |to: usize| json!({"$ref": format!("#/$defs/link{to}")});
    let mut definitions: Map<String, Value> = (0..links)
        .map(|from| (format!("link{from}"), link(refers(from + 1))))
        .collect();
    definitions.insert(format!("link{links}"), last);
    json!({"type": "object", "$defs": definitions, "allOf": [refers(0)]})
}

#[tokio::test]
async fn a_chain_whose_links_stand_twice_is_followed_for_a_bounded_time() {
    for combination in ["allOf", "anyOf", "oneOf"] {
        for last in [
            json!({"type": "object"}),
            json!({"type": "string"}),
            json!(false),
        ] {
            for dialect in [None, Some(SEVEN), Some(OLD)] {
                let mut schema = chain(60, |next| json!({combination: [next, next]}), last.clone());
                if let Some(dialect) = dialect {
                    schema["$schema"] = json!(dialect);
                    schema["definitions"] = json!({});
                }
                // That it ends is what is to be seen; a text is given either way.
                let settled = settle(tool(schema), r#"{"k":1}"#).await;
                assert!(!settled.text().is_empty());
                assert!(settled.text().len() < 4_000);
            }
        }
    }
}

#[test]
fn a_chain_whose_links_stand_twice_is_refused_where_the_unevaluated_is_asked_for() {
    let registry = Registry::default();
    let twice = |next: Value| json!({"allOf": [next, next]});
    let registering = |links, link: fn(Value) -> Value, keyword: &str, value: Value| {
        let mut schema = chain(links, link, json!({"type": "object"}));
        schema[keyword] = value;
        registry.register([("tool", tool(schema))]).map(|_| ())
    };
    assert!(registering(8, twice, "unevaluatedProperties", json!(false)).is_ok());
    for (keyword, value) in [
        ("unevaluatedProperties", json!(false)),
        ("unevaluatedItems", json!(false)),
        (
            "properties",
            json!({"deep": {"unevaluatedProperties": true, "$ref": "#/$defs/link0"}}),
        ),
    ] {
        for (links, link) in [(40, twice as fn(Value) -> Value), (3_000, |next| next)] {
            let error = registering(links, link, keyword, value.clone()).unwrap_err();
            assert!(error.to_string().contains("than can be bounded"), "{error}");
        }
    }
}

#[tokio::test]
async fn a_chain_of_thousands_of_links_crashes_nothing() {
    for last in [
        json!({"type": "object"}),
        json!({"type": "string"}),
        json!({"required": ["k"]}),
    ] {
        let settled = settle(tool(chain(3_300, |next| next, last)), "{}").await;
        assert!(!settled.text().is_empty());
    }
}

#[test]
fn a_part_in_another_dialect_is_refused() {
    let registry = Registry::default();
    let schema = json!({"type": "object", "properties": {
        "a": {"$id": "https://example.com/a", "$schema": SEVEN, "type": "string"}
    }});
    let error = registry.register([("tool", tool(schema))]).unwrap_err();
    assert!(error.to_string().contains("second dialect"), "{error}");
    let data = json!({"type": "object", "properties": {
        "a": {"default": {"$schema": SEVEN}, "enum": [{"$schema": OLD}]},
        "$schema": {"type": "string"}
    }});
    assert!(registry.register([("tool", tool(data))]).is_ok());
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(tag = "op")]
#[expect(dead_code, reason = "only decoded")]
enum Filter {
    And { args: Vec<Filter> },
    Or { args: Vec<Filter> },
    Not { args: Vec<Filter> },
    Is { field: String },
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[expect(dead_code, reason = "only decoded")]
struct Query {
    filter: Filter,
}

fn filter(depth: usize, innermost: &str) -> String {
    let open = r#"{"op":"And","args":["#.repeat(depth);
    format!(r#"{{"filter":{open}{innermost}{}}}"#, "]}".repeat(depth))
}

#[tokio::test]
async fn a_misfit_deep_inside_a_recursive_type_is_refused_in_bounded_time() {
    let tool = Tool::from(Tool::new(
        "Looks",
        |_: Query, _: tool_core::Context| async { Ok("ran") },
    ));
    for depth in [0, 3, 12, 60] {
        let fits = settle(tool.clone(), &filter(depth, r#"{"op":"Is","field":"x"}"#)).await;
        assert_eq!(fits.text(), "ran", "{depth}");
        let settled = settle(tool.clone(), &filter(depth, r#"{"op":"Is","feld":"x"}"#)).await;
        assert!(!invalid(&settled).issues().is_empty(), "{depth}");
    }
}

#[tokio::test]
async fn a_long_list_is_not_taken_for_an_endless_one() {
    let schema = json!({"type": "object", "properties": {
        "list": {"type": "array", "items": {"$ref": "#/$defs/item"}}
    }, "$defs": {"item": {"anyOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/b"}]},
        "a": {"type": "integer"}, "b": {"type": "string"}}});
    let list: Vec<_> = (0..60_000)
        .map(|n| if n % 2 == 0 { json!(n) } else { json!("x") })
        .collect();
    let settled = settle(tool(schema), &json!({"list": list}).to_string()).await;
    assert!(!settled.is_error(), "{}", settled.text());
}
