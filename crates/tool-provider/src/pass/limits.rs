//! What one schema may hold at the most.

use serde_json::Value;

use super::Work;
use crate::node::{Document, Node, Text};

#[derive(Default)]
struct Counted {
    properties: usize,
    values: usize,
    characters: usize,
}

impl Work<'_> {
    pub(super) fn limits(&mut self, document: &Document) {
        let most = self.rules.schema;
        if most.is_none() {
            return;
        }
        let mut counted = Counted::default();
        let mut depth = 0;
        for node in std::iter::once(&document.root).chain(document.defs.values()) {
            node.look(&mut |node| count(node, &mut counted));
            depth = depth.max(levels(node));
        }
        let bytes = if most.bytes == usize::MAX {
            0
        } else {
            let nodes = document
                .defs
                .iter()
                .map(|(name, node)| name.len() + size(node));
            size(&document.root) + nodes.sum::<usize>()
        };
        let place = &document.root.place;
        for (is, most, what) in [
            (depth, most.depth, "the schema is nested too deeply"),
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
    }
}

/// Bytes that a node and its envelope take at the most.
fn size(node: &Node) -> usize {
    let mut text = Text::default();
    text.node(node, None, 1);
    text.finish().len() + 16
}

fn count(node: &Node, counted: &mut Counted) {
    if let Some(properties) = node.map("properties") {
        counted.properties += properties.len();
        counted.characters += properties
            .keys()
            .map(|it| it.chars().count())
            .sum::<usize>();
    }
    let values = node.plain("enum").and_then(Value::as_array);
    for value in values.into_iter().flatten() {
        counted.values += 1;
        counted.characters += value.as_str().map_or(0, |it| it.chars().count());
    }
}

fn levels(node: &Node) -> usize {
    let below = node.children().map(levels).max().unwrap_or_default();
    below + usize::from(node.has("properties") || node.has("items"))
}
