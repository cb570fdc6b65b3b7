//! What can be told of places without a value.
//!
//! Every answer errs on the side of taking more: a keyword that is not understood takes anything,
//! and so does whatever lies beyond the bounds of the search.

use std::cell::Cell;

use serde_json::{Map, Value};

use super::kinds::Kinds;
use super::place::{Down, Place};
use crate::validator::Validator;

/// Schemas that are looked at to put one call right.
const STEPS: usize = 50_000;
/// Schemas of one place that are looked at inside each other.
const DEPTH: usize = 64;

/// What can be told of the places of one schema.
pub(super) struct Facts<'s> {
    root: &'s Value,
    reading: Reading,
    steps: Cell<usize>,
}

/// How a schema is to be read. Known once it is compiled, as it takes a look at every part.
#[derive(Clone, Copy)]
pub(crate) struct Reading {
    dialect: Dialect,
    /// Whether every reference into the document is one from its root.
    flat: bool,
}

impl Reading {
    pub(crate) fn of(root: &Value) -> Self {
        Self {
            dialect: Dialect::of(root),
            flat: is_flat(root),
        }
    }
}

/// What of the keywords differs between dialects.
#[derive(Clone, Copy)]
struct Dialect {
    /// A reference stands alone: what is beside it is ignored.
    alone: bool,
    consts: bool,
    conditions: bool,
    /// `prefixItems` begins a tuple, and `items` is one schema.
    prefix: bool,
}

impl Dialect {
    fn of(schema: &Value) -> Self {
        let name = schema.get("$schema").and_then(Value::as_str);
        let is = |draft: &str| name.is_some_and(|name| name.contains(draft));
        let old = is("draft-0");
        Self {
            alone: old,
            consts: !old || is("draft-06") || is("draft-07"),
            conditions: !old || is("draft-07"),
            prefix: !old && !is("2019-09"),
        }
    }
}

impl<'s> Facts<'s> {
    pub(super) fn of(schema: &'s Validator) -> Self {
        Self {
            root: schema.schema(),
            reading: schema.reading(),
            steps: Cell::new(STEPS),
        }
    }

    /// The kinds of values that a place may take.
    pub(super) fn kinds(&self, place: &Place<'s>) -> Kinds {
        self.kinds_within(place, DEPTH)
    }

    /// What is said of a value one step below.
    pub(super) fn below(&self, place: &Place<'s>, down: Down<'_>) -> Place<'s> {
        self.below_within(place, down, DEPTH)
    }

    /// Whether the schema names a key of the object, in any part.
    pub(super) fn declares(&self, place: &Place<'s>, key: &str) -> bool {
        self.any_part(place, DEPTH, &|map| {
            let properties = map.get("properties");
            properties.is_some_and(|properties| properties.get(key).is_some())
        })
    }

    /// Whether every form of the object needs a key.
    pub(super) fn requires(&self, place: &Place<'s>, key: &str) -> bool {
        self.requires_within(place, key, DEPTH)
    }

    fn may_step(&self) -> bool {
        let left = self.steps.get();
        self.steps.set(left.saturating_sub(1));
        left > 0
    }

    fn kinds_within(&self, place: &Place<'s>, depth: usize) -> Kinds {
        if depth == 0 || !self.may_step() {
            return Kinds::ALL;
        }
        let kinds = |place: &Place<'s>| self.kinds_within(place, depth - 1);
        match place {
            Place::Anything => Kinds::ALL,
            Place::All(parts) => parts
                .iter()
                .fold(Kinds::ALL, |all, part| all.and(kinds(part))),
            Place::Either(parts) => parts
                .iter()
                .fold(Kinds::NONE, |all, part| all.or(kinds(part))),
            Place::Of(Value::Bool(false)) => Kinds::NONE,
            Place::Of(Value::Object(map)) => {
                let parts = self.parts(map);
                let combined = parts
                    .iter()
                    .fold(Kinds::ALL, |all, part| all.and(kinds(part)));
                if self.stands_alone(map) {
                    return combined;
                }
                let mut own = combined;
                if let Some(kind) = map.get("type") {
                    own = own.and(Kinds::of_type(kind));
                }
                if let Some(Value::Array(values)) = map.get("enum") {
                    own = own.and(Kinds::of_values(values));
                }
                if let Some(value) = map.get("const").filter(|_| self.reading.dialect.consts) {
                    own = own.and(Kinds::of_values([value]));
                }
                own
            }
            Place::Of(_) => Kinds::ALL,
        }
    }

    fn below_within(&self, place: &Place<'s>, down: Down<'_>, depth: usize) -> Place<'s> {
        if depth == 0 || !self.may_step() {
            return Place::Anything;
        }
        let below = |place: &Place<'s>| self.below_within(place, down, depth - 1);
        match place {
            Place::Anything => Place::Anything,
            Place::All(parts) => Place::all(parts.iter().map(below).collect()),
            Place::Either(parts) => {
                // A form that has nothing below says nothing of it.
                let holder = match down {
                    Down::Key(_) => Kinds::OBJECT,
                    Down::Index(_) => Kinds::ARRAY,
                };
                let forms = parts
                    .iter()
                    .filter(|part| self.kinds_within(part, depth - 1).has(holder));
                Place::either(forms.map(below).collect())
            }
            Place::Of(Value::Object(map)) => {
                let mut said: Vec<_> = self.parts(map).iter().map(below).collect();
                if !self.stands_alone(map) {
                    said.push(match down {
                        Down::Key(key) => property(map, key),
                        Down::Index(index) => self.item(map, index),
                    });
                }
                Place::all(said)
            }
            Place::Of(_) => Place::Anything,
        }
    }

    fn item(&self, map: &'s Map<String, Value>, index: usize) -> Place<'s> {
        let after = |tuple: &'s [Value], rest: &str| match tuple.get(index) {
            Some(item) => Place::Of(item),
            None => map.get(rest).map_or(Place::Anything, Place::Of),
        };
        match (map.get("prefixItems"), map.get("items")) {
            (Some(Value::Array(tuple)), _) if self.reading.dialect.prefix => after(tuple, "items"),
            (_, Some(Value::Array(tuple))) if !self.reading.dialect.prefix => {
                after(tuple, "additionalItems")
            }
            (_, Some(Value::Array(_)) | None) => Place::Anything,
            (_, Some(items)) => Place::Of(items),
        }
    }

    fn requires_within(&self, place: &Place<'s>, key: &str, depth: usize) -> bool {
        // What cannot be told is taken for required: then nothing is removed.
        if depth == 0 || !self.may_step() {
            return true;
        }
        let requires = |place: &Place<'s>| self.requires_within(place, key, depth - 1);
        match place {
            Place::All(parts) => parts.iter().any(requires),
            Place::Either(parts) => parts.iter().all(requires),
            Place::Of(Value::Object(map)) => {
                let own = map.get("required").and_then(Value::as_array);
                let own = own.is_some_and(|keys| keys.iter().any(|one| one == key));
                own && !self.stands_alone(map) || self.parts(map).iter().any(requires)
            }
            Place::Anything | Place::Of(_) => false,
        }
    }

    fn any_part(
        &self,
        place: &Place<'s>,
        depth: usize,
        says: &impl Fn(&Map<String, Value>) -> bool,
    ) -> bool {
        if depth == 0 || !self.may_step() {
            return false;
        }
        match place {
            Place::All(parts) | Place::Either(parts) => parts
                .iter()
                .any(|part| self.any_part(part, depth - 1, says)),
            Place::Of(Value::Object(map)) => {
                says(map) && !self.stands_alone(map)
                    || self
                        .parts(map)
                        .iter()
                        .any(|part| self.any_part(part, depth - 1, says))
            }
            Place::Anything | Place::Of(_) => false,
        }
    }

    fn stands_alone(&self, map: &Map<String, Value>) -> bool {
        self.reading.dialect.alone && map.contains_key("$ref")
    }

    /// The schemas that hold for the same value as this one does.
    fn parts(&self, map: &'s Map<String, Value>) -> Vec<Place<'s>> {
        let mut parts = Vec::new();
        if let Some(reference) = map.get("$ref") {
            parts.push(self.target(reference));
        }
        if self.stands_alone(map) {
            return parts;
        }
        let branches = |keyword: &str| {
            let branches = map.get(keyword).and_then(Value::as_array);
            branches.map(|branches| branches.iter().map(Place::Of).collect::<Vec<_>>())
        };
        parts.extend(branches("allOf").into_iter().flatten());
        parts.extend(branches("anyOf").map(Place::either));
        parts.extend(branches("oneOf").map(Place::either));
        if self.reading.dialect.conditions && map.contains_key("if") {
            let branch = |keyword: &str| map.get(keyword).map_or(Place::Anything, Place::Of);
            parts.push(Place::either(vec![branch("then"), branch("else")]));
        }
        parts
    }

    /// What a reference leads to. Anything, where it does not plainly stay inside the document.
    fn target(&self, reference: &'s Value) -> Place<'s> {
        let fragment = reference
            .as_str()
            .and_then(|reference| reference.strip_prefix('#'))
            .filter(|fragment| self.reading.flat && !fragment.contains('%'))
            .filter(|fragment| fragment.is_empty() || fragment.starts_with('/'));
        fragment
            .and_then(|fragment| self.root.pointer(fragment))
            .map_or(Place::Anything, Place::Of)
    }
}

/// What an object's schema says of one of its keys.
fn property<'s>(map: &'s Map<String, Value>, key: &str) -> Place<'s> {
    if let Some(property) = map.get("properties").and_then(|named| named.get(key)) {
        return Place::Of(property);
    }
    let others = map.get("additionalProperties");
    let others = others.map_or(Place::Anything, Place::Of);
    match map.get("patternProperties") {
        // Which of the patterns match is not worth asking.
        Some(Value::Object(patterns)) => {
            let mut either: Vec<_> = patterns.values().map(Place::Of).collect();
            either.push(others);
            Place::either(either)
        }
        _ => others,
    }
}

/// Whether nothing below the root has an address of its own, from which references would count.
fn is_flat(root: &Value) -> bool {
    let mut pending: Vec<&Value> = match root {
        Value::Object(map) => map.values().collect(),
        _ => Vec::new(),
    };
    while let Some(value) = pending.pop() {
        match value {
            Value::Object(map) => {
                let addressed = ["$id", "id"]
                    .into_iter()
                    .any(|keyword| map.get(keyword).is_some_and(Value::is_string));
                if addressed {
                    return false;
                }
                pending.extend(map.values());
            }
            Value::Array(items) => pending.extend(items),
            _ => {}
        }
    }
    true
}
