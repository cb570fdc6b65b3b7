//! Alternatives of an object, folded into one object that takes them all.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use serde_json::Value;

use super::Work;
use super::merge::{UNSAID, merge};
use crate::loss::Effect;
use crate::node::{Name, Named, Node, Place, TypeSet, emit};

impl<'a> Work<'a> {
    /// Folds `anyOf` and `oneOf` of an object into it.
    pub(super) fn fold(&mut self, node: &mut Node<'a>, root: bool) {
        self.fold_within(node, root, &mut Vec::new());
    }

    /// The same, inside of what was followed.
    fn fold_within(&mut self, node: &mut Node<'a>, root: bool, stack: &mut Vec<String>) {
        for key in ["anyOf", "oneOf"] {
            let branches = node.take_list(key);
            if branches.is_empty() {
                continue;
            }
            let place = node.place;
            let branches: Vec<Node<'a>> = branches
                .into_iter()
                .map(|mut branch| {
                    let height = stack.len();
                    self.absorb(&mut branch, stack);
                    self.fold_within(&mut branch, false, stack);
                    stack.truncate(height);
                    branch
                })
                .filter(|branch| {
                    let types = branch.types();
                    !branch.never && types.is_none_or(|types| types.has(TypeSet::OBJECT))
                })
                .collect();
            if branches.is_empty() {
                self.report
                    .contradicted(place, key, "none of the alternatives takes an object");
                continue;
            }
            self.report.gave_up(
                place,
                key,
                "the alternatives became one object that takes them all",
            );
            if let Some(words) = words(key, &branches) {
                if root {
                    self.words.push(words);
                } else {
                    self.say(node, Some(words));
                }
            }
            self.fold_branches(node, &branches);
        }
    }

    fn fold_branches(&mut self, node: &mut Node<'a>, branches: &[Node<'a>]) {
        let closed = |node: &Node<'_>| {
            ["additionalProperties", "unevaluatedProperties"]
                .iter()
                .any(|key| node.one(key).is_some_and(|rest| rest.never))
        };
        let mut required = node.required();
        let shared = branches
            .iter()
            .map(Node::required)
            .reduce(|all, one| all.intersection(&one).cloned().collect());
        required.extend(shared.unwrap_or_default());

        // A closed base lets no further key through, whatever the alternatives name.
        if !node
            .one("additionalProperties")
            .is_some_and(|rest| rest.never)
        {
            let mut variants: BTreeMap<Name<'a>, Vec<&Node<'a>>> = BTreeMap::new();
            for branch in branches {
                let named = branch.map("properties");
                for (name, child) in named.into_iter().flat_map(Named::iter) {
                    variants.entry(name.clone()).or_default().push(child);
                }
            }
            let wanted: BTreeSet<Name<'a>> = branches.iter().flat_map(Node::required).collect();
            let rest = node.one("additionalProperties").cloned();
            let mut rest = rest.filter(|_| !node.has("patternProperties"));
            let names = variants.len() + wanted.len();
            if rest
                .take_if(|rest| !self.report.budget.copies(names, rest))
                .is_some()
            {
                self.report
                    .gave_up(node.place, "additionalProperties", UNSAID);
            }
            let properties = node.take_map("properties").into_iter();
            let mut properties: BTreeMap<Name<'a>, Node<'a>> = properties.collect();
            for (name, children) in variants {
                if properties.get(&name).is_some_and(|own| !own.is_any()) {
                    continue;
                }
                // Where one demands the key and says nothing of it, it may hold anything.
                let free = branches.iter().any(|branch| {
                    let named = branch.map("properties");
                    branch.listed_required().contains(&name)
                        && !named.is_some_and(|named| named.has(&name))
                });
                if free {
                    let place = node.place;
                    properties
                        .entry(name)
                        .or_insert_with(|| rest.clone().unwrap_or(Node::at(place)));
                    continue;
                }
                if children.len() < branches.len() && branches.iter().any(|it| !closed(it)) {
                    let place = children
                        .first()
                        .map(|child| child.place)
                        .unwrap_or_default();
                    let note = "the key is described as the alternatives that name it do";
                    self.report.add(place, "properties", Effect::Narrowed, note);
                }
                let mut union = union(&children);
                if let Some(rest) = rest.as_ref().filter(|_| !properties.contains_key(&name)) {
                    if union.any(&|node| node.has("$ref")) {
                        self.report
                            .gave_up(node.place, "additionalProperties", UNSAID);
                    }
                    merge(&mut union, rest.clone(), &mut self.report);
                }
                if let Some(own) = properties.remove(&name) {
                    for (key, slot) in own.keys {
                        union.keys.or_insert(key, slot);
                    }
                }
                properties.insert(name, union);
            }
            for name in wanted {
                let place = node.place;
                properties
                    .entry(name)
                    .or_insert_with(|| rest.clone().unwrap_or(Node::at(place)));
            }
            node.set_map("properties", properties.into_iter().collect());
            let all_closed = branches.iter().all(closed);
            if all_closed && !node.has("additionalProperties") {
                node.set_one("additionalProperties", Node::nothing(node.place));
            }
        }
        node.take("unevaluatedProperties");
        node.set_required(required);
        node.set_types(TypeSet::OBJECT);
    }
}

/// A schema that takes what any of these does.
fn union<'a>(nodes: &[&Node<'a>]) -> Node<'a> {
    let place = nodes.first().map(|node| node.place).unwrap_or_default();
    let refuses_null = nodes.iter().all(|node| node.refuses_null);
    let mut union = any_of(place, nodes.iter().copied().cloned());
    union.refuses_null = refuses_null;
    let values: Option<Vec<&Value>> = nodes.iter().map(|node| node.plain("const")).collect();
    let Some(values) = values.filter(|_| union.has("anyOf")) else {
        return union;
    };
    let mut seen = HashSet::new();
    let distinct = values.into_iter().filter(|value| seen.insert(*value));
    let distinct: Vec<Value> = distinct.cloned().collect();
    let mut node = Node::at(place);
    let types = distinct.iter().map(TypeSet::of_value);
    node.set_types(types.fold(TypeSet::NONE, TypeSet::with));
    node.set("enum", distinct);
    node.refuses_null = refuses_null;
    node
}

/// Alternatives, each of them once, or the only one there is.
pub(super) fn any_of<'a>(place: Place<'a>, nodes: impl Iterator<Item = Node<'a>>) -> Node<'a> {
    let mut seen = HashSet::new();
    let distinct: Vec<Node<'a>> = nodes.filter(|node| seen.insert(emit(node))).collect();
    <[Node<'a>; 1]>::try_from(distinct).map_or_else(
        |distinct| {
            let mut node = Node::at(place);
            node.set_list("anyOf", distinct);
            node
        },
        |[single]| single,
    )
}

/// The alternatives in words.
fn words(key: &str, branches: &[Node<'_>]) -> Option<String> {
    const MOST: usize = 8;
    let sets: Vec<String> = branches
        .iter()
        .map(|branch| {
            branch
                .required()
                .into_iter()
                .collect::<Vec<_>>()
                .join(" and ")
        })
        .collect();
    if sets.len() > MOST || sets.iter().any(String::is_empty) || sets.len() < 2 {
        return None;
    }
    let exactly = if key == "oneOf" {
        "exactly"
    } else {
        "at least"
    };
    Some(format!("Give {exactly} one of these: {}.", sets.join("; ")))
}
