//! References that are written out, and `allOf` that becomes one schema.

use std::collections::{BTreeSet, VecDeque};

use super::merge::merge;
use super::{Edges, Work, references, turning};
use crate::loss::Effect;
use crate::node::{ANNOTATIONS, Named, Node, Place, Slot, TypeSet};
use crate::rules::Refs;

impl<'a> Work<'a> {
    /// Writes out, in a node and below it, whatever the profile does not let refer or combine.
    pub(super) fn expand(&mut self, node: &mut Node<'a>, stack: &mut Vec<String>) {
        let height = stack.len();
        self.report.budget.brings_in(1);
        if !self.stands_bare(node) {
            self.absorb(node, stack);
        }
        node.each_child(&mut |child| self.expand(child, stack));
        stack.truncate(height);
    }

    /// Whether a node is a reference that may stay one. What stands beside one that leads back to
    /// itself is given up, as writing it out would not end.
    fn stands_bare(&mut self, node: &mut Node<'a>) -> bool {
        let Some(name) = node.text("$ref").map(str::to_owned) else {
            return false;
        };
        if self.rules.refs != Refs::Bare {
            return false;
        }
        if node.keys.len() == 1 {
            return true;
        }
        if !self.recursive.contains(&*name) {
            return false;
        }
        let place = node.place;
        node.keys.retain(|key, _| {
            if key != "$ref" && !ANNOTATIONS.contains(&key) {
                self.report
                    .gave_up(place, key, "nothing may stand beside a reference");
            }
            key == "$ref"
        });
        true
    }

    /// Takes into a node what its own reference and its `allOf` demand.
    pub(super) fn absorb(&mut self, node: &mut Node<'a>, stack: &mut Vec<String>) {
        let mut parts = VecDeque::new();
        if let Some(name) = node.take_text("$ref") {
            parts.push_back(self.followed(&name, node.place, stack));
        }
        parts.extend(node.take_list("allOf"));
        while let Some(mut part) = parts.pop_front() {
            if let Some(name) = part.take_text("$ref") {
                parts.push_front(self.followed(&name, part.place, stack));
            }
            parts.extend(part.take_list("allOf"));
            merge(node, part, &mut self.report);
        }
    }

    /// What a reference names, or something that takes as much where it is not followed further.
    fn followed(&mut self, name: &str, place: Place<'a>, stack: &mut Vec<String>) -> Node<'a> {
        let Some(target) = self.target(name) else {
            return Node::at(place);
        };
        let times = stack.iter().filter(|it| *it == name).count();
        let far = stack.len() >= self.effort.follow || self.report.budget.is_large();
        if times > self.effort.unroll || far || !self.report.budget.copies(1, target) {
            self.report.gave_up(
                place,
                "$ref",
                "what it refers to is not written out any further",
            );
            return self.as_much(target, place);
        }
        self.report.budget.brings_in(1);
        stack.push(name.to_owned());
        target.clone()
    }

    /// A schema without any detail that takes whatever the given one does.
    fn as_much(&self, target: &'a Node<'a>, place: Place<'a>) -> Node<'a> {
        let mut node = match target.types() {
            Some(types) => Node::of_types(place, types),
            None if target.has("properties") && !target.has("anyOf") => {
                Node::of_types(place, TypeSet::OBJECT)
            }
            None => Node::at(place),
        };
        node.refuses_null = target.refuses_null;
        if let Some(text) = target.text("description").filter(|_| self.effort.words) {
            node.set_text("description", text);
        }
        node
    }

    /// Cuts references that lead back to themselves without passing an optional property.
    pub(super) fn cut_required_cycles(&mut self, root: &mut Node<'a>, defs: &mut Named<'a>) {
        let edges: Edges = defs
            .iter()
            .map(|(name, node)| (&**name, demanded(node)))
            .collect();
        let cuts: BTreeSet<(String, String)> = turning(&edges)
            .into_iter()
            .map(|(from, to)| (from.to_owned(), to.to_owned()))
            .collect();
        let root_is_named =
            references(root).contains("") || defs.nodes().any(|node| references(node).contains(""));
        for (name, node) in defs.iter_mut() {
            node.each(&mut |node| {
                let Some(to) = node.text("$ref").map(str::to_owned) else {
                    return;
                };
                if cuts.contains(&(name.to_string(), to.clone())) || to.is_empty() {
                    self.cut(node, &to);
                }
            });
        }
        if root_is_named {
            root.each(&mut |node| {
                if node.text("$ref") == Some("") {
                    self.cut(node, "");
                }
            });
        }
    }

    fn cut(&mut self, node: &mut Node<'a>, name: &str) {
        let Some(target) = self.target(name) else {
            return;
        };
        let place = node.place;
        self.report.gave_up(
            place,
            "$ref",
            "it leads back to itself without an optional property",
        );
        *node = self.as_much(target, place);
        if node.is_any() {
            self.report
                .add(place, "$ref", Effect::GivenUp, "it takes anything");
        }
    }
}

/// The names that an instance of a node may have to hold.
fn demanded<'n>(node: &'n Node<'_>) -> BTreeSet<&'n str> {
    let required: BTreeSet<&str> = node.listed_required().iter().map(|it| &**it).collect();
    let mut names = BTreeSet::new();
    names.extend(node.text("$ref"));
    for (key, slot) in node.keys.iter() {
        match slot {
            Slot::Plain(_) | Slot::Text(_) | Slot::Types(_) | Slot::Names(_) => {}
            Slot::One(child) => names.extend(demanded(child)),
            Slot::List(children) => names.extend(children.iter().flat_map(demanded)),
            Slot::Map(children) => {
                let kept = children
                    .iter()
                    .filter(|(name, _)| key != "properties" || required.contains(&***name));
                names.extend(kept.flat_map(|(_, child)| demanded(child)));
            }
        }
    }
    names
}
