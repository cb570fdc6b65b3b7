//! Properties that may be left out, where null has to say so.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Work;
use crate::loss::Effect;
use crate::node::{ANNOTATIONS, Node, TypeSet};
use crate::rules::Optional;

impl Work<'_> {
    pub(super) fn optional(&mut self, node: &mut Node, defs: &BTreeMap<String, Node>) {
        if self.rules.optional == Optional::Free {
            return;
        }
        node.each_child(&mut |child| self.optional(child, defs));
        let required = node.required();
        let Some(properties) = node.map_mut("properties") else {
            // One service refuses names that are required where none is described.
            node.take("required");
            return;
        };
        let mut nulls = Vec::new();
        let mut filled = Vec::new();
        for (name, child) in properties
            .iter_mut()
            .filter(|(name, _)| !required.contains(*name))
        {
            if takes_null(child, defs, 0) {
                filled.push(name.clone());
                let note = "null and absence are no longer told apart";
                self.report
                    .add(&child.place, "required", Effect::Rewritten, note);
            } else {
                nulls.push(name.clone());
                take_null(child);
            }
        }
        if self.rules.optional == Optional::AsNull {
            let all = properties.keys().cloned().collect();
            node.set_required(all);
            if !node.has("required") && node.is_object() {
                node.set("required", Value::Array(Vec::new()));
            }
            node.undo.filled.extend(filled);
        }
        node.undo.nulls.extend(nulls);
    }
}

fn takes_null(node: &Node, defs: &BTreeMap<String, Node>, depth: usize) -> bool {
    if node.never || depth > 16 {
        return false;
    }
    if let Some(name) = node.text("$ref") {
        return defs
            .get(name)
            .is_some_and(|node| takes_null(node, defs, depth + 1));
    }
    if node.types().is_some_and(|types| !types.has(TypeSet::NULL)) {
        return false;
    }
    if node.has("allOf") || node.has("not") || node.has("if") {
        return false;
    }
    if let Some(values) = node.plain("enum").and_then(Value::as_array) {
        return values.iter().any(Value::is_null);
    }
    if let Some(value) = node.plain("const") {
        return value.is_null();
    }
    let some = |key: &str| {
        node.list(key)
            .is_none_or(|branches| branches.iter().any(|it| takes_null(it, defs, depth + 1)))
    };
    some("anyOf") && some("oneOf")
}

/// Makes a node take null too.
fn take_null(node: &mut Node) {
    let plain = !["$ref", "const", "allOf", "anyOf", "oneOf", "not", "if"]
        .iter()
        .any(|key| node.has(key));
    if let Some(types) = node.types().filter(|_| plain && !node.never) {
        node.set_types(types.with(TypeSet::NULL));
        if let Some(Value::Array(mut values)) = node.plain("enum").cloned() {
            values.push(Value::Null);
            node.set("enum", values);
        }
        return;
    }
    let null = Node::of_types(node.place.clone(), TypeSet::NULL);
    let alone = node
        .keys
        .keys()
        .all(|key| key == "anyOf" || ANNOTATIONS.contains(&&**key));
    if let Some(branches) = node.list_mut("anyOf").filter(|_| alone) {
        branches.push(null);
        return;
    }
    let mut inner = node.clone();
    node.keys.clear();
    node.never = false;
    node.undo = crate::node::Undo::default();
    for key in ["description", "title"] {
        if let Some(slot) = inner.take(key) {
            node.keys.insert(key.to_owned(), slot);
        }
    }
    node.set_list("anyOf", vec![inner, null]);
}
