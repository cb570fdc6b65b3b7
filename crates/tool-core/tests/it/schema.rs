//! Schemas of types, and their bounds.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tool_core::{Context, ProblemKind, Schema, SchemaError, Tool};

#[derive(Serialize, Deserialize, JsonSchema)]
struct Both {
    /// Read under another name than written.
    #[serde(rename(serialize = "out", deserialize = "in"))]
    value: u8,
    #[serde(default)]
    defaulted: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    maybe: Option<String>,
}

#[test]
fn input_is_what_a_type_reads_and_output_is_what_it_writes() {
    let input = Schema::input_of::<Both>().unwrap();
    let output = Schema::output_of::<Both>().unwrap();
    assert!(input.as_value()["properties"].get("in").is_some());
    assert!(output.as_value()["properties"].get("out").is_some());
    assert_eq!(input.as_value()["required"], json!(["in"]));
    assert_eq!(output.as_value()["required"], json!(["out", "defaulted"]));
}

#[test]
fn a_schema_of_a_type_names_no_rust_type_and_no_dialect_and_keeps_descriptions() {
    let schema = Schema::input_of::<Both>().unwrap();
    let root = schema.as_value().as_object().unwrap();
    assert!(!root.contains_key("title") && !root.contains_key("$schema"));
    assert_eq!(
        root["properties"]["in"]["description"],
        "Read under another name than written."
    );
}

#[test]
fn output_is_left_open_and_input_is_closed() {
    let closed = |schema: &Schema| schema.as_value().get("additionalProperties").cloned();
    assert_eq!(
        closed(&Schema::input_of::<Both>().unwrap()),
        Some(json!(false))
    );
    assert_eq!(closed(&Schema::output_of::<Both>().unwrap()), None);
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Without {}

#[test]
fn a_type_without_fields_is_a_tool_without_arguments() {
    assert_eq!(
        Schema::input_of::<Without>().unwrap(),
        Schema::no_arguments()
    );
}

#[test]
fn input_that_is_no_object_is_refused_and_says_what_to_do() {
    assert_eq!(Schema::input_of::<u8>(), Err(SchemaError::InputNotObject));
    let tool = Tool::from(Tool::new("Takes a list", |_: Vec<u8>, _: Context| async {
        Ok(1)
    }));
    let problems = tool.problems();
    assert_eq!(problems[0].kind(), ProblemKind::Schema);
    assert!(
        problems[0]
            .to_string()
            .contains("take a struct with named fields")
    );
}

#[test]
fn a_schema_given_at_run_time_is_kept_exactly() {
    let schema = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "oneOf": [{"$ref": "#/definitions/a"}],
        "definitions": {"a": {"additionalProperties": true}},
        "x-own": null
    });
    let tool = Tool::dynamic("Takes it", schema.clone(), |_, _| async { Ok(json!(1)) });
    assert_eq!(tool.input().as_value(), &schema);
    assert_eq!(tool.problems(), []);
}

#[test]
fn a_schema_is_an_object_or_a_boolean() {
    for schema in [json!(true), json!(false), json!({})] {
        assert!(Schema::new(schema).is_ok());
    }
    for schema in [json!(null), json!([]), json!("object"), json!(1)] {
        assert_eq!(Schema::new(schema), Err(SchemaError::NotASchema));
    }
    for schema in [json!({}), json!(true), json!({"type": ["object", "null"]})] {
        assert_eq!(Schema::input(schema), Err(SchemaError::InputNotObject));
    }
}

/// Objects inside each other, so many levels in all.
fn levels(levels: usize) -> Value {
    (1..levels).fold(json!({}), |inner, _| {
        let mut map = Map::new();
        map.insert("not".to_owned(), inner);
        Value::Object(map)
    })
}

#[test]
fn a_schema_may_have_64_levels_and_no_more() {
    assert!(Schema::new(levels(64)).is_ok());
    for count in [65, 66, 1_000] {
        assert_eq!(Schema::new(levels(count)), Err(SchemaError::TooDeep));
    }
}

#[test]
fn a_schema_may_have_10000_nodes_and_no_more() {
    // The root, the list, and its items.
    let nodes = |count: usize| json!({"enum": vec![0; count - 2]});
    assert!(Schema::new(nodes(10_000)).is_ok());
    assert_eq!(Schema::new(nodes(10_001)), Err(SchemaError::TooLarge));
    assert_eq!(Schema::new(nodes(1_000_000)), Err(SchemaError::TooLarge));
}

#[test]
fn the_first_schema_problem_of_a_tool_is_kept_and_the_rest_still_judged() {
    let tool = Tool::dynamic("", levels(65), |_, _| async { Ok(json!(1)) })
        .output_schema(json!("no schema"));
    let kinds: Vec<_> = tool
        .problems()
        .iter()
        .map(|problem| problem.kind())
        .collect();
    assert_eq!(
        kinds,
        [
            ProblemKind::Schema,
            ProblemKind::Description,
            ProblemKind::Schema
        ]
    );
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Checked {
    #[schemars(length(min = 2, max = 5), regex(pattern = "^[a-z]+$"))]
    #[serde(rename = "word")]
    _word: String,
    #[schemars(range(min = 1, max = 9))]
    #[serde(rename = "digit")]
    _digit: u8,
    #[schemars(extend("examples" = ["blue"]))]
    #[serde(rename = "colour")]
    _colour: Option<String>,
}

#[test]
fn checks_that_a_type_is_annotated_with_appear_in_its_schema() {
    let schema = Schema::input_of::<Checked>().unwrap();
    let properties = &schema.as_value()["properties"];
    assert_eq!(properties["word"]["minLength"], 2);
    assert_eq!(properties["word"]["maxLength"], 5);
    assert_eq!(properties["word"]["pattern"], "^[a-z]+$");
    assert_eq!(properties["digit"]["minimum"], 1);
    assert_eq!(properties["digit"]["maximum"], 9);
    assert_eq!(properties["colour"]["examples"], json!(["blue"]));
    assert_eq!(schema.as_value()["required"], json!(["word", "digit"]));
}
