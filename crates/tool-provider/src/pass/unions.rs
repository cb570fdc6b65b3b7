//! Alternatives: `anyOf` that stands alone, and nothing else.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Work;
use super::merge::merge;
use crate::loss::Effect;
use crate::node::{ANNOTATIONS, Named, Node, TypeSet};

impl<'a> Work<'a> {
    /// Makes `oneOf` an `anyOf`, and sees to it that nothing that constrains stands beside.
    pub(super) fn unions(&mut self, node: &mut Node<'a>) {
        self.drop_impossible(node);
        let exclusive = node.take_list("oneOf");
        if !exclusive.is_empty() {
            if node.has("anyOf") {
                self.report
                    .gave_up(node.place, "oneOf", "an anyOf stands beside it");
            } else {
                let effect = if apart(&exclusive) {
                    Effect::Rewritten
                } else {
                    Effect::GivenUp
                };
                let note = "several of its alternatives may hold at once";
                self.report.add(node.place, "oneOf", effect, note);
                node.set_list("anyOf", exclusive);
            }
        }
        let mut branches = Vec::new();
        for mut branch in node.take_list("anyOf") {
            if branch.never {
                continue;
            }
            if branch.keys.len() == 1 && branch.list("anyOf").is_some() {
                branches.append(&mut branch.take_list("anyOf"));
            } else {
                branches.push(branch);
            }
        }
        if branches.is_empty() {
            return;
        }
        // An alternative that takes anything makes the others say nothing.
        if branches.iter().any(Node::is_any) {
            return;
        }
        let constrained = !node.keys.annotate();
        if let [single] = branches.as_slice()
            && (!single.has("$ref") || node.keys.is_empty())
        {
            if let Some(single) = branches.pop() {
                merge(node, single, &mut self.report);
            }
            return;
        }
        if !constrained {
            node.set_list("anyOf", branches);
            return;
        }
        let of_objects = branches
            .iter()
            .all(|branch| !branch.has("$ref") && !branch.has("properties") && !branch.has("anyOf"));
        if node.is_object() && node.has("properties") && of_objects {
            node.set_list("anyOf", branches);
            self.fold(node, false);
            return;
        }
        self.distribute(node, branches);
    }

    /// Demands in every alternative what stands beside them.
    fn distribute(&mut self, node: &mut Node<'a>, branches: Vec<Node<'a>>) {
        let mut base = Node::at(node.place);
        let keys = std::mem::take(&mut node.keys);
        for (key, slot) in keys {
            let into = if ANNOTATIONS.contains(&key) {
                &mut node.keys
            } else {
                &mut base.keys
            };
            into.insert(key, slot);
        }
        // What is merged again, level by level, counts again.
        self.report.budget.brings_in(branches.len());
        if !self.report.budget.copies(branches.len(), &base) {
            for (key, slot) in base.keys {
                node.keys.insert(key, slot);
            }
            let note = "it is too large once it is said with all that stands beside it";
            // Keys that the alternatives alone name could no longer be given.
            if self.rules.closed {
                self.report.blocked(node.place, "anyOf", note);
            }
            self.report.gave_up(node.place, "anyOf", note);
            return;
        }
        let mut merged = Vec::new();
        for mut branch in branches {
            if let Some(name) = branch.take_text("$ref") {
                // A reference with something beside it is written out here, without going on.
                match self.target(&name) {
                    Some(target)
                        if !self.recursive.contains(&*name)
                            && !self.report.budget.is_large()
                            && self.report.budget.copies(1, target) =>
                    {
                        let mut target = target.clone();
                        self.expand(&mut target, &mut Vec::new());
                        self.shape_again(&mut target);
                        merge(&mut branch, target, &mut self.report);
                    }
                    _ => {
                        branch.keys.clear();
                        branch.set_text("$ref", name);
                        self.report.gave_up(
                            node.place,
                            "anyOf",
                            "nothing stands beside a reference",
                        );
                        merged.push(branch);
                        continue;
                    }
                }
            }
            merge(&mut branch, base.clone(), &mut self.report);
            if !branch.never {
                merged.push(branch);
            }
        }
        // What the parts say together was not looked at yet.
        for branch in &mut merged {
            if !branch.has("$ref") {
                self.unions(branch);
                self.values(branch);
                self.untyped(branch);
                self.keywords(branch);
                self.closed(branch, false);
                self.split(branch);
            }
        }
        merged.retain(|branch| !branch.never);
        if merged.is_empty() {
            node.never = true;
            return;
        }
        node.set_list("anyOf", merged);
    }

    fn shape_again(&mut self, node: &mut Node<'a>) {
        node.each(&mut |node| {
            node.undo = None;
        });
        self.shape(node, false);
    }

    /// Drops what nothing can fill: a property that takes nothing is one that is not there.
    fn drop_impossible(&mut self, node: &mut Node<'a>) {
        let properties = node.map("properties");
        if !properties.is_some_and(|all| all.nodes().any(|child| child.never)) {
            return;
        }
        let required = node.required();
        let mut impossible = false;
        let closed = self.rules.closed
            || node
                .one("additionalProperties")
                .is_some_and(|rest| rest.never);
        if let Some(properties) = node.map_mut("properties") {
            for child in properties.nodes().filter(|child| child.never && !closed) {
                let note = "the key takes nothing, and is not offered";
                self.report.gave_up(child.place, "", note);
            }
            properties.retain(|name, child| {
                impossible |= child.never && required.contains(name);
                !child.never
            });
        }
        node.never |= impossible;
    }
}

/// Whether no value fits two of the alternatives.
fn apart(branches: &[Node<'_>]) -> bool {
    let told: Vec<Told<'_>> = branches.iter().map(Told::of).collect();
    let mut others = told.as_slice();
    while let [one, rest @ ..] = others {
        if !rest.iter().all(|other| one.is_apart(other)) {
            return false;
        }
        others = rest;
    }
    true
}

/// What tells an alternative from others.
struct Told<'n> {
    types: TypeSet,
    /// The values of keys that are required and have one value.
    constants: BTreeMap<&'n str, &'n Value>,
}

impl<'n> Told<'n> {
    fn of(node: &'n Node<'_>) -> Self {
        let types = node.types().unwrap_or(TypeSet::ALL);
        let required = node.required();
        let named = node.map("properties").into_iter().flat_map(Named::iter);
        Self {
            types: match node.has("nullable") {
                true => types.with(TypeSet::NULL),
                false => types,
            },
            constants: named
                .filter(|(name, _)| required.contains(*name))
                .filter_map(|(name, child)| Some((&**name, child.plain("const")?)))
                .collect(),
        }
    }

    fn is_apart(&self, other: &Self) -> bool {
        let both = self.types.and(other.types);
        let differs = |(name, value): (&&str, &&Value)| {
            let twin = other.constants.get(name);
            twin.is_some_and(|twin| twin != value)
        };
        both.is_empty() || both == TypeSet::OBJECT && self.constants.iter().any(differs)
    }
}
