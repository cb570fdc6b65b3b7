//! Schemas of types are closed wherever the type fixes the keys, and nowhere else.

use std::collections::{BTreeMap, HashMap};

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tool_core::{Context, Tool};

use crate::tools::{invalid, settle};

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

#[derive(serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
struct Numbers {
    byte: u8,
    signed: i32,
    wide: u64,
    ratio: f32,
    format: Option<u32>,
}

#[tokio::test]
async fn numbers_say_their_bounds_and_no_format_that_only_rust_knows() {
    let tool = || {
        Tool::new("x", |numbers: Numbers, _cx: Context| async move {
            Ok(numbers.byte)
        })
    };
    let schema = Tool::from(tool()).input().as_value().clone();
    assert!(!schema.to_string().contains("int32") && !schema.to_string().contains("float"));
    let byte = &schema["properties"]["byte"];
    assert_eq!(
        (&byte["minimum"], &byte["maximum"]),
        (&json!(0), &json!(255))
    );
    assert_eq!(schema["properties"]["signed"]["minimum"], json!(i32::MIN));
    // A property of that name stays.
    assert_eq!(schema["properties"]["format"]["maximum"], json!(u32::MAX));
    let good = r#"{"byte":255,"signed":-1,"wide":18446744073709551615,"ratio":0.5}"#;
    assert!(!settle(tool(), good).await.is_error());
    let bad = r#"{"byte":256,"signed":-1,"wide":1,"ratio":0.5}"#;
    assert_eq!(
        settle(tool(), bad).await.text(),
        "expected at most 255 at /byte"
    );
}
