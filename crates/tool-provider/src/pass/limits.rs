//! What one schema may hold at the most.

use serde_json::Value;

use super::Work;
use crate::node::{Document, Name, Node, Text};

/// What a schema holds, in numbers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counted {
    /// Levels of objects and arrays.
    depth: usize,
    properties: usize,
    values: usize,
    characters: usize,
    /// Properties that are optional.
    pub(crate) optional: usize,
    /// Places with alternatives.
    pub(crate) unions: usize,
}

impl<'a> Work<'a> {
    pub(super) fn limits(&mut self, document: &Document<'a>) {
        let most = self.rules.schema;
        if most.is_none() && !self.rules.strict {
            return;
        }
        let mut counted = Counted::default();
        for node in document.nodes() {
            let depth = count(node, &mut counted);
            counted.depth = counted.depth.max(depth);
        }
        let bytes = match most.bytes {
            usize::MAX => 0,
            _ => {
                let named = document.defs.iter();
                let defs: usize = named.map(|(name, node)| name.len() + size(node)).sum();
                size(&document.root) + defs
            }
        };
        let place = document.root.place;
        for (is, most, what) in [
            (counted.depth, most.depth, "the schema is nested too deeply"),
            (
                counted.properties,
                most.properties,
                "the schema has too many properties",
            ),
            (
                counted.values,
                most.enum_values,
                "the schema has too many enumerated values",
            ),
            (
                counted.characters,
                most.characters,
                "names and values of the schema are too long",
            ),
            (bytes, most.bytes, "the schema has too many bytes"),
        ] {
            if is > most {
                self.report.blocked(place, "", what);
            }
        }
        self.counted = counted;
    }
}

/// Bytes that a node and its envelope take at the most.
fn size(node: &Node<'_>) -> usize {
    let mut text = Text::default();
    text.node(node, None, 1);
    text.finish().len() + 16
}

/// Counts a node and what is below; its levels.
fn count(node: &Node<'_>, counted: &mut Counted) -> usize {
    if let Some(properties) = node.map("properties") {
        counted.properties += properties.len();
        counted.characters += properties
            .names()
            .map(|it| it.chars().count())
            .sum::<usize>();
        if !node.listed_required().iter().eq(properties.names()) {
            let required = node.required();
            let left_out = |name: &&Name<'_>| !required.contains(*name);
            counted.optional += properties.names().filter(left_out).count();
        }
    }
    let values = node.plain("enum").and_then(Value::as_array);
    for value in values.into_iter().flatten() {
        counted.values += 1;
        counted.characters += value.as_str().map_or(0, |it| it.chars().count());
    }
    let types = node.types().unwrap_or_default();
    let listed = !types.is_empty() && types.name().is_none();
    counted.unions += usize::from(listed || node.has("anyOf"));
    let below = node.children().map(|child| count(child, counted)).max();
    below.unwrap_or_default() + usize::from(node.has("properties") || node.has("items"))
}
