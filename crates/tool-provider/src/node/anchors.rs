//! What references are relative to.

use serde_json::{Map, Value};

/// The address that a schema gives itself; `id` is how draft 4 writes it.
pub(crate) fn own_id(schema: &Map<String, Value>) -> Option<&str> {
    // A schema has few keywords, so this is faster than to look them up in a table.
    let under = |name: &str| schema.iter().find(|(key, _)| *key == name);
    let (_, id) = under("$id").or_else(|| under("id"))?;
    id.as_str()
}

/// The pointer of an embedded document by its address.
pub(crate) fn embedded(value: &Value, address: &str, pointer: &str) -> Option<String> {
    find(value, pointer, &|map| {
        own_id(map).is_some_and(|id| {
            let id = id.trim_end_matches('#');
            id == address
                || id
                    .strip_suffix(address)
                    .is_some_and(|rest| rest.ends_with('/'))
        })
    })
}

/// The pointer of a schema by its anchor.
pub(crate) fn anchored(value: &Value, anchor: &str, pointer: &str) -> Option<String> {
    find(value, pointer, &|map| {
        let named = ["$anchor", "$dynamicAnchor"]
            .iter()
            .filter_map(|key| map.get(*key)?.as_str())
            .any(|name| name == anchor);
        named || own_id(map).and_then(|id| id.strip_prefix('#')) == Some(anchor)
    })
}

fn find(
    value: &Value,
    pointer: &str,
    test: &dyn Fn(&Map<String, Value>) -> bool,
) -> Option<String> {
    match value {
        Value::Object(map) if test(map) => Some(pointer.to_owned()),
        Value::Object(map) => map.iter().find_map(|(key, value)| {
            let token = key.replace('~', "~0").replace('/', "~1");
            find(value, &format!("{pointer}/{token}"), test)
        }),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .find_map(|(index, value)| find(value, &format!("{pointer}/{index}"), test)),
        _ => None,
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
