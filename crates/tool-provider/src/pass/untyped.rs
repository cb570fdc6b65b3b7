//! Schemas that name no type.

use super::Work;
use crate::loss::Effect;
use crate::node::{Node, TypeSet};
use crate::rules::{Envelope, Unions};

/// The types that a keyword is about; none for one that is about all.
pub(crate) fn about(keyword: &str) -> TypeSet {
    match keyword {
        "properties"
        | "required"
        | "additionalProperties"
        | "patternProperties"
        | "propertyNames"
        | "minProperties"
        | "maxProperties"
        | "unevaluatedProperties" => TypeSet::OBJECT,
        "items" | "prefixItems" | "minItems" | "maxItems" | "uniqueItems" | "contains"
        | "unevaluatedItems" => TypeSet::ARRAY,
        "minLength" | "maxLength" | "pattern" | "format" => TypeSet::STRING,
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => {
            TypeSet::NUMBER
        }
        other if other.starts_with("dependent") => TypeSet::OBJECT,
        _ => TypeSet::NONE,
    }
}

impl<'a> Work<'a> {
    /// Names the type that the keywords of a node are about, and drops keywords about others.
    pub(super) fn untyped(&mut self, node: &mut Node<'a>) {
        if node.never || node.has("$ref") || node.has("anyOf") {
            return;
        }
        let types = match node.types() {
            Some(types) => types,
            None => {
                let types = node
                    .keys
                    .keys()
                    .map(about)
                    .fold(TypeSet::NONE, TypeSet::with);
                if types.is_empty() {
                    return self.anything(node);
                }
                let note = "the type is the one that its keywords are about";
                self.report.add(node.place, "type", Effect::Narrowed, note);
                node.set_types(types);
                types
            }
        };
        // What is about another type constrains nothing.
        let is_about = |key: &str| {
            let about = about(key);
            about.is_empty() || types.meets(about)
        };
        if !node.keys.keys().all(is_about) {
            node.keys.retain(|key, _| is_about(key));
        }
    }

    /// A schema that takes anything.
    fn anything(&mut self, node: &mut Node<'a>) {
        if self.rules.strict {
            self.report.blocked(node.place, "type", "it takes anything");
            return;
        }
        match (self.rules.unions, self.rules.envelope) {
            (Unions::Nullable, _) => {
                let place = node.place;
                let branches = [
                    TypeSet::STRING,
                    TypeSet::NUMBER,
                    TypeSet::BOOLEAN,
                    TypeSet::OBJECT,
                    TypeSet::ARRAY,
                ];
                let mut branches = branches.map(|types| Node::of_types(place, types));
                let [first, .., last] = &mut branches;
                first.set("nullable", true);
                last.set_one("items", Node::at(place));
                node.set_list("anyOf", branches.into());
            }
            (Unions::Split, Envelope::Chat) => node.set_types(TypeSet::ALL),
            _ => {}
        }
    }
}
