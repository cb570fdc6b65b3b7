//! Names of properties that a provider refuses.

use std::collections::BTreeSet;

use super::Work;
use crate::node::{Name, Node};
use crate::rules::Keys;

impl<'a> Work<'a> {
    /// Gives properties names that are taken, and keeps the ones that they stand for.
    pub(super) fn names(&mut self, node: &mut Node<'a>, root: bool) {
        let legal: fn(&str) -> bool = match self.rules.keys {
            Keys::Any => return,
            Keys::AnthropicRoot if !root => return,
            Keys::AnthropicRoot => anthropic,
            Keys::Moonshot => moonshot,
        };
        let Some(properties) = node.map("properties") else {
            return;
        };
        if properties.names().all(|name| legal(name)) {
            return;
        }
        let properties = node.take_map("properties");
        let mut taken: BTreeSet<Name<'a>> = properties.names().cloned().collect();
        let mut renamed = Vec::new();
        let mut required = node.required();
        for (name, child) in properties {
            if legal(&name) {
                renamed.push((name, child));
                continue;
            }
            let wire = new_name(&name, &taken);
            taken.insert(wire.clone().into());
            if required.remove(&name) {
                required.insert(wire.clone().into());
            }
            let names = &mut node.undo_mut().names;
            names.insert(wire.clone(), name.into_owned());
            renamed.push((wire.into(), child));
        }
        // These speak of names too, and would now speak of others.
        for key in [
            "dependentRequired",
            "dependentSchemas",
            "patternProperties",
            "propertyNames",
        ] {
            if node.take(key).is_some() {
                self.report
                    .gave_up(node.place, key, "it speaks of names that are others now");
                if key == "patternProperties" {
                    node.take("additionalProperties");
                }
            }
        }
        node.set_required(required);
        node.set_map("properties", renamed.into_iter().collect());
    }
}

fn is_common(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')
}

pub(crate) fn anthropic(name: &str) -> bool {
    (1..=64).contains(&name.len()) && name.chars().all(is_common)
}

pub(crate) fn moonshot(name: &str) -> bool {
    let reserved = ["$defs", "$ref", "anyOf", "required", "additionalProperties"];
    !reserved.contains(&name) && !name.contains(['{', '}'])
}

fn new_name(name: &str, taken: &BTreeSet<Name<'_>>) -> String {
    let plain: String = name
        .chars()
        .map(|c| if is_common(c) { c } else { '_' })
        .take(56)
        .collect();
    (1_u32..)
        .map(|count| format!("{plain}_{count}"))
        .find(|name| !taken.contains(&**name))
        .unwrap_or(plain)
}
