//! The root: one object, without combinators.

use std::collections::BTreeMap;

use super::Work;
use crate::loss::Effect;
use crate::node::{Node, Slot, TypeSet};

impl Work<'_> {
    /// Makes the root one object.
    pub(super) fn root(&mut self, root: &mut Node) {
        let combined = ["$ref", "allOf", "anyOf", "oneOf"]
            .iter()
            .any(|key| root.has(key));
        if combined && !self.rules.root_combinators {
            let mut stack = Vec::new();
            self.absorb(root, &mut stack);
            self.fold(root, true);
        }
        if !self.rules.root_combinators {
            for key in ["not", "enum", "const"] {
                if root.take(key).is_some() {
                    self.report
                        .gave_up(&root.place, key, "it may not stand at the root");
                }
            }
        }
        match root.types() {
            Some(types) if types.has(TypeSet::OBJECT) => {}
            Some(_) => self.report.contradicted(
                &root.place,
                "type",
                "arguments are always an object, and the schema takes none",
            ),
            None => self.report.add(
                &root.place,
                "type",
                Effect::Rewritten,
                "arguments are always an object",
            ),
        }
        root.never = false;
        root.set_types(TypeSet::OBJECT);
        root.keys
            .or_insert("properties", Slot::Map(BTreeMap::new()));
    }
}
