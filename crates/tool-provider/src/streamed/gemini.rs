//! Chunks of Gemini `streamGenerateContent`.

use serde_json::Value;
use tool_core::{Arguments, FinishReason};

use super::{OpenCalls, StreamPart};
use crate::incoming::finish_reason;

/// Assembles the chunks of one Gemini response.
///
/// Arguments come in one piece, as a value; there are no [`StreamPart::ArgumentsPiece`]s. Each
/// call is held until the response goes on. Arguments in parts, which a request has to ask for,
/// are not read: they fail the response.
#[derive(Clone, Debug, Default)]
pub struct GeminiStream {
    calls: OpenCalls,
}

impl GeminiStream {
    /// What one parsed chunk says. Only its first candidate counts, thoughts are no text, and
    /// whatever comes after the end gives nothing.
    pub fn feed(&mut self, chunk: &Value) -> Vec<StreamPart> {
        self.calls.feed(|calls, parts| read(chunk, calls, parts))
    }
}

fn read(chunk: &Value, calls: &mut OpenCalls, parts: &mut Vec<StreamPart>) {
    let word = |pointer: &str| chunk.pointer(pointer).and_then(Value::as_str);
    if chunk.get("error").is_some() {
        let kind = word("/error/status").unwrap_or("error");
        parts.push(calls.fail(kind));
        return;
    }
    let items = chunk.pointer("/candidates/0/content/parts");
    for item in items.and_then(Value::as_array).into_iter().flatten() {
        parts.extend(calls.complete(0));
        if let Some(call) = item.get("functionCall") {
            if call.get("partialArgs").is_some() || call.get("willContinue").is_some() {
                parts.push(calls.fail("arguments in parts"));
                return;
            }
            let field = |key: &str| call.get(key).and_then(Value::as_str);
            let name = field("name").unwrap_or_default();
            parts.push(calls.start(0, field("id"), name));
            if let Some(open) = calls.open.last_mut() {
                let arguments = call.get("args").cloned().unwrap_or_default();
                open.call.arguments = Arguments::Value(arguments);
            }
        } else if let Some(text) = item.get("text").and_then(Value::as_str)
            && item.get("thought") != Some(&Value::Bool(true))
        {
            parts.push(StreamPart::Text(text.to_owned()));
        }
    }
    if let Some(reason) = word("/candidates/0/finishReason") {
        calls.finish(finish_reason(reason), parts);
    } else if word("/promptFeedback/blockReason").is_some() {
        calls.finish(FinishReason::ContentFilter, parts);
    }
}
