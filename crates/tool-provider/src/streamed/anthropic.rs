//! Events of Anthropic Messages.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use tool_core::Arguments;

use super::StreamPart;
use super::calls::{Calls, State};
use crate::incoming::finish_reason;

/// The blocks of a message, by their index.
#[derive(Clone, Debug, Default)]
pub(super) struct Blocks(BTreeMap<u64, Block>);

#[derive(Clone, Debug)]
struct Block {
    value: Value,
    /// The text of its input, where it has one.
    input: String,
}

impl Blocks {
    pub(super) fn read(&mut self, event: &Value, calls: &mut Calls, parts: &mut Vec<StreamPart>) {
        let word = |pointer: &str| event.pointer(pointer).and_then(Value::as_str);
        let index = event.get("index").and_then(Value::as_u64).unwrap_or(0);
        match word("/type").unwrap_or_default() {
            "content_block_start" => {
                let earlier = calls.open_keys().into_iter().filter(|key| *key < index);
                for key in earlier.collect::<Vec<_>>() {
                    parts.extend(calls.complete(key));
                }
                let Some(block) = event.get("content_block") else {
                    return;
                };
                let value = block.clone();
                let input = String::new();
                self.0.insert(index, Block { value, input });
                if word("/content_block/type") == Some("tool_use") {
                    let name = word("/content_block/name").unwrap_or_default();
                    parts.push(calls.start(index, word("/content_block/id"), name));
                    // Who does not stream the input gives all of it here.
                    let whole = block.get("input").and_then(Value::as_object);
                    if let Some(whole) = whole.filter(|it| !it.is_empty())
                        && let Some(open) = calls.open_mut(index)
                    {
                        open.call.arguments = Arguments::from(Value::from(whole.clone()));
                    }
                }
                let text = word("/content_block/text").filter(|it| !it.is_empty());
                parts.extend(text.map(|it| StreamPart::Text(it.to_owned())));
            }
            "content_block_delta" => {
                if let (Some(block), Some(delta)) = (self.0.get_mut(&index), event.get("delta")) {
                    block.extend(delta);
                }
                if let Some(piece) = word("/delta/partial_json") {
                    parts.extend(calls.extend(index, piece));
                } else if let Some(text) = word("/delta/text").filter(|it| !it.is_empty()) {
                    parts.push(StreamPart::Text(text.to_owned()));
                }
            }
            "message_delta" => {
                if let Some(reason) = word("/delta/stop_reason") {
                    calls.finish(finish_reason(reason), parts);
                }
            }
            "error" => parts.push(calls.fail(word("/error/type").unwrap_or("error"))),
            _ => {}
        }
    }

    pub(super) fn message(&self, calls: &Calls) -> Value {
        let blocks = self.0.iter().map(|(index, block)| {
            let mut value = block.value.clone();
            let Some(map) = value.as_object_mut() else {
                return value;
            };
            if let Some(input) = object(&block.input) {
                map.insert("input".to_owned(), input);
            }
            let call = calls.made().find(|made| made.key == *index);
            if let Some(call) = call.filter(|_| map.contains_key("input")) {
                if let Some(id) = &call.call.id {
                    map.insert("id".to_owned(), id.as_str().into());
                }
                if call.state != State::Whole {
                    map.insert("input".to_owned(), json!({}));
                }
            }
            value
        });
        // An empty text is refused where it is repeated.
        let kept = blocks.filter(|it| it.get("type") != Some(&json!("text")) || it["text"] != "");
        let content: Vec<Value> = kept.collect();
        if content.is_empty() {
            return Value::Null;
        }
        json!({"role": "assistant", "content": content})
    }
}

impl Block {
    fn extend(&mut self, delta: &Value) {
        if let Some(piece) = delta.get("partial_json").and_then(Value::as_str) {
            self.input.push_str(piece);
        }
        let Some(block) = self.value.as_object_mut() else {
            return;
        };
        for key in ["text", "thinking", "signature"] {
            if let Some(piece) = delta.get(key).and_then(Value::as_str) {
                append(block, key, piece);
            }
        }
        if let Some(citation) = delta.get("citation") {
            let citations = block.entry("citations").or_insert(Value::Null);
            match citations {
                Value::Array(list) => list.push(citation.clone()),
                other => *other = json!([citation]),
            }
        }
    }
}

/// Adds text to what stands under a key.
pub(super) fn append(map: &mut Map<String, Value>, key: &str, piece: &str) {
    match map.get_mut(key) {
        Some(Value::String(text)) => text.push_str(piece),
        _ => {
            map.insert(key.to_owned(), piece.into());
        }
    }
}

/// The object that a text is.
fn object(text: &str) -> Option<Value> {
    let value: Value = serde_json::from_str(text).ok()?;
    value.is_object().then_some(value)
}
