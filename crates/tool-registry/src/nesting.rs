//! How deep a JSON value is nested.

use serde_json::Value;

/// The most levels of nesting of arguments and of output.
pub(crate) const MAX_DEPTH: usize = 128;

/// Whether a value is nested no deeper than it may be. Deeper ones would overflow the stack of
/// whoever writes, compares, copies or drops them.
pub(crate) fn is_shallow(value: &Value) -> bool {
    is_within(value, MAX_DEPTH)
}

fn is_within(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(items) => levels > 0 && items.iter().all(|item| is_within(item, levels - 1)),
        Value::Object(map) => levels > 0 && map.values().all(|value| is_within(value, levels - 1)),
        _ => true,
    }
}

/// Drops a value level by level, however deep it is.
pub(crate) fn dismantle(value: Value) {
    let mut pending = vec![value];
    while let Some(value) = pending.pop() {
        match value {
            Value::Array(items) => pending.extend(items),
            Value::Object(map) => pending.extend(map.into_iter().map(|(_, value)| value)),
            _ => {}
        }
    }
}
