//! Objects: closed ones, open maps, empty ones, and names that are required.

use std::collections::{BTreeMap, BTreeSet};

use super::Work;
use crate::loss::{Effect, Loss};
use crate::node::{Node, Slot, TypeSet};
use crate::rules::Unions;

/// Stands in an object that may not be empty, and is taken out of arguments again.
const PLACEHOLDER: &str = "_nothing";

/// Why an object cannot be closed.
const OPEN: &str = "the object takes keys that are not named";

/// The first object that is sure to keep strictness from expressing the whole, whatever the passes
/// make of the rest. Looks at what is reached without a combinator or a reference.
pub(crate) fn first_open(root: &Node) -> Option<Loss> {
    const CHANGED: [&str; 4] = ["$ref", "allOf", "anyOf", "oneOf"];
    fn find(node: &Node, root: bool) -> Option<Loss> {
        if node.never || CHANGED.iter().any(|key| node.has(key)) {
            return None;
        }
        let items = node.one("items").and_then(|items| find(items, false));
        let inner = items.or_else(|| {
            let mut named = node.map("properties").into_iter().flatten();
            named.find_map(|(_, child)| find(child, false))
        });
        if inner.is_some() || !node.is_object() {
            return inner;
        }
        // What is enumerated may turn out to be no object.
        if node.has("enum") || node.has("const") {
            return None;
        }
        let rest = node.one("additionalProperties");
        let empty = node.map("properties").is_none_or(BTreeMap::is_empty);
        let says = ["additionalProperties", "unevaluatedProperties", "required"];
        let nothing = empty && !says.iter().any(|key| node.has(key));
        let open = node.has("patternProperties") || rest.is_some_and(|rest| !rest.never);
        (open || nothing && !root)
            .then(|| Loss::given_up(&node.place, "additionalProperties", OPEN))
    }
    find(root, true)
}

impl Work<'_> {
    pub(super) fn closed(&mut self, node: &mut Node, root: bool) {
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
        let empty = node.map("properties").is_none_or(BTreeMap::is_empty);
        let shut = node
            .one("additionalProperties")
            .is_some_and(|rest| rest.never);
        if self.rules.closed {
            if open || empty && !shut && !root {
                self.report
                    .blocked(&node.place, "additionalProperties", OPEN);
            }
            if !shut && !open {
                if !empty {
                    let note = "only keys that are named are offered";
                    self.report
                        .add(&node.place, "additionalProperties", Effect::Narrowed, note);
                }
                let mut nothing = Node::at(node.place.clone());
                nothing.never = true;
                node.set_one("additionalProperties", nothing);
            }
            node.keys
                .or_insert("properties", Slot::Map(BTreeMap::new()));
            return;
        }
        if node.take("patternProperties").is_some() {
            let note = "keys that match a pattern may hold anything";
            self.report.gave_up(&node.place, "patternProperties", note);
            node.take("additionalProperties");
        }
        if self.rules.unions == Unions::Nullable {
            if node.take("additionalProperties").is_some() {
                let note = "the provider has no word for further keys";
                self.report
                    .gave_up(&node.place, "additionalProperties", note);
            }
            if empty && root {
                node.take("properties");
            } else if empty && self.rules.placeholder {
                let mut nothing = Node::of_types(node.place.clone(), TypeSet::BOOLEAN);
                nothing.set("description", "Leave this out.");
                let properties = BTreeMap::from([(PLACEHOLDER.to_owned(), nothing)]);
                node.set_map("properties", properties);
                node.undo_mut().placeholder = Some(PLACEHOLDER);
            }
        }
    }

    /// Gives every name that is required a property.
    fn named(&mut self, node: &mut Node) {
        let known = node.map("properties");
        let missing: BTreeSet<String> = node
            .listed_required()
            .filter(|name| !known.is_some_and(|known| known.contains_key(*name)))
            .map(str::to_owned)
            .collect();
        if missing.is_empty() {
            return;
        }
        let rest = node.one("additionalProperties");
        let rest = rest.filter(|_| !node.has("patternProperties")).cloned();
        if rest.as_ref().is_some_and(|rest| rest.never) {
            // A key is demanded that may not be there.
            node.never = true;
            return;
        }
        let mut properties = node.take_map("properties");
        for name in missing {
            let child = rest.clone();
            let mut child = child.unwrap_or_else(|| Node::at(node.place.below("required")));
            if child.is_any() {
                self.untyped(&mut child);
            }
            properties.insert(name, child);
        }
        node.set_map("properties", properties);
    }
}
