//! Schemas that mean harm, and schemas that are none: bounded, and without a way out.

use serde_json::{Value, json};
use tool_core::ProblemKind;
use tool_registry::Registry;

use crate::ports::Count;
use crate::tools::{mirror, settle};

/// What registering a tool with this input schema says, or nothing when it is taken.
fn registering(schema: Value) -> Option<String> {
    let registry = Registry::default();
    let tool = mirror(schema, &Count::default());
    let error = registry.register([("tool", tool)]).err()?;
    let problems = error.refused()[0].problems();
    assert!(
        problems
            .iter()
            .all(|problem| problem.kind() == ProblemKind::Schema)
    );
    Some(error.to_string())
}

fn nested(levels: usize) -> Value {
    (0..levels).fold(json!({"type": "object"}), |inner, _| {
        let mut properties = serde_json::Map::new();
        properties.insert("a".to_owned(), inner);
        let mut schema = serde_json::Map::new();
        schema.insert("type".to_owned(), json!("object"));
        schema.insert("properties".to_owned(), Value::Object(properties));
        Value::Object(schema)
    })
}

#[test]
fn a_schema_that_code_built_a_thousand_levels_deep_is_refused_and_crashes_nothing() {
    // Two levels for each nesting, and one for the innermost keyword.
    assert_eq!(registering(nested(31)), None);
    for levels in [32, 1_000] {
        let said = registering(nested(levels)).unwrap();
        assert!(said.contains("deeper than 64 levels"), "{said}");
    }
}

#[test]
fn a_huge_schema_is_refused() {
    let wide = |properties: usize| {
        let properties: serde_json::Map<_, _> = (0..properties)
            .map(|n| (format!("p{n}"), json!({"type": "string"})))
            .collect();
        json!({"type": "object", "properties": properties})
    };
    // The root, its type, the map of properties, and two nodes for each of them.
    assert_eq!(registering(wide(4_998)), None);
    let said = registering(wide(4_999)).unwrap();
    assert!(said.contains("more than 10000 nodes"), "{said}");
}

#[test]
fn a_reference_out_of_the_document_is_refused_without_a_look() {
    for reference in [
        "https://example.com/schema.json",
        "http://127.0.0.1:9/schema.json",
        "file:///etc/hostname",
        "other.json",
        "#/$defs/missing",
    ] {
        let schema = json!({"type": "object", "properties": {"a": {"$ref": reference}}});
        assert!(registering(schema).is_some(), "{reference}");
    }
    let schema = json!({"$schema": "https://example.com/my-own-dialect", "type": "object"});
    assert!(registering(schema).is_some());
}

#[test]
fn a_schema_that_is_no_schema_is_refused_where_it_is_wrong() {
    for (schema, place) in [
        (
            json!({"type": "object", "properties": {"a": {"type": "blob"}}}),
            "/properties/a/type",
        ),
        (
            json!({"type": "object", "properties": {"a": {"pattern": "("}}}),
            "/properties/a/pattern",
        ),
        (json!({"type": "object", "required": "a"}), "/required"),
        (json!({"type": "string"}), "\"type\": \"object\""),
        (
            json!({"anyOf": [{"type": "object"}]}),
            "\"type\": \"object\"",
        ),
        (json!([]), "\"type\": \"object\""),
    ] {
        let said = registering(schema).unwrap();
        assert!(said.contains(place), "{said}");
    }
}

#[tokio::test]
async fn what_no_dialect_knows_is_passed_over_and_odd_values_are_held_against_the_schema() {
    let schema = json!({
        "type": "object",
        "x-own": {"type": 5},
        "properties": {
            "choice": {"enum": [{"a": 1}, [1, 2], null], "unheard-of": ["("]},
            "pair": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}]},
            "when": {"type": "string", "format": "no-such-format"}
        }
    });
    for (arguments, fits) in [
        (
            json!({"choice": {"a": 1}, "pair": ["x", 1], "when": "later"}),
            true,
        ),
        (json!({"choice": [1, 2], "pair": ["x"]}), true),
        (json!({"choice": {"a": 2}}), false),
        (json!({"pair": [1, "x"]}), false),
    ] {
        let tool = mirror(schema.clone(), &Count::default());
        let settled = settle(tool, &arguments.to_string()).await;
        assert_eq!(!settled.is_error(), fits, "{arguments}: {}", settled.text());
    }
}

#[test]
fn the_dialect_that_a_schema_names_is_the_one_that_holds() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let takes = |dialect: Option<&str>, arguments: &str| {
        // In draft 7 a reference hides what stands beside it; since 2019-09 it does not.
        let mut schema = json!({
            "type": "object",
            "properties": {"a": {"$ref": "#/definitions/any", "type": "string"}},
            "definitions": {"any": {}}
        });
        if let Some(dialect) = dialect {
            schema["$schema"] = json!(dialect);
        }
        let tool = mirror(schema, &Count::default());
        !runtime.block_on(settle(tool, arguments)).is_error()
    };
    assert!(takes(
        Some("http://json-schema.org/draft-07/schema#"),
        r#"{"a":1}"#
    ));
    assert!(!takes(None, r#"{"a":1}"#));
    assert!(takes(None, r#"{"a":"text"}"#));
}

async fn matches(pattern: &str, text: &str) -> bool {
    let schema = json!({"type": "object", "properties": {"s": {"pattern": pattern}}});
    let settled = settle(
        mirror(schema, &Count::default()),
        &json!({"s": text}).to_string(),
    )
    .await;
    !settled.is_error()
}

#[tokio::test]
async fn a_pattern_that_would_backtrack_for_ever_returns() {
    let hostile = format!("{}b", "a".repeat(50_000));
    for pattern in [
        "^(a+)+$",
        "^(a|aa)+$",
        "^(a*)*$",
        "^([a-z]+)*$.",
        // With look-around there is a limit of steps, and a text that meets it does not match.
        "^(?=(a+)+$)b",
        "(?<=a)(a|aa)+$(?!b)",
        "^(?:(a|aa)+)(?!b)\\1x$",
    ] {
        assert!(!matches(pattern, &hostile).await, "{pattern}");
    }
}

#[tokio::test]
async fn a_pattern_with_look_around_works() {
    assert!(matches("^(?!secret)[a-z]+$", "public").await);
    assert!(!matches("^(?!secret)[a-z]+$", "secrets").await);
    assert!(matches("(?<=v)[0-9]+$", "v12").await);
}

#[tokio::test]
async fn a_text_that_meets_the_limit_of_steps_is_refused_also_where_the_pattern_is_negated() {
    let schema = json!({
        "type": "object",
        "properties": {"s": {"not": {"pattern": "^(?:(a|aa)+)(?!b)\\1x$"}}}
    });
    let arguments = json!({"s": format!("{}b", "a".repeat(5_000))}).to_string();
    let settled = settle(mirror(schema, &Count::default()), &arguments).await;
    assert!(settled.is_error());
}

#[test]
fn a_pattern_that_compiles_to_something_huge_is_refused() {
    for pattern in ["((a{1000}){1000}){1000}", "(?:(?:\\pL{200}){200}){200}"] {
        let schema = json!({"type": "object", "properties": {"s": {"pattern": pattern}}});
        assert!(registering(schema).is_some(), "{pattern}");
    }
}

#[tokio::test]
async fn references_in_a_circle_end() {
    for schema in [
        json!({"type": "object", "allOf": [{"$ref": "#"}]}),
        json!({"type": "object", "$ref": "#/$defs/a",
            "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}),
        json!({"type": "object", "not": {"$ref": "#"}}),
    ] {
        // Either it is refused or it ends; which of the two is the validator's to say.
        let registry = crate::ports::open().build();
        let tool = mirror(schema, &Count::default());
        if let Ok(_tool) = registry.register([("tool", tool)]) {
            let _ = crate::tools::call(&registry, "tool").await;
        }
    }
}

#[tokio::test]
async fn a_recursive_schema_takes_arguments_to_the_most_depth() {
    let schema = json!({
        "type": "object",
        "properties": {"n": {"$ref": "#"}},
        "additionalProperties": false
    });
    let tool = mirror(schema, &Count::default());
    let deep = |levels: usize| {
        format!(
            "{}{{}}{}",
            r#"{"n":"#.repeat(levels - 1),
            "}".repeat(levels - 1)
        )
    };
    assert!(!settle(tool.clone(), &deep(128)).await.is_error());
    assert!(settle(tool, &deep(129)).await.is_error());
}
