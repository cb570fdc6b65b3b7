//! Properties that may be left out, where null has to say so.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{Work, edges, reachable, references};
use crate::loss::Effect;
use crate::node::{ANNOTATIONS, Document, Node, TypeSet};
use crate::rules::Optional;

/// What may judge an object by the keys that are there.
const BY_PRESENCE: [&str; 12] = [
    "$ref",
    "allOf",
    "anyOf",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "else",
    "if",
    "minProperties",
    "not",
    "oneOf",
    "then",
];

/// What takes more in one of these takes less outside of it.
const BY_NUMBER: [&str; 3] = ["if", "not", "oneOf"];

/// The names that are referred to from where what takes more takes less outside.
pub(super) fn judged_by_number(root: &Node, defs: &BTreeMap<String, Node>) -> BTreeSet<String> {
    let edges = edges(root, defs);
    let mut names = BTreeSet::new();
    for node in std::iter::once(root).chain(defs.values()) {
        below_number(node, &mut names);
    }
    let further: Vec<&str> = names.iter().flat_map(|it| reachable(&edges, it)).collect();
    let further: Vec<String> = further.into_iter().map(str::to_owned).collect();
    names.extend(further);
    names
}

fn below_number(node: &Node, names: &mut BTreeSet<String>) {
    for key in BY_NUMBER {
        let one = node.one(key).into_iter();
        for child in one.chain(node.list(key).into_iter().flatten()) {
            names.extend(references(child));
        }
    }
    node.children().for_each(|child| below_number(child, names));
}

impl Work<'_> {
    pub(super) fn optional(&mut self, node: &mut Node, defs: &BTreeMap<String, Node>) {
        if self.rules.optional == Optional::Free {
            return;
        }
        for (key, slot) in node.keys.iter_mut() {
            if !BY_NUMBER.contains(&&**key) {
                slot.each(&mut |child| self.optional(child, defs));
            }
        }
        if !node.has("properties") {
            return;
        }
        let kept = node.take_plain("required");
        let listed = kept.as_ref().and_then(Value::as_array);
        let listed = listed.into_iter().flatten().filter_map(Value::as_str);
        let required: BTreeSet<&str> = listed.collect();
        let Some(properties) = node.map_mut("properties") else {
            return;
        };
        let mut nulls = Vec::new();
        let mut filled = Vec::new();
        for (name, child) in properties
            .iter_mut()
            .filter(|(name, _)| !required.contains(name.as_str()))
        {
            let takes = takes_null(child, defs, 0);
            if takes && child.refuses_null {
                nulls.push(name.clone());
            } else if takes {
                filled.push(name.clone());
                let note = "null and absence are no longer told apart";
                self.report
                    .add(&child.place, "required", Effect::Rewritten, note);
            } else {
                nulls.push(name.clone());
                take_null(child);
            }
        }
        let all: Vec<Value> = properties.keys().map(|it| it.as_str().into()).collect();
        if !nulls.is_empty() {
            for key in BY_PRESENCE.into_iter().filter(|key| node.has(key)) {
                let note = "a key that is null counts there, and is left out for the tool";
                self.report.gave_up(&node.place, key, note);
            }
        }
        if self.rules.optional == Optional::AsNull {
            if !all.is_empty() || node.is_object() {
                node.set("required", all);
            }
            if !filled.is_empty() || !nulls.is_empty() {
                let undo = node.undo_mut();
                undo.filled.extend(filled);
                undo.fills = true;
            }
        } else if let Some(kept) = kept {
            node.set("required", kept);
        }
        if !nulls.is_empty() {
            node.undo_mut().nulls.extend(nulls);
        }
    }
}

/// Describes every name that is required: one service refuses those that are not.
pub(super) fn describe_required(node: &mut Node) {
    node.each(&mut |node| {
        if node.has("properties") || !node.has("required") {
            return;
        }
        let required = node.required();
        if required.is_empty() {
            node.take("required");
            return;
        }
        let rest = node.one("additionalProperties");
        let rest = rest.filter(|_| !node.has("patternProperties")).cloned();
        let rest = rest.unwrap_or_else(|| Node::at(node.place.below("required")));
        let properties = required.into_iter().map(|name| (name, rest.clone()));
        node.set_map("properties", properties.collect());
    });
}

/// Notes which nodes take no null, before any pass makes something else of them.
pub(crate) fn note_null(document: &mut Document) {
    let defs = document.defs.clone();
    for node in std::iter::once(&mut document.root).chain(document.defs.values_mut()) {
        node.each(&mut |node| node.refuses_null = !takes_null(node, &defs, 0));
    }
}

/// Whether null fits. Only these keywords can tell; a reference that leads back to itself says
/// nothing more.
fn takes_null(node: &Node, defs: &BTreeMap<String, Node>, depth: usize) -> bool {
    if node.never || depth > 16 {
        return false;
    }
    let takes = |node: &Node| takes_null(node, defs, depth + 1);
    if let Some(name) = node.text("$ref")
        && !defs.get(name).is_some_and(takes)
    {
        return false;
    }
    let listed = node.plain("enum").and_then(Value::as_array);
    if node.types().is_some_and(|types| !types.has(TypeSet::NULL))
        || listed.is_some_and(|values| !values.iter().any(Value::is_null))
        || node.plain("const").is_some_and(|value| !value.is_null())
    {
        return false;
    }
    let holds = |key: &str, enough: fn(usize, usize) -> bool| {
        node.list(key).is_none_or(|branches| {
            let taking = branches.iter().filter(|it| takes(it)).count();
            enough(taking, branches.len())
        })
    };
    let then = match node.one("if") {
        Some(condition) if takes(condition) => node.one("then"),
        Some(_) => node.one("else"),
        None => None,
    };
    holds("anyOf", |taking, _| taking > 0)
        && holds("oneOf", |taking, _| taking == 1)
        && holds("allOf", |taking, all| taking == all)
        && !node.one("not").is_some_and(takes)
        && then.is_none_or(takes)
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
    node.undo = None;
    for key in ["description", "title"] {
        if let Some(slot) = inner.take(key) {
            node.keys.insert(key, slot);
        }
    }
    node.set_list("anyOf", vec![inner, null]);
}
