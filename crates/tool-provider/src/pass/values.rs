//! Enumerations and constants.

use serde_json::Value;

use super::Work;
use crate::describe::sentence;
use crate::loss::Report;
use crate::node::{Node, TypeSet};
use crate::rules::{Enums, Unions};

impl<'a> Work<'a> {
    /// Writes constants as enumerations, and those that the profile does not take as words.
    pub(super) fn values(&mut self, node: &mut Node<'a>) {
        let mut keyword = "enum";
        if let Some(value) = node.take_plain("const") {
            if !node.has("enum") {
                keyword = "const";
            }
            match node.plain("enum").and_then(Value::as_array) {
                Some(values) if !values.contains(&value) => node.never = true,
                _ => node.set("enum", vec![Value::clone(&value)]),
            }
        }
        let Some(values) = node.plain("enum").and_then(Value::as_array) else {
            return;
        };
        let types = values
            .iter()
            .map(TypeSet::of_value)
            .fold(TypeSet::NONE, TypeSet::with);
        let said = node.types().unwrap_or(TypeSet::ALL);
        let mut kept: Vec<Value> = Vec::with_capacity(values.len());
        for value in values {
            if said.has(TypeSet::of_value(value)) && !kept.contains(value) {
                kept.push(value.clone());
            }
        }
        if kept.is_empty() {
            // Each of several parts is possible alone, and all of them together are not.
            node.never = true;
            return;
        }
        if node.types().is_none() {
            node.set_types(types);
        }
        let types = kept
            .iter()
            .map(TypeSet::of_value)
            .fold(TypeSet::NONE, TypeSet::with);
        let structured = types.meets(TypeSet::ARRAY.with(TypeSet::OBJECT));
        let single = types.without(TypeSet::NULL).each().count() <= 1;
        let taken = match self.rules.enums {
            Enums::Free => true,
            Enums::Primitive => !structured,
            Enums::OneType => !structured && single,
            Enums::Scalars => {
                !structured && !types.meets(TypeSet::BOOLEAN) && !types.meets(TypeSet::NULL)
            }
            Enums::Strings => {
                let values = kept.iter().filter(|it| !it.is_null());
                types.without(TypeSet::NULL) == TypeSet::STRING
                    && values.clone().all(|it| it.as_str() != Some(""))
            }
        };
        let excess = self.rules.schema.enumeration.excess(&kept).is_some();
        if excess && self.rules.strict {
            self.report
                .blocked(node.place, "enum", "the enumeration is too long");
        }
        if !taken || excess {
            let words = sentence("enum", &Value::Array(kept));
            node.take("enum");
            self.report
                .gave_up(node.place, keyword, "its values stand in the description");
            self.say(node, words);
            // The values name the types better than a wider list does.
            node.set_types(types);
            return;
        }
        if self.rules.unions == Unions::Nullable && types.has(TypeSet::NULL) {
            kept.retain(|value| !value.is_null());
        }
        if self.rules.enums != Enums::Free {
            node.set_types(types);
        }
        node.set("enum", kept);
    }
}

/// Notes enumerations of which no value has the type that stands beside.
pub(super) fn contradictions<'a>(node: &Node<'a>, report: &mut Report<'a>) {
    node.look(&mut |node| {
        let Some(types) = node.types() else { return };
        let constant = node.plain("const").map(std::slice::from_ref);
        let listed = node
            .plain("enum")
            .and_then(Value::as_array)
            .map(Vec::as_slice);
        for (key, values) in [("const", constant), ("enum", listed)] {
            let Some(values) = values else { continue };
            let fits = |value: &Value| types.has(TypeSet::of_value(value));
            if !values.iter().any(fits) {
                report.contradicted(
                    node.place,
                    key,
                    "no value of it has the type that stands beside it",
                );
            }
        }
    });
}
