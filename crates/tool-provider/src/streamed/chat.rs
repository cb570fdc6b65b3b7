//! Chunks of OpenAI Chat Completions.

use serde_json::Value;

use super::{OpenCalls, StreamPart};
use crate::incoming::finish_reason;

/// Assembles the chunks of one OpenAI Chat Completions response, or of whoever speaks as it does.
///
/// Pieces of several calls may be mixed, so that no call is whole before the end is.
///
/// ```
/// use tool_provider::{ChatStream, StreamPart};
///
/// let chunk = serde_json::json!({"choices": [{
///     "delta": {"tool_calls": [
///         {"index": 0, "id": "c1", "function": {"name": "grep", "arguments": "{}"}},
///     ]},
///     "finish_reason": "tool_calls",
/// }]});
/// let mut stream = ChatStream::default();
/// let parts = stream.feed(&chunk);
/// assert!(parts.iter().any(|part| matches!(part, StreamPart::Call(call) if call.name == "grep")));
/// ```
#[derive(Clone, Debug, Default)]
pub struct ChatStream {
    calls: OpenCalls,
}

impl ChatStream {
    /// What one parsed chunk says. Only its first choice counts; a chunk without one, and whatever
    /// comes after the end, gives nothing.
    pub fn feed(&mut self, chunk: &Value) -> Vec<StreamPart> {
        self.calls.feed(|calls, parts| read(chunk, calls, parts))
    }
}

fn read(chunk: &Value, calls: &mut OpenCalls, parts: &mut Vec<StreamPart>) {
    if let Some(error) = chunk.get("error").filter(|it| !it.is_null()) {
        let kind = error.get("type").and_then(Value::as_str);
        parts.push(calls.fail(kind.unwrap_or("error")));
        return;
    }
    let word = |pointer: &str| chunk.pointer(pointer).and_then(Value::as_str);
    if let Some(text) = word("/choices/0/delta/content").filter(|it| !it.is_empty()) {
        parts.push(StreamPart::Text(text.to_owned()));
    }
    let deltas = chunk.pointer("/choices/0/delta/tool_calls");
    for delta in deltas.and_then(Value::as_array).into_iter().flatten() {
        read_delta(delta, calls, parts);
    }
    if let Some(reason) = word("/choices/0/finish_reason").filter(|it| !it.is_empty()) {
        calls.finish(finish_reason(reason), parts);
    }
}

fn read_delta(delta: &Value, calls: &mut OpenCalls, parts: &mut Vec<StreamPart>) {
    let word = |pointer: &str| {
        let text = delta.pointer(pointer).and_then(Value::as_str);
        text.filter(|it| !it.is_empty())
    };
    let key = delta.get("index").and_then(Value::as_u64).unwrap_or(0);
    let (id, name) = (word("/id"), word("/function/name"));
    let begins = match calls.last(key) {
        None => true,
        Some(last) => name.is_some() && id.is_some() && id != last.given_id.as_deref(),
    };
    if begins {
        parts.push(calls.start(key, id, name.unwrap_or_default()));
    }
    let piece = word("/function/arguments").unwrap_or_default();
    parts.extend(calls.extend(key, piece));
}
