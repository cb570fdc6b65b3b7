//! Chunks of OpenAI Chat Completions.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::StreamPart;
use super::anthropic::append;
use super::calls::{Calls, Made, State};
use crate::incoming::finish_reason;

/// A message without its calls, and what calls carry beside what is known of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Chat {
    message: Map<String, Value>,
    beside: BTreeMap<usize, Map<String, Value>>,
}

/// What servers give a message beside its text, and take again: a refusal, and how the model
/// thought, which some demand back while its calls are answered.
const BESIDE: [&str; 4] = [
    "refusal",
    "reasoning",
    "reasoning_content",
    "reasoning_details",
];

impl Chat {
    pub(super) fn read(&mut self, chunk: &Value, calls: &mut Calls, parts: &mut Vec<StreamPart>) {
        if let Some(error) = chunk.get("error").filter(|it| !it.is_null()) {
            let word = |key: &str| error.get(key).and_then(Value::as_str);
            let kind = word("type").or_else(|| word("code")).unwrap_or("error");
            parts.push(calls.fail(kind));
            return;
        }
        let word = |pointer: &str| chunk.pointer(pointer).and_then(Value::as_str);
        if let Some(delta) = chunk.pointer("/choices/0/delta").and_then(Value::as_object) {
            self.text(delta, parts);
            let deltas = delta.get("tool_calls").and_then(Value::as_array);
            for delta in deltas.into_iter().flatten() {
                self.call(delta, calls, parts);
            }
        }
        if let Some(reason) = word("/choices/0/finish_reason").filter(|it| !it.is_empty()) {
            calls.finish(finish_reason(reason), parts);
        }
    }

    fn text(&mut self, delta: &Map<String, Value>, parts: &mut Vec<StreamPart>) {
        match delta.get("content") {
            Some(Value::String(text)) if !text.is_empty() => {
                add(&mut self.message, "content", delta.get("content"));
                parts.push(StreamPart::Text(text.clone()));
            }
            // Some give their text in blocks, beside blocks of thinking.
            Some(Value::Array(blocks)) => {
                add(&mut self.message, "content", delta.get("content"));
                let texts = blocks.iter().filter_map(|it| it.get("text")?.as_str());
                parts.extend(texts.map(|it| StreamPart::Text(it.to_owned())));
            }
            _ => {}
        }
        for key in BESIDE {
            add(&mut self.message, key, delta.get(key));
        }
        let refusal = delta.get("refusal").and_then(Value::as_str);
        let refusal = refusal.filter(|it| !it.is_empty());
        parts.extend(refusal.map(|it| StreamPart::Refusal(it.to_owned())));
    }

    fn call(&mut self, delta: &Value, calls: &mut Calls, parts: &mut Vec<StreamPart>) {
        let word = |pointer: &str| {
            let text = delta.pointer(pointer).and_then(Value::as_str);
            text.filter(|it| !it.is_empty())
        };
        let index = delta.get("index").and_then(Value::as_u64);
        let key = index.unwrap_or(0);
        let (id, name) = (word("/id"), word("/function/name"));
        let begins = match calls.open(key) {
            None => true,
            Some(open) => begins(open, index, id, name),
        };
        if begins {
            parts.push(calls.start(key, id, name.unwrap_or_default()));
        }
        // Arguments are text; some servers give the value.
        match delta.pointer("/function/arguments") {
            Some(Value::String(piece)) => parts.extend(calls.extend(key, piece)),
            Some(value @ Value::Object(_)) => parts.extend(calls.extend(key, &value.to_string())),
            _ => {}
        }
        if let (Some(beside), Some(open)) = (delta.get("extra_content"), calls.open(key)) {
            let of_call = self.beside.entry(open.call.position).or_default();
            of_call.insert("extra_content".to_owned(), beside.clone());
        }
    }

    pub(super) fn message(&self, calls: &Calls) -> Value {
        let mut message = self.message.clone();
        let calls: Vec<Value> = calls.made().map(|made| self.repeated(made)).collect();
        if message.is_empty() && calls.is_empty() {
            return Value::Null;
        }
        message.insert("role".to_owned(), "assistant".into());
        message.entry("content").or_insert(Value::Null);
        if !calls.is_empty() {
            message.insert("tool_calls".to_owned(), calls.into());
        }
        message.into()
    }

    fn repeated(&self, made: &Made) -> Value {
        // Some servers read the arguments of earlier calls.
        let cut = made.state != State::Whole || made.text().trim().is_empty();
        let arguments = if cut { "{}" } else { made.text() };
        let mut call = json!({
            "id": made.call.id.as_ref().map(|id| id.as_str()),
            "type": "function",
            "function": {"name": made.call.name, "arguments": arguments},
        });
        let beside = self.beside.get(&made.call.position);
        if let (Some(call), Some(beside)) = (call.as_object_mut(), beside) {
            call.extend(beside.clone());
        }
        call
    }
}

/// Whether what comes under the key of an open call is another call.
///
/// A call is told by its id. Where ids are left out, a name without an index is another call, and
/// so is another name, or a name after arguments that were whole.
fn begins(open: &Made, index: Option<u64>, id: Option<&str>, name: Option<&str>) -> bool {
    let Some(name) = name else {
        return false;
    };
    match (id, open.given_id.as_deref()) {
        (Some(id), Some(last)) => id != last,
        (Some(_), None) => !open.call.name.is_empty(),
        (None, Some(_)) => false,
        (None, None) => {
            let whole = serde_json::from_str::<Map<String, Value>>(open.text()).is_ok();
            index.is_none() || name != open.call.name || whole
        }
    }
}

/// Adds a piece to what stands under a key: text to text, blocks to blocks.
fn add(map: &mut Map<String, Value>, key: &str, piece: Option<&Value>) {
    match piece {
        Some(Value::String(piece)) => match map.get_mut(key) {
            Some(Value::Array(blocks)) => blocks.push(json!({"type": "text", "text": piece})),
            _ => append(map, key, piece),
        },
        Some(Value::Array(more)) => {
            let before = map.remove(key);
            let mut blocks = match before {
                Some(Value::Array(blocks)) => blocks,
                Some(Value::String(text)) => vec![json!({"type": "text", "text": text})],
                _ => Vec::new(),
            };
            blocks.extend(more.clone());
            map.insert(key.to_owned(), blocks.into());
        }
        _ => {}
    }
}
