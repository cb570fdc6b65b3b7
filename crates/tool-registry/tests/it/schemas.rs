//! Schemas: closed where the type fixes the keys, bounded, and without a way out.

use std::collections::{BTreeMap, HashMap};

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tool_core::{Context, ProblemKind, Tool};
use tool_registry::Registry;

use crate::ports::Count;
use crate::tools::{invalid, mirror, settle};

/// Checks by calling a tool with this input that it takes some arguments and refuses others, each
/// for a key that it does not know.
#[track_caller]
fn closed<T>(takes: &[&str], refuses: &[&str])
where
    T: DeserializeOwned + JsonSchema + Send + 'static,
{
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let tool = Tool::from(Tool::new("Takes it", |_: T, _: Context| async {
        Ok("taken")
    }));
    for arguments in takes {
        let settled = runtime.block_on(settle(tool.clone(), arguments));
        assert_eq!(settled.text(), "taken", "{arguments}");
    }
    for arguments in refuses {
        let settled = runtime.block_on(settle(tool.clone(), arguments));
        let invalid = invalid(&settled).to_string();
        let named = invalid.contains("\"extra\"") || invalid.contains("several forms");
        assert!(named, "{arguments}: {invalid}");
    }
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only decoded")]
struct Inner {
    a: i64,
}

#[derive(Deserialize, JsonSchema)]
struct Empty {}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only decoded")]
struct Holds<T> {
    f: T,
}

#[test]
fn a_struct_is_closed_at_its_root() {
    closed::<Inner>(&[r#"{"a":1}"#], &[r#"{"a":1,"extra":1}"#]);
    closed::<Empty>(&["{}", ""], &[r#"{"extra":1}"#]);
    closed::<Box<Inner>>(&[r#"{"a":1}"#], &[r#"{"a":1,"extra":1}"#]);
}

#[test]
fn a_nested_struct_is_closed() {
    closed::<Holds<Inner>>(&[r#"{"f":{"a":1}}"#], &[r#"{"f":{"a":1,"extra":1}}"#]);
    closed::<Holds<Empty>>(&[r#"{"f":{}}"#], &[r#"{"f":{"extra":1}}"#]);
    closed::<Holds<Holds<Inner>>>(
        &[r#"{"f":{"f":{"a":1}}}"#],
        &[
            r#"{"f":{"f":{"a":1},"extra":1}}"#,
            r#"{"f":{"f":{"a":1,"extra":1}}}"#,
        ],
    );
}

#[test]
fn an_optional_struct_is_closed() {
    closed::<Holds<Option<Inner>>>(
        &["{}", r#"{"f":null}"#, r#"{"f":{"a":1}}"#],
        &[r#"{"f":{"a":1,"extra":1}}"#],
    );
    closed::<Holds<Option<Empty>>>(&[r#"{"f":null}"#, r#"{"f":{}}"#], &[r#"{"f":{"extra":1}}"#]);
}

#[test]
fn the_items_of_lists_and_tuples_are_closed() {
    closed::<Holds<Vec<Inner>>>(
        &[r#"{"f":[]}"#, r#"{"f":[{"a":1}]}"#],
        &[r#"{"f":[{"a":1},{"a":1,"extra":1}]}"#],
    );
    closed::<Holds<[Inner; 1]>>(&[r#"{"f":[{"a":1}]}"#], &[r#"{"f":[{"a":1,"extra":1}]}"#]);
    closed::<Holds<(Inner, i64)>>(
        &[r#"{"f":[{"a":1},2]}"#],
        &[r#"{"f":[{"a":1,"extra":1},2]}"#],
    );
    closed::<Holds<Vec<Option<Inner>>>>(
        &[r#"{"f":[null,{"a":1}]}"#],
        &[r#"{"f":[{"a":1,"extra":1}]}"#],
    );
}

#[test]
fn a_map_stays_open_and_its_values_are_closed() {
    closed::<Holds<HashMap<String, Inner>>>(
        &[r#"{"f":{"any":{"a":1},"extra":{"a":1}}}"#],
        &[r#"{"f":{"any":{"a":1,"extra":1}}}"#],
    );
    closed::<Holds<BTreeMap<String, Value>>>(&[r#"{"f":{"extra":{"extra":1}}}"#], &[]);
    closed::<Holds<serde_json::Map<String, Value>>>(&[r#"{"f":{"extra":[{"extra":1}]}}"#], &[]);
    closed::<Holds<Value>>(&[r#"{"f":{"extra":1}}"#, r#"{"f":1}"#], &[]);
    closed::<HashMap<String, i64>>(&[r#"{"extra":1}"#], &[]);
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only decoded")]
enum Outside {
    Unit,
    Fields { x: i64 },
    Newtype(Inner),
    Empty(Empty),
}

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "kind")]
#[expect(dead_code, reason = "only decoded")]
enum Inside {
    Unit,
    Fields { x: i64 },
    Newtype(Inner),
}

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "kind", content = "c")]
#[expect(dead_code, reason = "only decoded")]
enum Beside {
    Fields { x: i64 },
    Newtype(Inner),
}

#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only decoded")]
enum Untagged {
    Fields { x: i64 },
    Newtype(Inner),
    Text(String),
}

#[test]
fn the_variants_of_an_enum_are_closed_however_it_is_tagged() {
    closed::<Holds<Outside>>(
        &[
            r#"{"f":"Unit"}"#,
            r#"{"f":{"Fields":{"x":1}}}"#,
            r#"{"f":{"Newtype":{"a":1}}}"#,
            r#"{"f":{"Empty":{}}}"#,
        ],
        &[
            r#"{"f":{"Fields":{"x":1,"extra":1}}}"#,
            r#"{"f":{"Fields":{"x":1},"extra":1}}"#,
            r#"{"f":{"Newtype":{"a":1,"extra":1}}}"#,
            r#"{"f":{"Empty":{"extra":1}}}"#,
        ],
    );
    closed::<Holds<Inside>>(
        &[
            r#"{"f":{"kind":"Unit"}}"#,
            r#"{"f":{"kind":"Fields","x":1}}"#,
            r#"{"f":{"kind":"Newtype","a":1}}"#,
        ],
        &[
            r#"{"f":{"kind":"Unit","extra":1}}"#,
            r#"{"f":{"kind":"Fields","x":1,"extra":1}}"#,
            r#"{"f":{"kind":"Newtype","a":1,"extra":1}}"#,
        ],
    );
    closed::<Holds<Beside>>(
        &[r#"{"f":{"kind":"Fields","c":{"x":1}}}"#],
        &[
            r#"{"f":{"kind":"Fields","c":{"x":1,"extra":1}}}"#,
            r#"{"f":{"kind":"Newtype","c":{"a":1},"extra":1}}"#,
        ],
    );
    closed::<Holds<Untagged>>(
        &[r#"{"f":{"x":1}}"#, r#"{"f":{"a":1}}"#, r#"{"f":"t"}"#],
        &[r#"{"f":{"x":1,"extra":1}}"#, r#"{"f":{"a":1,"extra":1}}"#],
    );
    closed::<Holds<Option<Inside>>>(
        &[r#"{"f":null}"#, r#"{"f":{"kind":"Unit"}}"#],
        &[r#"{"f":{"kind":"Unit","extra":1}}"#],
    );
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only decoded")]
struct Flat<T> {
    own: i64,
    #[serde(flatten)]
    rest: T,
}

#[test]
fn a_flattened_part_is_closed_with_the_whole() {
    closed::<Flat<Inner>>(&[r#"{"own":1,"a":1}"#], &[r#"{"own":1,"a":1,"extra":1}"#]);
    closed::<Flat<Option<Inner>>>(
        &[r#"{"own":1}"#, r#"{"own":1,"a":1}"#],
        &[r#"{"own":1,"extra":1}"#],
    );
    closed::<Flat<Inside>>(
        &[
            r#"{"own":1,"kind":"Unit"}"#,
            r#"{"own":1,"kind":"Newtype","a":1}"#,
        ],
        &[
            r#"{"own":1,"kind":"Unit","extra":1}"#,
            r#"{"own":1,"kind":"Fields","x":1,"extra":1}"#,
        ],
    );
    closed::<Flat<Outside>>(
        &[r#"{"own":1,"Fields":{"x":1}}"#],
        &[
            r#"{"own":1,"Fields":{"x":1},"extra":1}"#,
            r#"{"own":1,"Fields":{"x":1,"extra":1}}"#,
        ],
    );
    closed::<Flat<HashMap<String, i64>>>(&[r#"{"own":1,"extra":2}"#], &[]);
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only decoded")]
struct Node {
    value: i64,
    #[serde(default)]
    children: Vec<Node>,
    next: Option<Box<Node>>,
}

#[test]
fn a_recursive_type_is_closed_at_every_level() {
    let takes = r#"{"value":1,"children":[{"value":2,"next":{"value":3}}],"next":null}"#;
    let refuses = [
        r#"{"value":1,"extra":1}"#,
        r#"{"value":1,"children":[{"value":2,"extra":1}]}"#,
        r#"{"value":1,"next":{"value":2,"next":{"value":3,"extra":1}}}"#,
    ];
    closed::<Node>(&[takes], &refuses);
    let nested: Vec<_> = refuses
        .iter()
        .map(|inner| format!(r#"{{"f":{inner}}}"#))
        .collect();
    let nested: Vec<_> = nested.iter().map(String::as_str).collect();
    closed::<Holds<Node>>(&[&format!(r#"{{"f":{takes}}}"#)], &nested);
    closed::<Holds<Option<Node>>>(&[r#"{"f":null}"#], &nested);
}

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
