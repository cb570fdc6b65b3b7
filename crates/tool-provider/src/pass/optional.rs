//! Properties that may be left out, where null has to say so.

use std::collections::BTreeSet;

use serde_json::Value;

use super::nulls::Nulls;
use super::{Work, edges, reachable, references};
use crate::loss::Effect;
use crate::node::{ANNOTATIONS, Document, Named, Node, Slot, TypeSet};
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
fn judged_by_number(root: &Node<'_>, defs: &Named<'_>) -> BTreeSet<String> {
    let edges = edges(root, defs);
    let mut names = BTreeSet::new();
    for node in std::iter::once(root).chain(defs.nodes()) {
        below_number(node, &mut names);
    }
    let further = reachable(&edges, names.iter().copied());
    names.extend(further);
    names.into_iter().map(str::to_owned).collect()
}

fn below_number<'n>(node: &'n Node<'_>, names: &mut BTreeSet<&'n str>) {
    for key in BY_NUMBER {
        let one = node.one(key).into_iter();
        for child in one.chain(node.list(key).into_iter().flatten()) {
            names.extend(references(child));
        }
    }
    node.children().for_each(|child| below_number(child, names));
}

impl<'a> Work<'a> {
    /// Has null say that a property is left out, wherever one may be.
    pub(super) fn optional(&mut self, root: &mut Node<'a>, defs: &mut Named<'a>, refers: bool) {
        let nodes = std::iter::once(&mut *root).chain(defs.nodes_mut());
        nodes.for_each(|node| self.describe_required(node));
        let left = match refers {
            true => judged_by_number(root, defs),
            false => BTreeSet::new(),
        };
        // What is done here to the properties of what is referred to changes none of these.
        let nulls = Nulls::of(defs);
        let named = defs.iter_mut().map(|(name, node)| (&**name, node));
        for (name, node) in std::iter::once(("", root)).chain(named) {
            if !left.contains(name) {
                self.optional_in(node, &nulls);
            }
        }
    }

    fn optional_in(&mut self, node: &mut Node<'a>, taken: &Nulls<'a>) {
        for (key, slot) in node.keys.iter_mut() {
            if !BY_NUMBER.contains(&key) {
                slot.each(&mut |child| self.optional_in(child, taken));
            }
        }
        if !node.has("properties") {
            return;
        }
        let kept = match node.take("required") {
            Some(Slot::Names(names)) => names,
            _ => Vec::new(),
        };
        let mut required: Vec<&str> = kept.iter().map(|name| &**name).collect();
        required.sort_unstable();
        let Some(properties) = node.map_mut("properties") else {
            return;
        };
        let mut nulls = Vec::new();
        let mut filled = Vec::new();
        for (name, child) in properties
            .iter_mut()
            .filter(|(name, _)| required.binary_search(&&***name).is_err())
        {
            let takes = taken.are_taken(child);
            if takes && child.refuses_null {
                nulls.push(name.to_string());
            } else if takes {
                filled.push(name.to_string());
                let note = "null and absence are no longer told apart";
                self.report
                    .add(child.place, "required", Effect::Rewritten, note);
            } else {
                nulls.push(name.to_string());
                take_null(child);
            }
        }
        let all: Vec<_> = properties.names().cloned().collect();
        if !nulls.is_empty() {
            for key in BY_PRESENCE.into_iter().filter(|key| node.has(key)) {
                let note = "a key that is null counts there, and is left out for the tool";
                self.report.gave_up(node.place, key, note);
            }
        }
        if self.rules.optional == Optional::AsNull {
            if !all.is_empty() || node.is_object() {
                node.keys.insert("required", Slot::Names(all));
            }
            if !filled.is_empty() || !nulls.is_empty() {
                let undo = node.undo_mut();
                undo.filled.extend(filled);
                undo.fills = true;
            }
        } else {
            node.set_required(kept);
        }
        if !nulls.is_empty() {
            node.undo_mut().nulls.extend(nulls);
        }
    }

    /// Describes every name that is required: one service refuses those that are not.
    fn describe_required(&mut self, node: &mut Node<'a>) {
        node.each(&mut |node| {
            if node.has("properties") || !node.has("required") {
                return;
            }
            let required = node.required();
            if required.is_empty() {
                node.take("required");
                return;
            }
            let rest = self.rest(node, required.len());
            let rest = rest.unwrap_or_else(|| Node::at(node.place.required()));
            let properties = required.into_iter().map(|name| (name, rest.clone()));
            node.set_map("properties", properties.collect());
        });
    }
}

/// Notes which nodes take no null, before any pass makes something else of them.
pub(crate) fn note_null(document: &mut Document<'_>) {
    let nulls = Nulls::of(&document.defs);
    for node in document.nodes_mut() {
        node.each(&mut |node| node.refuses_null = !nulls.are_taken(node));
    }
}

/// Makes a node take null too.
fn take_null(node: &mut Node<'_>) {
    let plain = !["$ref", "const", "allOf", "anyOf", "oneOf", "not", "if"]
        .iter()
        .any(|key| node.has(key));
    if let Some(types) = node.types().filter(|_| plain && !node.never) {
        node.set_types(types.with(TypeSet::NULL));
        if let Some(values) = node.plain("enum").and_then(Value::as_array) {
            let values = values.iter().cloned().chain([Value::Null]);
            node.set("enum", values.collect::<Vec<_>>());
        }
        return;
    }
    let null = Node::of_types(node.place, TypeSet::NULL);
    let alone = node
        .keys
        .keys()
        .all(|key| key == "anyOf" || ANNOTATIONS.contains(&key));
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
