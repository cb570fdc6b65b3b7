//! Chunks of Gemini `streamGenerateContent`.

use serde_json::{Value, json};
use tool_core::{Arguments, FinishReason};

use super::StreamPart;
use super::calls::Calls;
use crate::incoming::finish_reason;

/// The parts of a message.
#[derive(Clone, Debug, Default)]
pub(super) struct Parts(Vec<Value>);

/// All calls have one key: each is whole as soon as the response goes on.
const KEY: u64 = 0;

impl Parts {
    pub(super) fn read(&mut self, chunk: &Value, calls: &mut Calls, parts: &mut Vec<StreamPart>) {
        let word = |pointer: &str| chunk.pointer(pointer).and_then(Value::as_str);
        if chunk.get("error").is_some_and(|error| !error.is_null()) {
            let kind = word("/error/status").unwrap_or("error");
            parts.push(calls.fail(kind));
            return;
        }
        let items = chunk.pointer("/candidates/0/content/parts");
        for item in items.and_then(Value::as_array).into_iter().flatten() {
            parts.extend(calls.complete(KEY));
            if let Some(call) = item.get("functionCall") {
                let goes_on = call.get("willContinue") == Some(&Value::Bool(true));
                if call.get("partialArgs").is_some() || goes_on {
                    parts.push(calls.fail("arguments in parts"));
                    return;
                }
                self.call(item, call, calls, parts);
            } else {
                self.keep(item);
                let text = item.get("text").and_then(Value::as_str);
                let thought = item.get("thought") == Some(&Value::Bool(true));
                let text = text.filter(|it| !it.is_empty() && !thought);
                parts.extend(text.map(|it| StreamPart::Text(it.to_owned())));
            }
        }
        let reason = word("/candidates/0/finishReason");
        let reason = reason.filter(|it| !matches!(*it, "" | "FINISH_REASON_UNSPECIFIED"));
        if let Some(reason) = reason {
            calls.finish(finish_reason(reason), parts);
        } else if word("/promptFeedback/blockReason").is_some() {
            calls.finish(FinishReason::ContentFilter, parts);
        }
    }

    fn call(&mut self, item: &Value, call: &Value, calls: &mut Calls, parts: &mut Vec<StreamPart>) {
        let field = |key: &str| call.get(key).and_then(Value::as_str);
        parts.push(calls.start(KEY, field("id"), field("name").unwrap_or_default()));
        let mut kept = item.clone();
        if let Some(open) = calls.open_mut(KEY) {
            let arguments = call.get("args").cloned().unwrap_or_default();
            open.call.arguments = Arguments::from(arguments);
            if let (Some(id), Some(Value::Object(call))) =
                (&open.call.id, kept.get_mut("functionCall"))
            {
                call.insert("id".to_owned(), id.as_str().into());
            }
        }
        self.0.push(kept);
    }

    /// Keeps a part. Text that goes on is one part, unless a signature stands at its seam.
    fn keep(&mut self, item: &Value) {
        let plain = |part: &Value| {
            part.as_object().is_some_and(|part| {
                let mut keys = part.keys();
                keys.all(|key| matches!(key.as_str(), "text" | "thought"))
            })
        };
        if let Some(last) = self.0.last_mut()
            && plain(last)
            && plain(item)
            && last.get("thought") == item.get("thought")
            && let (Some(said), Some(more)) = (last["text"].as_str(), item["text"].as_str())
        {
            last["text"] = format!("{said}{more}").into();
            return;
        }
        self.0.push(item.clone());
    }

    pub(super) fn message(&self) -> Value {
        // A part without anything in it is refused where it is repeated.
        let kept = self.0.iter().filter(|part| {
            let empty = part.get("text").is_some_and(|it| it == "");
            !empty || part.get("thoughtSignature").is_some()
        });
        let kept: Vec<&Value> = kept.collect();
        if kept.is_empty() {
            return Value::Null;
        }
        json!({"role": "model", "parts": kept})
    }
}
