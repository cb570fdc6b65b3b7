//! How deep a JSON value is nested.

use serde_json::{Map, Number, Value};
use thiserror::Error;
use tool_core::Output;

/// The most levels of nesting of arguments and of output.
pub(crate) const MAX_DEPTH: usize = 128;

/// Whether a value is nested no deeper than it may be. Deeper ones would overflow the stack of
/// whoever writes, compares, copies or drops them.
pub(crate) fn is_shallow(value: &Value) -> bool {
    is_shallow_and(value, &mut |_| {})
}

/// The same of an object.
pub(crate) fn is_shallow_object(map: &Map<String, Value>) -> bool {
    map.values()
        .all(|value| is_within(value, MAX_DEPTH - 1, &mut |_| {}))
}

/// The same, and looks at every number on the way.
pub(crate) fn is_shallow_and(value: &Value, look: &mut impl FnMut(&Number)) -> bool {
    is_within(value, MAX_DEPTH, look)
}

fn is_within(value: &Value, levels: usize, look: &mut impl FnMut(&Number)) -> bool {
    match value {
        Value::Array(items) => {
            levels > 0 && items.iter().all(|item| is_within(item, levels - 1, look))
        }
        Value::Object(map) => {
            levels > 0 && map.values().all(|value| is_within(value, levels - 1, look))
        }
        Value::Number(number) => {
            look(number);
            true
        }
        _ => true,
    }
}

/// Why a value that a tool made is not taken.
#[derive(Debug, Error)]
#[error("{0} is nested deeper than {MAX_DEPTH} levels")]
pub(crate) struct TooDeep(pub(crate) &'static str);

/// The value, where it is nested no deeper than it may be.
pub(crate) fn shallow(value: Value) -> Option<Value> {
    if is_shallow(&value) {
        return Some(value);
    }
    dismantle(value);
    None
}

/// Whether output is nested no deeper than it may be. What is no value yet is of the simple sort,
/// which is never deep.
pub(crate) fn is_flat(output: &Output) -> bool {
    output.plain().is_some() || is_shallow(output.value())
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
