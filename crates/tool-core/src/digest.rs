//! Digests and the canonical form that they are taken over.

use std::fmt;

use serde::Serialize;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// A SHA-256 digest.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of some bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The digest of a list of texts, each preceded by its length, so that moving a character
    /// from one to the next gives another digest.
    #[must_use]
    pub fn of_parts(parts: &[&str]) -> Self {
        let mut hash = Sha256::new();
        for part in parts {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part.as_bytes());
        }
        Self(hash.finalize().into())
    }

    /// The digest of a JSON value in its [canonical form](canonical_json).
    #[must_use]
    pub fn of_json(value: &Value) -> Self {
        Self::of(canonical_json(value).as_bytes())
    }

    /// 64 lower-case hexadecimal digits.
    #[must_use]
    pub fn hex(&self) -> String {
        let digits = self.digits();
        str::from_utf8(&digits).unwrap_or_default().to_owned()
    }

    fn digits(&self) -> [u8; 64] {
        let digit = |nibble: u8| nibble + if nibble < 10 { b'0' } else { b'a' - 10 };
        let mut digits = [0; 64];
        for (pair, byte) in digits.chunks_exact_mut(2).zip(self.0) {
            pair.copy_from_slice(&[digit(byte >> 4), digit(byte & 15)]);
        }
        digits
    }

    /// The digest whose [hexadecimal digits](Self::hex) these are.
    #[must_use]
    pub fn from_hex(digits: &str) -> Option<Self> {
        let is_ours = |digit: u8| matches!(digit, b'0'..=b'9' | b'a'..=b'f');
        if digits.len() != 64 || !digits.bytes().all(is_ours) {
            return None;
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.as_bytes().chunks(2)) {
            *byte = u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok()?;
        }
        Some(Self(bytes))
    }

    /// The 32 bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl From<[u8; 32]> for Digest {
    /// The digest that a hash over a stream ended with.
    fn from(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("sha-256:")?;
        f.write_str(str::from_utf8(&self.digits()).unwrap_or_default())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Compact JSON with the keys of every object sorted by their bytes; arrays keep their order.
///
/// Two values that are equal as JSON have the same canonical form, whatever order their keys were
/// written in and whether or not `serde_json` keeps that order.
///
/// ```
/// use tool_core::canonical_json;
///
/// let value = serde_json::json!({"b": [2, 1], "a": null});
/// assert_eq!(canonical_json(&value), r#"{"a":null,"b":[2,1]}"#);
/// ```
#[must_use]
pub fn canonical_json(value: &Value) -> String {
    let mut text = Vec::with_capacity(CANONICAL);
    write_canonical(value, &mut text);
    String::from_utf8(text).unwrap_or_default()
}

/// Bytes that the arguments of most calls have room in.
const CANONICAL: usize = 128;

fn write_canonical(value: &Value, text: &mut Vec<u8>) {
    match value {
        Value::Object(map) if map.keys().is_sorted() => write_members(map, text),
        Value::Object(map) => {
            let mut members: Vec<_> = map.iter().collect();
            members.sort_unstable_by(|(a, _), (b, _)| a.as_bytes().cmp(b.as_bytes()));
            write_members(members, text);
        }
        Value::Array(items) => {
            text.push(b'[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    text.push(b',');
                }
                write_canonical(item, text);
            }
            text.push(b']');
        }
        leaf => write_leaf(leaf, text),
    }
}

fn write_members<'v>(
    members: impl IntoIterator<Item = (&'v String, &'v Value)>,
    text: &mut Vec<u8>,
) {
    text.push(b'{');
    for (index, (key, value)) in members.into_iter().enumerate() {
        if index > 0 {
            text.push(b',');
        }
        write_leaf(key, text);
        text.push(b':');
        write_canonical(value, text);
    }
    text.push(b'}');
}

fn write_leaf(leaf: &impl Serialize, text: &mut Vec<u8>) {
    // Neither memory nor a leaf refuses to be written.
    let _ = serde_json::to_writer(text, leaf);
}
