//! Rules over JSON Schema as it is: references, Anthropic, Moonshot.

use serde_json::{Map, Value};

use super::{Refused, expect};

/// Runs over every subschema that is an object, with its pointer.
pub(crate) fn walk(schema: &Value, at: &str, run: &mut dyn FnMut(&Map<String, Value>, &str)) {
    let Some(map) = schema.as_object() else {
        return;
    };
    run(map, at);
    for (key, value) in map {
        let at = format!("{at}/{key}");
        match (key.as_str(), value) {
            (
                "properties" | "patternProperties" | "$defs" | "dependentSchemas",
                Value::Object(named),
            ) => {
                for (name, child) in named {
                    walk(child, &format!("{at}/{name}"), run);
                }
            }
            ("allOf" | "anyOf" | "oneOf" | "prefixItems", Value::Array(children)) => {
                for (index, child) in children.iter().enumerate() {
                    walk(child, &format!("{at}/{index}"), run);
                }
            }
            (
                "items"
                | "additionalProperties"
                | "unevaluatedProperties"
                | "unevaluatedItems"
                | "propertyNames"
                | "contains"
                | "not"
                | "if"
                | "then"
                | "else",
                child,
            ) => walk(child, &at, run),
            _ => {}
        }
    }
}

/// The names that are required; an empty one for what is no name.
pub(crate) fn required(schema: &Map<String, Value>) -> impl Iterator<Item = &str> {
    let names = schema.get("required").and_then(Value::as_array);
    let names = names.into_iter().flatten();
    names.map(|name| name.as_str().unwrap_or_default())
}

pub(crate) fn resolvable(schema: &Value, root: &Value, found: &mut Vec<Refused>) {
    walk(schema, "", &mut |node, at| {
        let Some(reference) = node.get("$ref").and_then(Value::as_str) else {
            return;
        };
        let target = reference
            .strip_prefix('#')
            .and_then(|pointer| root.pointer(pointer));
        if target.is_none() {
            found.push(format!("X-DANGLE {at} {reference}"));
        }
    });
}

pub(crate) fn anthropic(schema: &Value, found: &mut Vec<Refused>) {
    for key in ["anyOf", "oneOf", "allOf"] {
        expect(found, schema.get(key).is_none(), "A-TOPCOMB");
    }
    for name in schema["properties"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, _)| name)
    {
        let legal = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
        expect(
            found,
            name.len() <= 64 && !name.is_empty() && name.chars().all(legal),
            "A-PROPKEY",
        );
    }
}

const ANTHROPIC_FORMATS: [&str; 10] = [
    "date-time",
    "time",
    "date",
    "duration",
    "email",
    "hostname",
    "uri",
    "ipv4",
    "ipv6",
    "uuid",
];

pub(crate) fn anthropic_strict(schema: &Value, found: &mut Vec<Refused>) {
    let (mut optional, mut unions) = (0, 0);
    let banned = [
        "minimum",
        "maximum",
        "multipleOf",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "minLength",
        "maxLength",
        "maxItems",
        "uniqueItems",
        "oneOf",
        "not",
        "if",
        "then",
        "else",
        "patternProperties",
        "propertyNames",
        "dependentRequired",
        "dependentSchemas",
        "unevaluatedProperties",
        "unevaluatedItems",
        "minProperties",
        "maxProperties",
        "prefixItems",
        "contains",
    ];
    walk(schema, "", &mut |node, at| {
        for key in banned {
            if node.contains_key(key) {
                found.push(format!("AS-KEY {key} {at}"));
            }
        }
        let objects = node.get("type").is_some_and(|it| takes(it, "object"));
        if objects && node.get("additionalProperties") != Some(&Value::Bool(false)) {
            found.push(format!("AS-ADDL {at}"));
        }
        if node
            .get("minItems")
            .and_then(Value::as_u64)
            .is_some_and(|it| it > 1)
        {
            found.push(format!("AS-ARR {at}"));
        }
        let said = ["type", "enum", "const", "anyOf", "allOf", "$ref"];
        if !said.iter().any(|key| node.contains_key(*key)) {
            found.push(format!("AS-NOTYPE {at}"));
        }
        let structured = |value: &Value| value.is_array() || value.is_object();
        if node
            .get("enum")
            .and_then(Value::as_array)
            .is_some_and(|it| it.iter().any(structured))
        {
            found.push(format!("AS-ENUM {at}"));
        }
        if let Some(format) = node.get("format").and_then(Value::as_str)
            && !ANTHROPIC_FORMATS.contains(&format)
        {
            found.push(format!("AS-FORMAT {at}"));
        }
        if node
            .get("pattern")
            .and_then(Value::as_str)
            .is_some_and(|it| ["(?=", "(?!", "(?<"].iter().any(|look| it.contains(look)))
        {
            found.push(format!("AS-REGEX {at}"));
        }
        if let Some(properties) = node.get("properties").and_then(Value::as_object) {
            optional += properties.len() - required(node).count();
        }
        if node.contains_key("anyOf") || node.get("type").is_some_and(Value::is_array) {
            unions += 1;
        }
    });
    booleans(schema, found);
    expect(found, optional <= 24, "AS-OPT");
    expect(found, unions <= 16, "AS-UNION");
    for (name, part) in schema["$defs"].as_object().into_iter().flatten() {
        let mut seen = vec![name.clone()];
        let mut pending = vec![part];
        while let Some(part) = pending.pop() {
            walk(part, "", &mut |node, _| {
                let to = node.get("$ref").and_then(Value::as_str).unwrap_or_default();
                let to = to.strip_prefix("#/$defs/").unwrap_or_default();
                if to == name {
                    found.push(format!("AS-REC {name}"));
                } else if !to.is_empty() && !seen.iter().any(|it| it == to) {
                    seen.push(to.to_owned());
                    pending.push(&schema["$defs"][to]);
                }
            });
        }
    }
}

/// No subschema but `additionalProperties` is a boolean.
pub(crate) fn booleans(schema: &Value, found: &mut Vec<Refused>) {
    walk(schema, "", &mut |node, at| {
        for (key, value) in node {
            let wrong = match (key.as_str(), value) {
                ("properties" | "$defs", Value::Object(named)) => {
                    named.values().any(Value::is_boolean)
                }
                ("anyOf" | "allOf" | "oneOf" | "prefixItems", Value::Array(list)) => {
                    list.iter().any(Value::is_boolean)
                }
                ("items", value) => value.is_boolean(),
                _ => false,
            };
            if wrong {
                found.push(format!("BOOL {key} {at}"));
            }
        }
    });
}

pub(crate) fn takes(types: &Value, name: &str) -> bool {
    types == name
        || types
            .as_array()
            .is_some_and(|types| types.iter().any(|it| it == name))
}

pub(crate) fn moonshot(schema: &Value, found: &mut Vec<Refused>) {
    booleans(schema, found);
    let annotations = ["description", "title"];
    walk(schema, "", &mut |node, at| {
        let mut refuse = |rule: &str| found.push(format!("{rule} {at}"));
        let has = |key: &str| node.contains_key(key);
        if has("type") && has("anyOf") {
            refuse("K-TYPEANYOF");
        }
        if has("type") && has("$ref") {
            refuse("K-TYPEREF");
        }
        if let Some(to) = node.get("$ref").and_then(Value::as_str) {
            let name = to.strip_prefix("#/$defs/");
            if to != "#" && name.is_none_or(|it| it.contains('/')) {
                refuse("K-REF");
            }
        }
        if let Some(types) = node.get("type").and_then(Value::as_array) {
            let primitive = ["string", "number", "integer", "boolean", "null"];
            let enumerated = has("enum")
                && types.len() == 2
                && types
                    .iter()
                    .all(|it| it.as_str().is_some_and(|it| primitive.contains(&it)));
            let alone = node.keys().all(|key| {
                key == "type" || annotations.contains(&&**key) || enumerated && key == "enum"
            });
            if !alone {
                refuse("K-MULTI");
            }
        }
        if let Some(values) = node.get("enum").and_then(Value::as_array) {
            let fits = |value: &Value| {
                let name = match value {
                    Value::Null => "null",
                    Value::Bool(_) => "boolean",
                    Value::Number(number) if number.is_f64() => "number",
                    Value::Number(_) => "integer",
                    Value::String(_) => "string",
                    Value::Array(_) => "array",
                    Value::Object(_) => "object",
                };
                let types = node.get("type").cloned().unwrap_or_default();
                takes(&types, name) || name == "integer" && takes(&types, "number")
            };
            if values.is_empty() || values.len() > 1000 || !values.iter().all(fits) {
                refuse("K-ENUM");
            }
        }
        let properties = node.get("properties").and_then(Value::as_object);
        for name in properties.into_iter().flatten().map(|(name, _)| name) {
            let reserved = ["$defs", "$ref", "anyOf", "required", "additionalProperties"];
            if reserved.contains(&&**name) || name.contains('{') {
                refuse("K-PROPNAME");
            }
        }
        for name in required(node) {
            if !properties.is_some_and(|it| it.contains_key(name)) {
                refuse("K-REQ");
            }
        }
        if has("$ref")
            && node
                .keys()
                .any(|key| key != "$ref" && !annotations.contains(&&**key))
        {
            if at.is_empty() {
                return;
            }
            refuse("K-REFSIB");
        }
        if node
            .get("anyOf")
            .and_then(Value::as_array)
            .is_some_and(|it| it.is_empty() || it.len() > 500)
        {
            refuse("K-ANYOF");
        }
        if !at.is_empty() && has("$defs") {
            refuse("K-DEFS");
        }
    });
}
