//! The keywords of a node.

use std::borrow::Cow;

use super::Slot;

/// A keyword. One that is known is not copied.
pub(crate) type Key = Cow<'static, str>;

/// Keywords with their values, sorted by name. A schema has few, so they stand in one piece.
#[derive(Clone, Debug, Default)]
pub(crate) struct Keys(Vec<(Key, Slot)>);

/// What schemas are made of, the most frequent ones first.
const KNOWN: [&str; 46] = [
    "type",
    "description",
    "properties",
    "required",
    "items",
    "enum",
    "default",
    "title",
    "additionalProperties",
    "anyOf",
    "format",
    "minimum",
    "maximum",
    "$ref",
    "const",
    "minLength",
    "maxLength",
    "examples",
    "pattern",
    "additionalItems",
    "allOf",
    "contains",
    "contentEncoding",
    "contentMediaType",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "deprecated",
    "else",
    "example",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "if",
    "maxItems",
    "maxProperties",
    "minItems",
    "minProperties",
    "multipleOf",
    "not",
    "nullable",
    "oneOf",
    "patternProperties",
    "prefixItems",
    "propertyNames",
    "then",
    "uniqueItems",
];

/// The keyword of that name.
pub(crate) fn key_of(name: &str) -> Key {
    // Most differ in length, so that this is faster than to search a sorted list.
    match KNOWN.iter().find(|known| **known == name) {
        Some(known) => Cow::Borrowed(*known),
        None => Cow::Owned(name.to_owned()),
    }
}

impl Keys {
    pub(super) fn with_capacity(most: usize) -> Self {
        Self(Vec::with_capacity(most))
    }

    /// Where a keyword stands, or would.
    fn at(&self, key: &str) -> Result<usize, usize> {
        self.0.binary_search_by(|(known, _)| (**known).cmp(key))
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Slot> {
        // Most differ in length, so that this is faster than to make use of the order.
        self.0
            .iter()
            .find(|(it, _)| it == key)
            .map(|(_, slot)| slot)
    }

    pub(crate) fn get_mut(&mut self, key: &str) -> Option<&mut Slot> {
        let found = self.0.iter_mut().find(|(it, _)| it == key);
        found.map(|(_, slot)| slot)
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Sets a keyword, whatever it was before.
    pub(crate) fn insert(&mut self, key: impl Into<Key>, slot: Slot) {
        let key = key.into();
        match self.at(&key) {
            Ok(at) => {
                if let Some((_, mine)) = self.0.get_mut(at) {
                    *mine = slot;
                }
            }
            Err(at) => self.0.insert(at, (key, slot)),
        }
    }

    /// Sets a keyword that is not there.
    pub(crate) fn or_insert(&mut self, key: impl Into<Key>, slot: Slot) {
        let key = key.into();
        if let Err(at) = self.at(&key) {
            self.0.insert(at, (key, slot));
        }
    }

    pub(crate) fn remove(&mut self, key: &str) -> Option<Slot> {
        let at = self.0.iter().position(|(it, _)| it == key)?;
        Some(self.0.remove(at).1)
    }

    pub(crate) fn retain(&mut self, mut keeps: impl FnMut(&Key, &mut Slot) -> bool) {
        self.0.retain_mut(|(key, slot)| keeps(key, slot));
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = &Key> {
        self.0.iter().map(|(key, _)| key)
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = &Slot> {
        self.0.iter().map(|(_, slot)| slot)
    }

    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut Slot> {
        self.0.iter_mut().map(|(_, slot)| slot)
    }

    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = (&Key, &Slot)> {
        self.0.iter().map(|(key, slot)| (key, slot))
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (&Key, &mut Slot)> {
        self.0.iter_mut().map(|(key, slot)| (&*key, slot))
    }
}

impl IntoIterator for Keys {
    type Item = (Key, Slot);
    type IntoIter = std::vec::IntoIter<(Key, Slot)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

#[cfg(test)]
mod tests;
