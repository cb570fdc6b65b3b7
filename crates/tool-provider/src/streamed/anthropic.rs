//! Events of Anthropic Messages.

use serde_json::Value;

use super::{OpenCalls, StreamPart};
use crate::incoming::finish_reason;

/// Assembles the events of one Anthropic Messages response.
///
/// A call is whole once its block stopped and the response went on; the last one waits for the
/// reason of the end, since a response that became too long stops its last block too.
#[derive(Clone, Debug, Default)]
pub struct AnthropicStream {
    calls: OpenCalls,
}

impl AnthropicStream {
    /// What one parsed event says. Events that say nothing of calls, text or the end give nothing,
    /// and so does whatever comes after the end.
    pub fn feed(&mut self, event: &Value) -> Vec<StreamPart> {
        self.calls.feed(|calls, parts| read(event, calls, parts))
    }
}

fn read(event: &Value, calls: &mut OpenCalls, parts: &mut Vec<StreamPart>) {
    let word = |pointer: &str| event.pointer(pointer).and_then(Value::as_str);
    let index = event.get("index").and_then(Value::as_u64).unwrap_or(0);
    match word("/type").unwrap_or_default() {
        "content_block_start" => {
            let open: Vec<u64> = calls.open.iter().map(|it| it.key).collect();
            for key in open.into_iter().filter(|key| *key < index) {
                parts.extend(calls.complete(key));
            }
            if word("/content_block/type") == Some("tool_use") {
                let name = word("/content_block/name").unwrap_or_default();
                parts.push(calls.start(index, word("/content_block/id"), name));
            }
        }
        "content_block_delta" => {
            if let Some(piece) = word("/delta/partial_json") {
                parts.extend(calls.extend(index, piece));
            } else if let Some(text) = word("/delta/text") {
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
