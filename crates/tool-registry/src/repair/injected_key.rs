//! Keys that a client is known to add to what the model sent.

use serde_json::Value;
use tool_core::{Repair, RepairRule};

use super::facts::Facts;
use super::place::Place;
use crate::pointer;
use crate::validator::Validator;

/// Removes the keys of a list that the schema, being closed, does not know.
pub(super) fn remove(validator: &Validator, injected: &[String], value: &mut Value) -> Vec<Repair> {
    let given = |value: &Value| injected.iter().any(|key| value.get(key).is_some());
    if !given(value) {
        return Vec::new();
    }
    let facts = Facts::of(validator);
    let root = Place::root(validator.schema());
    let unknown = validator.unknown_keys(value);
    let Value::Object(map) = value else {
        return Vec::new();
    };
    let mut repairs = Vec::new();
    for key in injected {
        // What is unevaluated may be declared, where something else does not fit.
        if unknown.contains(key) && !facts.declares(&root, key) && map.remove(key).is_some() {
            let mut path = String::new();
            pointer::push_key(&mut path, key);
            repairs.push(Repair::new(path, RepairRule::InjectedKey));
        }
    }
    repairs
}
