//! Objects: closed ones, open maps, empty ones, and names that are required.

use std::collections::BTreeSet;

use super::Work;
use super::merge::UNSAID;
use crate::loss::{Effect, Noted};
use crate::node::{Name, Named, Node, Slot, TypeSet};
use crate::rules::Unions;

/// Stands in an object that may not be empty, and is taken out of arguments again.
const PLACEHOLDER: &str = "_nothing";

/// Why an object cannot be closed.
const OPEN: &str = "the object takes keys that are not named";

/// The first object that is sure to keep strictness from expressing the whole, whatever the passes
/// make of the rest. Looks at what is reached without a combinator or a reference.
pub(crate) fn first_open<'a>(root: &Node<'a>) -> Option<Noted<'a>> {
    const CHANGED: [&str; 4] = ["$ref", "allOf", "anyOf", "oneOf"];
    fn find<'a>(node: &Node<'a>, root: bool) -> Option<Noted<'a>> {
        if node.never || CHANGED.iter().any(|key| node.has(key)) {
            return None;
        }
        let items = node.one("items").and_then(|items| find(items, false));
        let inner = items.or_else(|| {
            node.map("properties")?
                .nodes()
                .find_map(|child| find(child, false))
        });
        if inner.is_some() || !node.is_object() {
            return inner;
        }
        // What is enumerated may turn out to be no object.
        if node.has("enum") || node.has("const") {
            return None;
        }
        let rest = node.one("additionalProperties");
        let empty = node.map("properties").is_none_or(Named::is_empty);
        let says = ["additionalProperties", "unevaluatedProperties", "required"];
        let nothing = empty && !says.iter().any(|key| node.has(key));
        let open = node.has("patternProperties") || rest.is_some_and(|rest| !rest.never);
        (open || nothing && !root)
            .then(|| Noted::given_up(node.place, "additionalProperties", OPEN))
    }
    find(root, true)
}

impl<'a> Work<'a> {
    pub(super) fn closed(&mut self, node: &mut Node<'a>, root: bool) {
        if !node.is_object() || node.has("$ref") {
            return;
        }
        if let Some(rest) = node.take_one("unevaluatedProperties")
            && rest.never
            && !node.has("additionalProperties")
        {
            node.set_one("additionalProperties", rest);
        }
        self.named(node);
        let open = node.has("patternProperties")
            || node
                .one("additionalProperties")
                .is_some_and(|rest| !rest.never);
        let empty = node.map("properties").is_none_or(Named::is_empty);
        let shut = node
            .one("additionalProperties")
            .is_some_and(|rest| rest.never);
        if self.rules.closed {
            if open || empty && !shut && !root {
                self.report
                    .blocked(node.place, "additionalProperties", OPEN);
            }
            if !shut && !open {
                if !empty {
                    let note = "only keys that are named are offered";
                    self.report
                        .add(node.place, "additionalProperties", Effect::Narrowed, note);
                }
                node.set_one("additionalProperties", Node::nothing(node.place));
            }
            node.keys
                .or_insert("properties", Slot::Map(Named::default()));
            return;
        }
        if node.take("patternProperties").is_some() {
            let note = "keys that match a pattern may hold anything";
            self.report.gave_up(node.place, "patternProperties", note);
            node.take("additionalProperties");
        }
        if self.rules.unions == Unions::Nullable {
            if node.take("additionalProperties").is_some() {
                let note = "the provider has no word for further keys";
                self.report
                    .gave_up(node.place, "additionalProperties", note);
            }
            if empty && root {
                node.take("properties");
            } else if empty && self.rules.placeholder {
                let mut nothing = Node::of_types(node.place, TypeSet::BOOLEAN);
                nothing.set_text("description", "Leave this out.");
                let properties = [(PLACEHOLDER.into(), nothing)];
                node.set_map("properties", properties.into_iter().collect());
                node.undo_mut().placeholder = Some(PLACEHOLDER);
            }
        }
    }

    /// What a node says of keys that it does not name, to be copied so many times.
    pub(super) fn rest(&mut self, node: &Node<'a>, times: usize) -> Option<Node<'a>> {
        let rest = node.one("additionalProperties")?;
        if node.has("patternProperties") {
            return None;
        }
        if !self.report.budget.copies(times, rest) && !rest.never {
            self.report
                .gave_up(node.place, "additionalProperties", UNSAID);
            return None;
        }
        Some(rest.clone())
    }

    /// Gives every name that is required a property.
    fn named(&mut self, node: &mut Node<'a>) {
        let known = node.map("properties");
        let missing: BTreeSet<Name<'a>> = node
            .listed_required()
            .iter()
            .filter(|name| !known.is_some_and(|known| known.has(name)))
            .cloned()
            .collect();
        if missing.is_empty() {
            return;
        }
        let rest = self.rest(node, missing.len());
        if rest.as_ref().is_some_and(|rest| rest.never) {
            // A key is demanded that may not be there.
            node.never = true;
            return;
        }
        let mut properties = node.take_map("properties");
        let mut child = rest.unwrap_or_else(|| Node::at(node.place.required()));
        if child.is_any() {
            self.untyped(&mut child);
        }
        let missing = missing.into_iter().map(|name| (name, child.clone()));
        properties.join(missing, |_, _| {});
        node.set_map("properties", properties);
    }
}
