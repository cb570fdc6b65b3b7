//! Chunks of OpenAI Chat Completions.

use serde_json::Value;

use super::{OpenCalls, StreamPart};
use crate::incoming::finish_reason;

/// Assembles the chunks of one OpenAI Chat Completions response, or of whoever speaks as it does.
///
/// Pieces of several calls may be mixed, so that no call is whole before the end is.
#[derive(Clone, Debug, Default)]
pub struct ChatStream {
    calls: OpenCalls,
}

impl ChatStream {
    /// What one parsed chunk says. Only its first choice counts; a chunk without one, and whatever
    /// comes after the end, gives nothing.
    pub fn feed(&mut self, chunk: &Value) -> Vec<StreamPart> {
        let mut parts = Vec::new();
        if self.calls.ended {
            return parts;
        }
        if let Some(error) = chunk.get("error").filter(|it| !it.is_null()) {
            let kind = error.get("type").and_then(Value::as_str);
            parts.push(self.calls.fail(kind.unwrap_or("error")));
            return parts;
        }
        let word = |pointer: &str| chunk.pointer(pointer).and_then(Value::as_str);
        if let Some(text) = word("/choices/0/delta/content").filter(|it| !it.is_empty()) {
            parts.push(StreamPart::Text(text.to_owned()));
        }
        let deltas = chunk.pointer("/choices/0/delta/tool_calls");
        for delta in deltas.and_then(Value::as_array).into_iter().flatten() {
            self.delta(delta, &mut parts);
        }
        if let Some(reason) = word("/choices/0/finish_reason").filter(|it| !it.is_empty()) {
            self.calls.finish(finish_reason(reason), &mut parts);
        }
        parts
    }

    fn delta(&mut self, delta: &Value, parts: &mut Vec<StreamPart>) {
        let word = |pointer: &str| {
            let text = delta.pointer(pointer).and_then(Value::as_str);
            text.filter(|it| !it.is_empty())
        };
        let key = delta.get("index").and_then(Value::as_u64).unwrap_or(0);
        let (id, name) = (word("/id"), word("/function/name"));
        let begins = match self.calls.last(key) {
            None => true,
            Some(last) => name.is_some() && id.is_some() && id != last.given_id.as_deref(),
        };
        if begins {
            parts.push(self.calls.start(key, id, name.unwrap_or_default()));
        }
        let piece = word("/function/arguments").unwrap_or_default();
        parts.extend(self.calls.extend(key, piece));
    }
}
