//! Which alternative a value is of.

use serde_json::Value;

use crate::node::TypeSet;

/// Whether a value has the shape that a projected schema describes. Only what tells alternatives
/// apart is looked at: types, values, keys and items. References are taken to fit.
pub(crate) fn fits(schema: &Value, value: &Value) -> bool {
    let Value::Object(schema) = schema else {
        return schema != &Value::Bool(false);
    };
    if value.is_null() && schema.get("nullable") == Some(&Value::Bool(true)) {
        return true;
    }
    if let Some(types) = schema.get("type") {
        let types = match types {
            Value::String(name) => TypeSet::of_keyword(&Value::String(name.to_ascii_lowercase())),
            types => TypeSet::of_keyword(types),
        };
        if !types.has(TypeSet::of_value(value)) {
            return false;
        }
    }
    let listed = schema.get("enum").and_then(Value::as_array);
    if listed.is_some_and(|values| !values.contains(value))
        || schema
            .get("const")
            .is_some_and(|constant| constant != value)
    {
        return false;
    }
    let branches = |key: &str| schema.get(key).and_then(Value::as_array);
    if ["anyOf", "oneOf"]
        .iter()
        .filter_map(|key| branches(key))
        .any(|branches| !branches.iter().any(|branch| fits(branch, value)))
    {
        return false;
    }
    match value {
        Value::Object(map) => {
            let required = schema.get("required").and_then(Value::as_array);
            let properties = schema.get("properties").and_then(Value::as_object);
            let closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
            required
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .all(|name| map.contains_key(name))
                && map.iter().all(|(name, value)| {
                    match properties.and_then(|properties| properties.get(name)) {
                        Some(schema) => fits(schema, value),
                        None => !closed,
                    }
                })
        }
        Value::Array(items) => match schema.get("items") {
            Some(schema) if !schema.is_boolean() => items.iter().all(|item| fits(schema, item)),
            _ => true,
        },
        _ => true,
    }
}
