//! Keywords that a profile does not take: formats, bounds, patterns, map keys, and the rest.

use serde_json::Value;

use super::Work;
use super::untyped::about;
use crate::describe::sentence;
use crate::node::{Node, Slot, TypeSet};
use crate::rules::{Envelope, Unions};

/// Whether every profile takes a keyword, and other passes see to it.
pub(crate) fn is_common(keyword: &str) -> bool {
    matches!(
        keyword,
        "$ref"
            | "additionalProperties"
            | "anyOf"
            | "description"
            | "enum"
            | "format"
            | "items"
            | "nullable"
            | "patternProperties"
            | "properties"
            | "required"
            | "title"
            | "type"
    )
}

impl<'a> Work<'a> {
    /// Drops what the profile does not take, and says it in the description.
    pub(super) fn keywords(&mut self, node: &mut Node<'a>) {
        let Some(kept) = self.rules.keywords else {
            return;
        };
        self.inclusive(node, kept);
        let place = node.place;
        let mut words = Vec::new();
        let is_taken = |key: &&'a str| match *key {
            "format" => self.takes_format(node),
            "pattern" => kept.contains(&"pattern") && node.text("pattern").is_some_and(is_plain),
            "minItems" if self.rules.envelope == Envelope::Anthropic => node
                .plain("minItems")
                .and_then(Value::as_u64)
                .is_some_and(|it| it <= 1),
            // Whether maps can be said is for the pass on objects to judge.
            "patternProperties" => true,
            key => is_common(key) || kept.contains(&key),
        };
        let dropped = node.keys.keys().filter(|key| !is_taken(key));
        let dropped: Vec<&'a str> = dropped.collect();
        if dropped.is_empty() {
            return;
        }
        // They come in the same order again.
        let mut dropped = dropped.into_iter().peekable();
        node.keys.retain(|key, slot| {
            if dropped.next_if_eq(&key).is_none() {
                return true;
            }
            if let Slot::Plain(value) = slot {
                words.extend(sentence(key, value));
            }
            if constrains(key) {
                self.report
                    .gave_up(place, key, "the provider does not take the keyword");
            }
            false
        });
        for sentence in words {
            self.say(node, Some(sentence));
        }
    }

    /// Bounds that leave out their value, where only those that take it in are known.
    fn inclusive(&mut self, node: &mut Node<'a>, kept: &[&str]) {
        let bounds = [
            ("exclusiveMinimum", "minimum", 1),
            ("exclusiveMaximum", "maximum", -1),
        ];
        for (exclusive, inclusive, step) in bounds {
            let Some(Slot::Plain(value)) = node.keys.get(exclusive) else {
                continue;
            };
            if kept.contains(&exclusive) || !kept.contains(&inclusive) || node.has(inclusive) {
                continue;
            }
            let whole = node
                .types()
                .is_some_and(|it| it.without(TypeSet::NULL) == TypeSet::INTEGER);
            match value.as_i64().and_then(|value| value.checked_add(step)) {
                Some(next) if whole => {
                    node.take(exclusive);
                    node.set(inclusive, next);
                }
                // The keyword itself is given up, with words, by the caller.
                _ if value.is_number() => {
                    let value = value.clone();
                    node.keys.insert(inclusive, Slot::Plain(value));
                }
                _ => {}
            }
        }
    }

    fn takes_format(&self, node: &Node<'_>) -> bool {
        let Some(formats) = self.rules.formats else {
            return true;
        };
        let Some(format) = node.text("format") else {
            return false;
        };
        let types = node
            .types()
            .unwrap_or_default()
            .without(TypeSet::NULL)
            .names();
        if self.rules.unions == Unions::Nullable && types.len() > 1 {
            return false;
        }
        formats
            .iter()
            .any(|(of, known)| *known == format && types.contains(of))
    }
}

/// Whether JSON Schema knows a keyword as one that constrains; what it does not know, it ignores.
pub(crate) fn constrains(key: &str) -> bool {
    const COMBINING: [&str; 13] = [
        "$ref",
        "allOf",
        "anyOf",
        "const",
        "dependencies",
        "else",
        "enum",
        "if",
        "maxContains",
        "minContains",
        "not",
        "oneOf",
        "then",
    ];
    COMBINING.contains(&key) || !about(key).is_empty()
}

/// Whether a grammar can be made of a pattern: no look-around, no reference back, no word border.
pub(crate) fn is_regular(pattern: &str) -> bool {
    let beyond = ["(?=", "(?!", "(?<", "\\b", "\\B", "\\k"];
    let back = |window: &[u8]| matches!(window, [b'\\', b'1'..=b'9']);
    !beyond.iter().any(|it| pattern.contains(it)) && !pattern.as_bytes().windows(2).any(back)
}

/// Whether every engine reads a pattern: it is regular, and has no flags, no properties of
/// characters and no large count.
pub(crate) fn is_plain(pattern: &str) -> bool {
    let flags = pattern.matches("(?").count() > pattern.matches("(?:").count();
    let large = pattern.split('{').skip(1).any(|rest| {
        let count = rest.split('}').next().unwrap_or_default();
        count
            .split(',')
            .any(|it| it.trim().parse::<u32>().is_ok_and(|it| it > 100))
    });
    let properties = ["\\p", "\\P"];
    is_regular(pattern) && !flags && !large && !properties.iter().any(|it| pattern.contains(it))
}
