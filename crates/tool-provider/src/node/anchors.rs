//! What references are relative to.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ptr;

use serde_json::{Map, Value};

/// The address that a schema gives itself; `id` is how draft 4 writes it.
pub(crate) fn own_id(schema: &Map<String, Value>) -> Option<&str> {
    // A schema has few keywords, so this is faster than to look them up in a table.
    let under = |name: &str| schema.iter().find(|(key, _)| *key == name);
    let (_, id) = under("$id").or_else(|| under("id"))?;
    id.as_str()
}

/// The places of a schema that give themselves a name. One walk finds them all.
#[derive(Debug, Default)]
pub(crate) struct Anchors<'a> {
    /// Addresses, in the order of their places.
    ids: Vec<(&'a str, &'a Value)>,
    /// By anchor; of several places the first.
    names: BTreeMap<&'a str, &'a Value>,
    /// The last tokens of the pointers of all of them, by where they are in memory.
    tokens: BTreeMap<usize, Cow<'a, str>>,
}

impl<'a> Anchors<'a> {
    pub(crate) fn of(schema: &'a Value) -> Self {
        let mut anchors = Self::default();
        anchors.look(schema, Cow::Borrowed(""));
        anchors
    }

    fn look(&mut self, value: &'a Value, token: Cow<'a, str>) {
        match value {
            Value::Object(map) => {
                self.name(value, map, token);
                let mut entries: Vec<_> = map.iter().collect();
                // Which of two places is the first does not depend on how they were written.
                entries.sort_unstable_by_key(|(key, _)| *key);
                for (key, value) in entries {
                    self.look(value, escaped(key));
                }
            }
            Value::Array(items) => {
                for (index, value) in items.iter().enumerate() {
                    self.look(value, Cow::Owned(index.to_string()));
                }
            }
            _ => {}
        }
    }

    fn name(&mut self, value: &'a Value, map: &'a Map<String, Value>, token: Cow<'a, str>) {
        let id = own_id(map);
        self.ids.extend(id.map(|id| (id, value)));
        let anchors = ["$anchor", "$dynamicAnchor"].map(|key| map.get(key)?.as_str());
        let of_id = id.and_then(|id| id.strip_prefix('#'));
        let mut is_named = id.is_some();
        for name in anchors.into_iter().chain([of_id]).flatten() {
            self.names.entry(name).or_insert(value);
            is_named = true;
        }
        if is_named {
            self.tokens.insert(address(value), token);
        }
    }

    /// An embedded document by its address.
    pub(crate) fn embedded(&self, address: &str) -> Option<&'a Value> {
        let found = self.ids.iter().find(|(id, _)| {
            let id = id.trim_end_matches('#');
            id == address
                || id
                    .strip_suffix(address)
                    .is_some_and(|rest| rest.ends_with('/'))
        });
        found.map(|(_, value)| *value)
    }

    /// A schema by its anchor.
    pub(crate) fn named(&self, anchor: &str) -> Option<&'a Value> {
        self.names.get(anchor).copied()
    }

    /// The last token of the pointer of a place that is named.
    pub(crate) fn token(&self, value: &Value) -> &str {
        self.tokens.get(&address(value)).map_or("", |it| it)
    }

    /// All places that are named.
    #[cfg(feature = "lint")]
    pub(crate) fn all(&self) -> impl Iterator<Item = &'a Value> {
        let named = self.names.values().copied();
        named.chain(self.ids.iter().map(|(_, value)| *value))
    }
}

fn address(value: &Value) -> usize {
    ptr::from_ref(value).addr()
}

fn escaped(key: &str) -> Cow<'_, str> {
    match key.contains(['~', '/']) {
        true => Cow::Owned(key.replace('~', "~0").replace('/', "~1")),
        false => Cow::Borrowed(key),
    }
}

/// What a fragment of an address says.
pub(crate) fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let digits = (byte == b'%')
            .then(|| {
                let mut ahead = rest.clone();
                let digits = [ahead.next()?, ahead.next()?];
                u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()
            })
            .flatten();
        match digits {
            Some(decoded) => {
                bytes.push(decoded);
                rest.nth(1);
            }
            None => bytes.push(byte),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
