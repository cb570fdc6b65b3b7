//! The root: one object, without combinators.

use super::Work;
use crate::loss::Effect;
use crate::node::{Document, Named, Node, Slot, TypeSet};
use crate::rules::Rules;

/// What references lead to, beside what is worked on. Nothing is copied where no pass follows any.
pub(crate) fn referred<'a>(document: &Document<'a>, rules: &Rules) -> Document<'a> {
    let follows = !rules.combinators || is_combined(&document.root);
    match document.refers && follows {
        true => document.clone(),
        false => Document::default(),
    }
}

/// Whether a node is made of others.
fn is_combined(node: &Node<'_>) -> bool {
    ["$ref", "allOf", "anyOf", "oneOf"]
        .iter()
        .any(|key| node.has(key))
}

impl<'a> Work<'a> {
    /// Makes the root one object.
    pub(super) fn root(&mut self, root: &mut Node<'a>) {
        if is_combined(root) && !self.rules.root_combinators {
            let mut stack = Vec::new();
            self.absorb(root, &mut stack);
            self.fold(root, true);
        }
        if !self.rules.root_combinators {
            for key in ["not", "enum", "const"] {
                if root.take(key).is_some() {
                    self.report
                        .gave_up(root.place, key, "it may not stand at the root");
                }
            }
        }
        match root.types() {
            Some(types) if types.has(TypeSet::OBJECT) => {}
            Some(_) => self.report.contradicted(
                root.place,
                "type",
                "arguments are always an object, and the schema takes none",
            ),
            None => self.report.add(
                root.place,
                "type",
                Effect::Rewritten,
                "arguments are always an object",
            ),
        }
        root.never = false;
        root.set_types(TypeSet::OBJECT);
        root.keys
            .or_insert("properties", Slot::Map(Named::default()));
    }
}
