//! Objects: closed ones, open maps, empty ones, and names that are required.

use std::collections::BTreeMap;

use super::Work;
use crate::loss::Effect;
use crate::node::{Node, Slot, TypeSet};
use crate::rules::Unions;

/// Stands in an object that may not be empty, and is taken out of arguments again.
const PLACEHOLDER: &str = "_nothing";

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
                self.report.blocked(
                    &node.place,
                    "additionalProperties",
                    "the object takes keys that are not named",
                );
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
                .entry("properties".to_owned())
                .or_insert_with(|| Slot::Map(BTreeMap::new()));
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
                node.undo.placeholder = Some(PLACEHOLDER);
            }
        }
    }

    /// Gives every name that is required a property.
    fn named(&mut self, node: &mut Node) {
        let known = node.map("properties").cloned().unwrap_or_default();
        let missing: Vec<String> = node
            .required()
            .into_iter()
            .filter(|name| !known.contains_key(name))
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
        let mut properties = known;
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
