//! Rules of OpenAI.

use serde_json::Value;

use super::json_schema::{booleans, required, takes, walk};
use super::{Refused, expect};

pub(crate) fn plain(schema: &Value, found: &mut Vec<Refused>) {
    for key in ["oneOf", "anyOf", "allOf", "enum", "not"] {
        expect(found, schema.get(key).is_none(), "O-TOPCOMB");
    }
    expect(found, schema["properties"].is_object(), "O-ROOTPROPS");
    walk(schema, "", &mut |node, at| {
        let arrays = node.get("type").is_some_and(|it| takes(it, "array"));
        if arrays && !node.contains_key("items") {
            found.push(format!("O-ITEMS {at}"));
        }
    });
}

const FORMATS: [&str; 9] = [
    "date-time",
    "time",
    "date",
    "duration",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "uuid",
];

pub(crate) fn strict(schema: &Value, found: &mut Vec<Refused>) {
    let known = [
        "$defs",
        "$ref",
        "additionalProperties",
        "anyOf",
        "const",
        "description",
        "enum",
        "exclusiveMaximum",
        "exclusiveMinimum",
        "format",
        "items",
        "maxItems",
        "maximum",
        "minItems",
        "minimum",
        "multipleOf",
        "pattern",
        "properties",
        "required",
        "title",
        "type",
    ];
    let (mut properties_in_all, mut values, mut characters) = (0, 0, 0);
    walk(schema, "", &mut |node, at| {
        for key in node.keys().filter(|key| !known.contains(&&***key)) {
            found.push(format!("OS-KEY {key} {at}"));
        }
        if node.get("type").is_some_and(|it| takes(it, "object")) {
            if node.get("additionalProperties") != Some(&Value::Bool(false)) {
                found.push(format!("OS-ADDL {at}"));
            }
            let names: Vec<&str> = node
                .get("properties")
                .and_then(Value::as_object)
                .into_iter()
                .flatten()
                .map(|(name, _)| name.as_str())
                .collect();
            let mut required: Vec<&str> = required(node).collect();
            required.sort_unstable();
            if names != required || !node.contains_key("required") {
                found.push(format!("OS-REQ {at}"));
            }
            properties_in_all += names.len();
            characters += names.iter().map(|it| it.len()).sum::<usize>();
        }
        if !["type", "anyOf", "$ref"]
            .iter()
            .any(|key| node.contains_key(*key))
        {
            found.push(format!("OS-TYPE {at}"));
        }
        if node.contains_key("$ref") && node.len() > 1 {
            found.push(format!("OS-REFSIB {at}"));
        }
        if let Some(format) = node.get("format").and_then(Value::as_str)
            && !FORMATS.contains(&format)
        {
            found.push(format!("OS-FORMAT {at}"));
        }
        for value in node
            .get("enum")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            values += 1;
            characters += value.as_str().map_or(0, str::len);
        }
    });
    booleans(schema, found);
    expect(found, properties_in_all <= 5_000, "OS-PROPS");
    expect(found, values <= 1_000, "OS-ENUM");
    expect(found, characters <= 120_000, "OS-STRLEN");
    expect(found, depth(schema) <= 11, "OS-DEPTH");
}

/// Levels of objects and arrays, without following references.
fn depth(schema: &Value) -> usize {
    let Some(map) = schema.as_object() else {
        return 0;
    };
    let properties = map.get("properties").and_then(Value::as_object);
    let below = properties
        .into_iter()
        .flatten()
        .map(|(_, child)| depth(child))
        .max()
        .unwrap_or(0);
    let items = map.get("items").map_or(0, depth);
    let branches = map.get("anyOf").and_then(Value::as_array);
    let branches = branches.into_iter().flatten().map(depth).max().unwrap_or(0);
    let own = usize::from(map.contains_key("properties") || map.contains_key("items"));
    branches.max(own + below.max(items))
}
