//! Rules of Gemini: its own form of schemas, and JSON Schema.

use serde_json::{Map, Value};

use super::json_schema::{required, walk};
use super::{Refused, expect};

const FIELDS: [&str; 22] = [
    "anyOf",
    "default",
    "description",
    "enum",
    "example",
    "format",
    "items",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "nullable",
    "pattern",
    "properties",
    "propertyOrdering",
    "required",
    "title",
    "type",
];

pub(crate) fn check(schema: &Value, found: &mut Vec<Refused>) {
    expect(found, schema["type"] == "OBJECT", "G-ROOT");
    let empty = schema["properties"].as_object().is_none_or(Map::is_empty);
    expect(found, !empty, "G-ROOTEMPTY");
    node(schema, "", found);
}

fn node(schema: &Value, at: &str, found: &mut Vec<Refused>) {
    let Some(map) = schema.as_object() else {
        found.push(format!("G-VALUE {at}"));
        return;
    };
    let mut refuse = |rule: &str| found.push(format!("{rule} {at}"));
    for key in map.keys().filter(|key| !FIELDS.contains(&&***key)) {
        refuse(&format!("G-KEY {key}"));
    }
    let types = [
        "STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL",
    ];
    let kind = map
        .get("type")
        .map(|kind| kind.as_str().unwrap_or_default());
    if kind.is_some_and(|kind| !types.contains(&kind)) {
        refuse("G-TYPE");
    }
    if kind == Some("ARRAY") && !map.contains_key("items") {
        refuse("G-ITEMS");
    }
    if let Some(values) = map.get("enum").and_then(Value::as_array) {
        if !values
            .iter()
            .all(|it| it.as_str().is_some_and(|it| !it.is_empty()))
        {
            refuse("G-ENUM");
        }
        if kind != Some("STRING") {
            refuse("G-ENUMTYPE");
        }
    }
    if let Some(format) = map.get("format").and_then(Value::as_str) {
        let known = match kind {
            Some("STRING") => ["enum", "date-time"].contains(&format),
            Some("NUMBER") => ["float", "double"].contains(&format),
            Some("INTEGER") => ["int32", "int64"].contains(&format),
            _ => false,
        };
        if !known {
            refuse("G-FORMAT");
        }
    }
    let properties = map.get("properties").and_then(Value::as_object);
    for name in required(map) {
        if !properties.is_some_and(|it| it.contains_key(name)) {
            refuse("G-REQ");
        }
    }
    if map.contains_key("anyOf") && map.len() > 1 {
        refuse("G-ANYOFSIB");
    }
    for (name, child) in properties.into_iter().flatten() {
        node(child, &format!("{at}/{name}"), found);
    }
    if let Some(items) = map.get("items") {
        node(items, &format!("{at}/items"), found);
    }
    for child in map
        .get("anyOf")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        node(child, &format!("{at}/anyOf"), found);
    }
}

pub(crate) fn check_json(schema: &Value, found: &mut Vec<Refused>) {
    let known = [
        "$defs",
        "$ref",
        "additionalProperties",
        "anyOf",
        "description",
        "enum",
        "format",
        "items",
        "maxItems",
        "maximum",
        "minItems",
        "minimum",
        "oneOf",
        "prefixItems",
        "properties",
        "required",
        "title",
        "type",
    ];
    walk(schema, "", &mut |node, at| {
        for key in node.keys().filter(|key| !known.contains(&&***key)) {
            found.push(format!("GJ-KEY {key} {at}"));
        }
        if node.contains_key("$ref") && node.keys().any(|key| !key.starts_with('$')) {
            found.push(format!("GJ-REFSIB {at}"));
        }
        let reference = node.get("$ref").and_then(Value::as_str);
        if reference.is_some_and(|it| !it.starts_with("#/$defs/")) {
            found.push(format!("GJ-DEFS {at}"));
        }
    });
}
