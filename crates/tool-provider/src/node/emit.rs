//! From nodes back to a schema.

use serde_json::{Map, Value};

use super::{Named, Node, Slot};

/// The schema of a node. References are names and become pointers into `$defs`.
pub(crate) fn emit(node: &Node<'_>) -> Value {
    if node.never {
        return Value::Bool(false);
    }
    let mut schema = Map::new();
    for (key, slot) in node.keys.iter() {
        let value = match slot {
            Slot::Text(name) if key == "$ref" => Value::String(pointer(name)),
            Slot::Text(text) => Value::from(&**text),
            Slot::Plain(value) => Value::clone(value),
            Slot::Names(names) => names.iter().map(|name| &**name).collect(),
            Slot::Types(types) => types.keyword(),
            Slot::One(child) if is_flag(key, child) => Value::Bool(true),
            Slot::One(child) => emit(child),
            Slot::List(children) => children.iter().map(emit).collect(),
            Slot::Map(children) => Value::Object(emit_map(children)),
        };
        schema.insert(key.to_owned(), value);
    }
    Value::Object(schema)
}

fn emit_map(children: &Named<'_>) -> Map<String, Value> {
    let emitted = children
        .iter()
        .map(|(name, child)| (name.to_string(), emit(child)));
    emitted.collect()
}

/// Whether it is `true` where only a boolean is meant: no keyword stands in it.
pub(super) fn is_flag(key: &str, child: &Node<'_>) -> bool {
    let flags = [
        "additionalProperties",
        "unevaluatedProperties",
        "unevaluatedItems",
    ];
    child.keys.is_empty() && !child.never && flags.contains(&key)
}

pub(super) fn pointer(name: &str) -> String {
    if name.is_empty() {
        return "#".to_owned();
    }
    format!("#/$defs/{name}")
}
