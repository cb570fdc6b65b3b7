//! The entries of objects, in the order of their keys.

use std::ops::Range;

use serde_json::{Map, Value};

/// The entries of objects that are being read, those of each one sorted by key, so that what is
/// read does not depend on how it was written. A stack: each object takes away its own.
#[derive(Default)]
pub(super) struct Entries<'a>(Vec<Entry<'a>>);

struct Entry<'a> {
    /// How the key begins, which tells most keys apart.
    begins: u64,
    key: &'a str,
    value: &'a Value,
}

impl<'a> Entries<'a> {
    /// Puts the entries of an object on top; where they are.
    pub(super) fn push(&mut self, map: &'a Map<String, Value>) -> Range<usize> {
        let start = self.0.len();
        self.0.extend(map.iter().map(|(key, value)| Entry {
            begins: beginning(key.as_bytes()),
            key,
            value,
        }));
        if let Some(new) = self.0.get_mut(start..) {
            new.sort_unstable_by(|one, other| {
                let begins = one.begins.cmp(&other.begins);
                begins.then_with(|| one.key.cmp(other.key))
            });
        }
        start..self.0.len()
    }

    pub(super) fn get(&self, at: usize) -> Option<(&'a str, &'a Value)> {
        self.0.get(at).map(|entry| (entry.key, entry.value))
    }

    /// Takes away what was put on top.
    pub(super) fn pop(&mut self, entries: &Range<usize>) {
        self.0.truncate(entries.start);
    }
}

/// The first eight bytes as a number that is ordered as they are; what is missing is zero.
fn beginning(bytes: &[u8]) -> u64 {
    if let Some(first) = bytes.first_chunk() {
        return u64::from_be_bytes(*first);
    }
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        let half = |four: &[u8; 4]| u64::from(u32::from_be_bytes(*four));
        // What both hold goes out at the top of the lower half.
        let both = 8 - bytes.len();
        return half(first) << 32 | half(last) << (8 * both) & u64::from(u32::MAX);
    }
    let add = |number: u64, byte: Option<&u8>| number << 8 | u64::from(*byte.unwrap_or(&0));
    let padded = (0..8).map(|at| bytes.get(at));
    padded.fold(0, add)
}

#[cfg(test)]
mod tests;
