//! Lists of types, where a provider takes one type only.

use serde_json::Value;

use super::Work;
use super::untyped::about;
use crate::node::{ANNOTATIONS, Node, TypeSet};
use crate::rules::Unions;

impl<'a> Work<'a> {
    pub(super) fn split(&mut self, node: &mut Node<'a>) {
        match self.rules.unions {
            Unions::Free | Unions::Listed => {}
            Unions::Split => split_moonshot(node),
            Unions::Nullable => split_nullable(node),
        }
    }
}

/// A list of types stands alone, or is one type and null with an enumeration.
fn split_moonshot(node: &mut Node<'_>) {
    let Some(types) = node.types() else { return };
    let single = types.each().count() <= 1;
    let says_more = node
        .keys
        .keys()
        .any(|key| !matches!(key, "type" | "title" | "description"));
    if single || !says_more {
        return;
    }
    let enumerated = node
        .keys
        .keys()
        .all(|key| matches!(key, "type" | "title" | "description" | "enum"));
    if node.has("enum") && enumerated && types.has(TypeSet::NULL) {
        return;
    }
    by_type(node, types);
}

/// One type, or alternatives of one type each; null is a flag.
fn split_nullable<'a>(node: &mut Node<'a>) {
    if node.list("anyOf").is_some() {
        let mut branches = node.take_list("anyOf");
        let only_null = |node: &Node<'_>| node.types() == Some(TypeSet::NULL);
        let null = branches.iter().any(only_null);
        if null && branches.len() > 1 {
            branches.retain(|branch| !only_null(branch));
        }
        let flag = |node: &mut Node<'a>| {
            if null {
                node.set("nullable", true);
            }
        };
        if branches.len() == 1
            && let Some(single) = branches.pop()
        {
            for (key, slot) in single.keys {
                node.keys.or_insert(key, slot);
            }
            node.undo = single.undo;
            flag(node);
            return;
        }
        if let Some(first) = branches.first_mut() {
            flag(first);
            // Nothing may stand beside the alternatives.
            if let Some(text) = node.take_text("description") {
                let own = first.take_text("description");
                first.set_text("description", text);
                if let Some(own) = own {
                    first.describe(&own);
                }
            }
            node.take("title");
        }
        node.set_list("anyOf", branches);
        return;
    }
    let Some(types) = node.types() else { return };
    let rest = types.without(TypeSet::NULL);
    if types == TypeSet::NULL {
        return;
    }
    if rest.each().count() > 1 {
        by_type(node, types);
        split_nullable(node);
        return;
    }
    if types.has(TypeSet::NULL) {
        node.set("nullable", true);
    }
    node.set_types(rest);
}

/// One alternative for each type, with the keywords that are about it.
fn by_type(node: &mut Node<'_>, types: TypeSet) {
    let mut branches = Vec::new();
    for single in types.each() {
        let mut branch = Node::of_types(node.place, single);
        for (key, slot) in node.keys.iter() {
            let about = about(key);
            if !about.is_empty() && about.meets(single) {
                branch.keys.insert(key, slot.clone());
            }
        }
        if single == TypeSet::OBJECT {
            branch.undo = node.undo.clone();
        }
        if let Some(values) = node.plain("enum").and_then(Value::as_array) {
            let fitting = values.iter().filter(|it| single.has(TypeSet::of_value(it)));
            let fitting: Vec<Value> = fitting.cloned().collect();
            if fitting.is_empty() {
                continue;
            }
            if single != TypeSet::NULL {
                branch.set("enum", fitting);
            }
        }
        branches.push(branch);
    }
    node.keys.retain(|key, _| ANNOTATIONS.contains(&key));
    node.undo = None;
    node.set_list("anyOf", branches);
}
