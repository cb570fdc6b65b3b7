//! Everything that a server lists.

use std::collections::BTreeMap;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::call_error::CallError;
use super::connection::Connection;
use crate::wire::clean;

/// The most entries that are taken from one list of one server.
const MOST_ENTRIES: usize = 10_000;
/// The most bytes of one list, as JSON: four messages of the greatest length.
const MOST_BYTES: usize = 64 * 1024 * 1024;
/// JSON-RPC's code for a method that does not exist.
const METHOD_NOT_FOUND: i64 = -32601;

/// Everything that a server lists, as it came.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Listing {
    pub(crate) entries: Vec<Value>,
    /// Set when there are more entries than are taken.
    pub(crate) cut: bool,
    /// How long the list may be kept, in milliseconds; 0 where nothing was said.
    pub(crate) ttl_ms: u64,
}

impl Listing {
    /// Asks for all pages. A server that does not know the method lists nothing.
    pub(crate) async fn fetch(
        connection: &Connection,
        method: &'static str,
        member: &str,
    ) -> Result<Self, CallError> {
        let mut listing = Self::default();
        let mut cursor: Option<String> = None;
        let mut bytes = 0;
        loop {
            let mut params = Map::new();
            if let Some(cursor) = cursor.take() {
                params.insert("cursor".to_owned(), cursor.into());
            }
            let mut page = match connection.request(method, params).await {
                Err(CallError::Peer {
                    code: METHOD_NOT_FOUND,
                    ..
                }) => return Ok(listing),
                // One entry that nobody can hold takes no other with it.
                Err(CallError::TooDeep(raw)) => salvage(&raw, 3),
                page => page?.result,
            };
            let Some(Value::Array(entries)) = page.get_mut(member).map(Value::take) else {
                return Err(CallError::Unreadable);
            };
            listing.ttl_ms = page.get("ttlMs").and_then(Value::as_u64).unwrap_or(0);
            let empty = entries.is_empty();
            for entry in entries {
                bytes += size(&entry);
                if listing.entries.len() >= MOST_ENTRIES || bytes > MOST_BYTES {
                    listing.cut = true;
                    return Ok(listing);
                }
                listing.entries.push(entry);
            }
            // An empty text is a cursor like any other; a page without entries ends the list all
            // the same, or a server could keep us turning pages.
            cursor = match page.get("nextCursor") {
                Some(Value::String(next)) if !empty => Some(next.clone()),
                _ => return Ok(listing),
            };
        }
    }

    /// Whether two lists hold the same entries.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.entries == other.entries && self.cut == other.cut
    }
}

/// What of a value can be held: members and items that cannot are `null`, down to a depth.
fn salvage(raw: &RawValue, depth: u8) -> Value {
    let text = raw.get();
    if let Ok(mut value) = serde_json::from_str(text) {
        clean::value(&mut value);
        return value;
    }
    let Some(depth) = depth.checked_sub(1) else {
        return Value::Null;
    };
    let inner = |raw: &RawValue| salvage(raw, depth);
    if let Ok(items) = serde_json::from_str::<Vec<&RawValue>>(text) {
        return items.into_iter().map(inner).collect();
    }
    match serde_json::from_str::<BTreeMap<String, &RawValue>>(text) {
        Ok(members) => members
            .into_iter()
            .map(|(key, member)| (clean::text(&key).into_owned(), inner(member)))
            .collect(),
        Err(_) => Value::Null,
    }
}

/// About how many bytes a value takes as JSON.
pub(crate) fn size(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
        Value::String(text) => text.len() + 2,
        Value::Array(items) => 2 + items.iter().map(size).sum::<usize>(),
        Value::Object(members) => {
            let members = members.iter();
            2 + members
                .map(|(key, value)| key.len() + 4 + size(value))
                .sum::<usize>()
        }
    }
}
