//! From nodes to the text of a schema.

use std::collections::BTreeMap;

use serde_json::Value;
use tool_core::{Schema, canonical_json};

use super::{Document, Node, Slot};

/// Text in the making: what `canonical_json` gives of what `emit` does, without the value between.
#[derive(Default)]
pub(crate) struct Text {
    written: Vec<u8>,
    /// Types are written as Gemini has them, in capitals.
    capitals: bool,
    nodes: usize,
    deepest: usize,
}

impl Text {
    pub(crate) fn with_capitals(capitals: bool) -> Self {
        Self {
            capitals,
            ..Self::default()
        }
    }

    /// Whether no value that is written is beyond what a schema may be.
    pub(crate) fn is_bounded(&self) -> bool {
        self.nodes <= Schema::MAX_NODES && self.deepest <= Schema::MAX_DEPTH
    }

    pub(crate) fn finish(self) -> String {
        // Only whole texts were written.
        String::from_utf8(self.written).unwrap_or_default()
    }

    pub(crate) fn document(&mut self, document: &Document) {
        let defs = (!document.defs.is_empty()).then_some(&document.defs);
        self.node(&document.root, defs, 1);
    }

    /// A node, and definitions that stand in it.
    pub(crate) fn node(
        &mut self,
        node: &Node,
        defs: Option<&BTreeMap<String, Node>>,
        depth: usize,
    ) {
        self.enter(depth);
        if node.never {
            return self.raw("false");
        }
        self.raw("{");
        let mut first = true;
        let mut defs = defs;
        for (key, slot) in node.keys.iter() {
            if &**key > "$defs"
                && let Some(defs) = defs.take()
            {
                self.key("$defs", &mut first);
                self.map(defs, depth + 1);
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

    fn slot(&mut self, key: &str, slot: &Slot, depth: usize) {
        match slot {
            Slot::Plain(Value::String(name)) if key == "$ref" => {
                self.enter(depth);
                self.text(&super::emit::pointer(name));
            }
            Slot::Plain(value) => self.value(value, depth),
            Slot::Types(types) => {
                let names = types.names();
                let capital = |name: &&str| match self.capitals {
                    true => name.to_ascii_uppercase(),
                    false => (*name).to_owned(),
                };
                match names.as_slice() {
                    [name] if !self.capitals => {
                        self.enter(depth);
                        self.text(name);
                    }
                    [name] => self.value(&Value::from(capital(name)), depth),
                    names => self.value(&Value::from(names), depth),
                }
            }
            Slot::One(child) if super::emit::is_flag(key, child) => {
                self.enter(depth);
                self.raw("true");
            }
            Slot::One(child) => self.node(child, None, depth),
            Slot::List(children) => {
                self.enter(depth);
                self.raw("[");
                for (index, child) in children.iter().enumerate() {
                    if index > 0 {
                        self.raw(",");
                    }
                    self.node(child, None, depth + 1);
                }
                self.raw("]");
            }
            Slot::Map(children) => self.map(children, depth),
        }
    }

    fn map(&mut self, children: &BTreeMap<String, Node>, depth: usize) {
        self.enter(depth);
        self.raw("{");
        let mut first = true;
        for (name, child) in children {
            self.key(name, &mut first);
            self.node(child, None, depth + 1);
        }
        self.raw("}");
    }

    fn value(&mut self, value: &Value, depth: usize) {
        match value {
            Value::String(text) => {
                self.enter(depth);
                self.text(text);
            }
            Value::Array(items) => {
                self.enter(depth);
                self.raw("[");
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        self.raw(",");
                    }
                    self.value(item, depth + 1);
                }
                self.raw("]");
            }
            other => {
                self.measure(other, depth);
                self.raw(&canonical_json(other));
            }
        }
    }

    fn measure(&mut self, value: &Value, depth: usize) {
        self.enter(depth);
        match value {
            Value::Object(map) => map.values().for_each(|it| self.measure(it, depth + 1)),
            Value::Array(items) => items.iter().for_each(|it| self.measure(it, depth + 1)),
            _ => {}
        }
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

    /// A text in quotes.
    pub(crate) fn text(&mut self, text: &str) {
        let plain = |byte: u8| byte >= 0x20 && byte != b'"' && byte != b'\\';
        if text.bytes().all(plain) {
            self.raw("\"");
            self.raw(text);
            self.raw("\"");
            return;
        }
        // Writing a text into memory does not fail.
        let _ = serde_json::to_writer(&mut self.written, text);
    }

    pub(crate) fn raw(&mut self, text: &str) {
        self.written.extend_from_slice(text.as_bytes());
    }

    /// Bytes that are written.
    pub(crate) fn len(&self) -> usize {
        self.written.len()
    }
}
