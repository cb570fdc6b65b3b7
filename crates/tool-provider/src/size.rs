//! How long a definition is.

use serde_json::Value;
use tool_core::Definition;

/// Bytes that a definition takes as JSON at the least: nothing is counted that may be left out, and
/// no text is looked into.
pub(crate) fn at_least(definition: &Definition) -> usize {
    definition.name.as_str().len() + definition.description.len() + of(definition.input.as_value())
}

fn of(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) => 4,
        Value::Number(_) => 1,
        Value::String(text) => text.len() + 2,
        Value::Array(items) => items.iter().map(|it| of(it) + 1).sum::<usize>() + 1,
        Value::Object(map) => {
            let entries = map.iter().map(|(key, it)| key.len() + of(it) + 4);
            entries.sum::<usize>() + 1
        }
    }
}

#[cfg(test)]
mod tests;
