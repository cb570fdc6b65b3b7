//! Events of OpenAI Responses.

use serde_json::Value;
use tool_core::FinishReason;

use super::{OpenCalls, StreamPart};
use crate::incoming::finish_reason;

/// Assembles the events of one OpenAI Responses response.
///
/// A call is whole once its item is done, unless the item says that it is incomplete.
#[derive(Clone, Debug, Default)]
pub struct ResponsesStream {
    calls: OpenCalls,
}

impl ResponsesStream {
    /// What one parsed event says. Events that say nothing of calls, text or the end give nothing,
    /// and so does whatever comes after the end.
    pub fn feed(&mut self, event: &Value) -> Vec<StreamPart> {
        self.calls.feed(|calls, parts| read(event, calls, parts))
    }
}

fn read(event: &Value, calls: &mut OpenCalls, parts: &mut Vec<StreamPart>) {
    let word = |pointer: &str| event.pointer(pointer).and_then(Value::as_str);
    let index = event.get("output_index").and_then(Value::as_u64);
    let index = index.unwrap_or(0);
    let is_call = word("/item/type") == Some("function_call");
    let start = |calls: &mut OpenCalls| {
        let name = word("/item/name").unwrap_or_default();
        calls.start(index, word("/item/call_id"), name)
    };
    match word("/type").unwrap_or_default() {
        "response.output_item.added" if is_call => parts.push(start(calls)),
        "response.function_call_arguments.delta" => {
            let piece = word("/delta").unwrap_or_default();
            parts.extend(calls.extend(index, piece));
        }
        "response.output_item.done" if is_call => {
            if calls.last(index).is_none() {
                parts.push(start(calls));
            }
            if calls.last(index).is_some_and(|it| it.is_empty()) {
                let whole = word("/item/arguments").unwrap_or_default();
                parts.extend(calls.extend(index, whole));
            }
            let call = calls.complete(index);
            if word("/item/status").is_none_or(|it| it == "completed") {
                parts.extend(call);
            }
        }
        "response.output_text.delta" => {
            let text = word("/delta").unwrap_or_default();
            parts.push(StreamPart::Text(text.to_owned()));
        }
        "response.completed" => calls.finish(FinishReason::Stop, parts),
        "response.incomplete" => {
            let reason = word("/response/incomplete_details/reason").unwrap_or("incomplete");
            calls.finish(finish_reason(reason), parts);
        }
        "response.failed" => {
            let kind = word("/response/error/code").unwrap_or("error");
            parts.push(calls.fail(kind));
        }
        "error" => parts.push(calls.fail(word("/code").unwrap_or("error"))),
        _ => {}
    }
}
