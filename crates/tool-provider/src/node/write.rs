//! From nodes to the text of a schema.

use serde_json::Value;
use tool_core::Schema;

use super::{Document, Named, Node, Slot, TypeSet};

/// Text in the making: what `canonical_json` gives of what `emit` does, without the value between.
#[derive(Default)]
pub(crate) struct Text {
    written: String,
    /// Types are written as Gemini has them, in capitals.
    capitals: bool,
    nodes: usize,
    deepest: usize,
}

impl Text {
    /// Text of about so many bytes.
    pub(crate) fn new(capitals: bool, about: usize) -> Self {
        Self {
            written: String::with_capacity(about),
            capitals,
            ..Self::default()
        }
    }

    /// Whether no value that is written is beyond what a schema may be.
    pub(crate) fn is_bounded(&self) -> bool {
        self.nodes <= Schema::MAX_NODES && self.deepest <= Schema::MAX_DEPTH
    }

    pub(crate) fn finish(self) -> String {
        self.written
    }

    pub(crate) fn document(&mut self, document: &Document<'_>) {
        let defs = (!document.defs.is_empty()).then_some(&document.defs);
        self.node(&document.root, defs, 1);
    }

    /// A node, and definitions that stand in it.
    pub(crate) fn node(&mut self, node: &Node<'_>, mut defs: Option<&Named<'_>>, depth: usize) {
        self.enter(depth);
        if node.never {
            return self.raw("false");
        }
        self.raw("{");
        let mut first = true;
        for (key, slot) in node.keys.iter() {
            if let Some(named) = defs
                && key > "$defs"
            {
                defs = None;
                self.key("$defs", &mut first);
                self.map(named, depth + 1);
            }
            self.key(key, &mut first);
            self.slot(key, slot, depth + 1);
        }
        if let Some(defs) = defs {
            self.key("$defs", &mut first);
            self.map(defs, depth + 1);
        }
        self.raw("}");
    }

    fn slot(&mut self, key: &str, slot: &Slot<'_>, depth: usize) {
        match slot {
            Slot::Text(name) if key == "$ref" => {
                self.enter(depth);
                self.text(&super::emit::pointer(name));
            }
            Slot::Text(text) => {
                self.enter(depth);
                self.text(text);
            }
            Slot::Plain(value) => self.value(value, depth),
            Slot::Types(types) => self.types(*types, depth),
            Slot::Names(names) => self.list(names, depth, |text, name| {
                text.enter(depth + 1);
                text.text(name);
            }),
            Slot::One(child) if super::emit::is_flag(key, child) => {
                self.enter(depth);
                self.raw("true");
            }
            Slot::One(child) => self.node(child, None, depth),
            Slot::List(children) => {
                self.list(children, depth, |text, child| {
                    text.node(child, None, depth + 1);
                });
            }
            Slot::Map(children) => self.map(children, depth),
        }
    }

    fn types(&mut self, types: TypeSet, depth: usize) {
        if let Some(name) = types.name() {
            self.enter(depth);
            return match self.capitals {
                true => self.plain(&name.to_ascii_uppercase()),
                false => self.plain(name),
            };
        }
        self.list(&types.names(), depth, |text, name| {
            text.enter(depth + 1);
            text.plain(name);
        });
    }

    fn map(&mut self, children: &Named<'_>, depth: usize) {
        self.enter(depth);
        self.raw("{");
        let mut first = true;
        for (name, child) in children.iter() {
            self.key(name, &mut first);
            self.node(child, None, depth + 1);
        }
        self.raw("}");
    }

    fn list<T>(&mut self, items: &[T], depth: usize, mut item: impl FnMut(&mut Self, &T)) {
        self.enter(depth);
        self.raw("[");
        for (index, it) in items.iter().enumerate() {
            if index > 0 {
                self.raw(",");
            }
            item(self, it);
        }
        self.raw("]");
    }

    fn value(&mut self, value: &Value, depth: usize) {
        match value {
            Value::Null => self.leaf("null", depth),
            Value::Bool(true) => self.leaf("true", depth),
            Value::Bool(false) => self.leaf("false", depth),
            Value::Number(number) => self.leaf(&number.to_string(), depth),
            Value::String(text) => {
                self.enter(depth);
                self.text(text);
            }
            Value::Array(items) => {
                self.list(items, depth, |text, item| text.value(item, depth + 1));
            }
            Value::Object(map) => {
                self.enter(depth);
                let mut entries: Vec<(&String, &Value)> = map.iter().collect();
                entries.sort_unstable_by_key(|(name, _)| *name);
                self.raw("{");
                let mut first = true;
                for (name, value) in entries {
                    self.key(name, &mut first);
                    self.value(value, depth + 1);
                }
                self.raw("}");
            }
        }
    }

    fn leaf(&mut self, text: &str, depth: usize) {
        self.enter(depth);
        self.raw(text);
    }

    fn enter(&mut self, depth: usize) {
        self.nodes += 1;
        self.deepest = self.deepest.max(depth);
    }

    pub(crate) fn key(&mut self, key: &str, first: &mut bool) {
        if !std::mem::take(first) {
            self.raw(",");
        }
        self.text(key);
        self.raw(":");
    }

    /// A text in quotes of which nothing has to be escaped.
    fn plain(&mut self, text: &str) {
        self.written.reserve(text.len() + 2);
        self.raw("\"");
        self.raw(text);
        self.raw("\"");
    }

    /// A text in quotes.
    pub(crate) fn text(&mut self, text: &str) {
        match first_special(text.as_bytes()) {
            None => self.plain(text),
            Some(at) => self.pieces(text, at),
        }
    }

    /// A text of which the first byte that has to be escaped is known.
    fn pieces(&mut self, text: &str, at: usize) {
        self.raw("\"");
        let mut rest = text;
        let mut found = Some(at);
        while let Some(at) = found {
            let (plain, special) = rest.split_at_checked(at).unwrap_or((rest, ""));
            self.raw(plain);
            let mut left = special.chars();
            if let Some(special) = left.next() {
                self.escaped(special);
            }
            rest = left.as_str();
            found = first_special(rest.as_bytes());
        }
        self.raw(rest);
        self.raw("\"");
    }

    /// A character that may not stand in a text of JSON as it is (RFC 8259, section 7).
    fn escaped(&mut self, special: char) {
        match special {
            '"' => self.raw("\\\""),
            '\\' => self.raw("\\\\"),
            '\n' => self.raw("\\n"),
            '\r' => self.raw("\\r"),
            '\t' => self.raw("\\t"),
            '\u{8}' => self.raw("\\b"),
            '\u{c}' => self.raw("\\f"),
            other => self.raw(&format!("\\u{:04x}", u32::from(other))),
        }
    }

    pub(crate) fn raw(&mut self, text: &str) {
        self.written.push_str(text);
    }

    /// Bytes that are written.
    pub(crate) fn len(&self) -> usize {
        self.written.len()
    }
}

/// Where the first byte is that has to be escaped.
fn first_special(bytes: &[u8]) -> Option<usize> {
    let at = |before: usize, word: u64| {
        let special = special(word);
        (special != 0).then(|| before + special.trailing_zeros() as usize / 8)
    };
    // The last ones are looked at twice, which is faster than to look at each alone.
    if let Some((before, last)) = bytes.split_last_chunk() {
        let (words, _) = bytes.as_chunks();
        let mut words = words.iter().enumerate();
        let found = words.find_map(|(index, word)| at(index * 8, u64::from_le_bytes(*word)));
        return found.or_else(|| at(before.len(), u64::from_le_bytes(*last)));
    }
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        let half = |four: &[u8; 4]| u64::from(u32::from_le_bytes(*four));
        if special(half(first) | half(last) << 32) == 0 {
            return None;
        }
    }
    let is_special = |byte: &u8| *byte < 0x20 || matches!(*byte, b'"' | b'\\');
    bytes.iter().position(is_special)
}

/// Marks, of eight bytes at once, those that have to be escaped. The lowest mark is always right; a
/// borrow may set wrong ones above it.
fn special(word: u64) -> u64 {
    const ONES: u64 = u64::from_le_bytes([0x01; 8]);
    let below = |word: u64, most: u8| word.wrapping_sub(ONES * u64::from(most)) & !word;
    let is = |byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    (below(word, 0x20) | is(b'"') | is(b'\\')) & (ONES * 0x80)
}

#[cfg(test)]
mod tests;
