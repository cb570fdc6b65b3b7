//! From nodes back to a schema.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{Node, Slot};

/// The schema of a node. References are names and become pointers into `$defs`.
pub(crate) fn emit(node: &Node) -> Value {
    if node.never {
        return Value::Bool(false);
    }
    let mut schema = Map::new();
    for (key, slot) in &node.keys {
        let value = match slot {
            Slot::Plain(Value::String(name)) if key == "$ref" => Value::String(pointer(name)),
            Slot::Plain(value) => value.clone(),
            // `true` where only a boolean is meant: no keyword stands in it.
            Slot::One(child) if child.keys.is_empty() && !child.never => match key.as_str() {
                "additionalProperties" | "unevaluatedProperties" | "unevaluatedItems" => {
                    Value::Bool(true)
                }
                _ => emit(child),
            },
            Slot::One(child) => emit(child),
            Slot::List(children) => children.iter().map(emit).collect(),
            Slot::Map(children) => Value::Object(emit_map(children)),
        };
        schema.insert(key.clone(), value);
    }
    Value::Object(schema)
}

pub(crate) fn emit_map(children: &BTreeMap<String, Node>) -> Map<String, Value> {
    let emitted = children
        .iter()
        .map(|(name, child)| (name.clone(), emit(child)));
    emitted.collect()
}

fn pointer(name: &str) -> String {
    if name.is_empty() {
        return "#".to_owned();
    }
    format!("#/$defs/{name}")
}
