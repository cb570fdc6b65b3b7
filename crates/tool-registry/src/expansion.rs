//! How much of a schema is applied to one value.
//!
//! To know what is unevaluated, a validator writes out every part that is applied to one value,
//! with every reference in place of itself. A chain of references that each stand twice then
//! doubles what is written with every link, and a long plain chain overflows the validator's stack.

use std::collections::HashMap;

use serde_json::Value;
use tool_core::Schema;

/// How much of a schema is applied to one value.
#[derive(Clone, Copy)]
struct Extent {
    parts: usize,
    depth: usize,
}

impl Extent {
    /// Of a schema whose parts are not known yet, or are known to be none.
    const ONE: Self = Self { parts: 1, depth: 1 };

    fn is_bounded(self) -> bool {
        self.parts <= Schema::MAX_NODES && self.depth <= Schema::MAX_DEPTH
    }

    fn with(self, part: Self) -> Self {
        Self {
            parts: self.parts.saturating_add(part.parts),
            depth: self.depth.max(part.depth + 1),
        }
    }
}

/// Whether every value of a schema that speaks of what is unevaluated meets a bounded number of
/// parts. Not so when a reference cannot be followed inside the document.
pub(crate) fn is_bounded(schema: &Value) -> bool {
    let document = Document::of(schema);
    !document.unevaluated || document.is_bounded()
}

/// Where a node stands in memory: what tells it from others for as long as the document lives.
type Place = *const Value;

struct Document<'s> {
    root: &'s Value,
    objects: Vec<&'s Value>,
    anchors: HashMap<&'s str, Vec<&'s Value>>,
    unevaluated: bool,
}

impl<'s> Document<'s> {
    fn of(root: &'s Value) -> Self {
        let mut document = Self {
            root,
            objects: Vec::new(),
            anchors: HashMap::new(),
            unevaluated: false,
        };
        let mut pending = vec![root];
        while let Some(value) = pending.pop() {
            match value {
                Value::Object(map) => {
                    document.objects.push(value);
                    document.unevaluated |= map.contains_key("unevaluatedProperties")
                        || map.contains_key("unevaluatedItems");
                    for keyword in ["$anchor", "$dynamicAnchor"] {
                        if let Some(name) = map.get(keyword).and_then(Value::as_str) {
                            document.anchors.entry(name).or_default().push(value);
                        }
                    }
                    pending.extend(map.values());
                }
                Value::Array(items) => pending.extend(items),
                _ => {}
            }
        }
        document
    }

    fn is_bounded(&self) -> bool {
        let mut extents = HashMap::new();
        self.objects.iter().all(|object| {
            let extent = self.extent(object, &mut extents);
            extent.is_some_and(Extent::is_bounded)
        })
    }

    /// What a schema applies to one value. A circle is gone round once.
    fn extent(&self, schema: &'s Value, extents: &mut HashMap<Place, Extent>) -> Option<Extent> {
        // A stack of our own: a chain of references is as long as its author likes.
        let mut pending = vec![(schema, false)];
        while let Some((node, entered)) = pending.pop() {
            let place: Place = node;
            if !entered && extents.contains_key(&place) {
                continue;
            }
            let parts = self.parts(node)?;
            if entered {
                let extent = parts.iter().fold(Extent::ONE, |extent, part| {
                    let part: Place = *part;
                    extent.with(extents.get(&part).copied().unwrap_or(Extent::ONE))
                });
                extents.insert(place, extent);
            } else {
                // Stands until it is known, so that a circle ends.
                extents.insert(place, Extent::ONE);
                pending.push((node, true));
                pending.extend(parts.into_iter().map(|part| (part, false)));
            }
        }
        let place: Place = schema;
        extents.get(&place).copied()
    }

    /// What a schema applies to the same value as itself.
    fn parts(&self, schema: &'s Value) -> Option<Vec<&'s Value>> {
        let Value::Object(map) = schema else {
            return Some(Vec::new());
        };
        let mut parts = Vec::new();
        for (keyword, value) in map {
            match (keyword.as_str(), value) {
                ("allOf" | "anyOf" | "oneOf", Value::Array(children)) => parts.extend(children),
                ("not" | "if" | "then" | "else", child) => parts.push(child),
                ("dependentSchemas" | "dependencies", Value::Object(children)) => {
                    parts.extend(children.values());
                }
                ("$ref" | "$dynamicRef" | "$recursiveRef", Value::String(reference)) => {
                    parts.extend(self.targets(reference)?);
                }
                _ => {}
            }
        }
        Some(parts)
    }

    fn targets(&self, reference: &str) -> Option<Vec<&'s Value>> {
        let fragment = reference.strip_prefix('#')?;
        if fragment.is_empty() || fragment.starts_with('/') {
            // A pointer with an escaped character is not worth the decoding.
            return self.root.pointer(fragment).map(|target| vec![target]);
        }
        self.anchors.get(fragment).cloned()
    }
}
