//! Events of OpenAI Responses.

use std::collections::BTreeMap;

use serde_json::Value;
use tool_core::FinishReason;

use super::StreamPart;
use super::calls::{Calls, State};
use crate::incoming::finish_reason;

/// The items that began, by their index, each with whether it is done.
#[derive(Clone, Debug, Default)]
pub(super) struct Items(BTreeMap<u64, (Value, bool)>);

impl Items {
    pub(super) fn read(&mut self, event: &Value, calls: &mut Calls, parts: &mut Vec<StreamPart>) {
        let word = |pointer: &str| event.pointer(pointer).and_then(Value::as_str);
        let index = self.index(event);
        match word("/type").unwrap_or_default() {
            "response.output_item.added" => {
                if let Some(item) = event.get("item") {
                    self.begin(index, item, calls, parts);
                }
            }
            "response.function_call_arguments.delta" => {
                let piece = word("/delta").unwrap_or_default();
                parts.extend(calls.extend(index, piece));
            }
            "response.function_call_arguments.done" => {
                let whole = word("/arguments").unwrap_or_default();
                parts.extend(calls.replace(index, whole));
            }
            "response.output_item.done" => {
                if let Some(item) = event.get("item") {
                    self.done(index, item, calls, parts);
                }
            }
            "response.output_text.delta" => {
                let text = word("/delta").filter(|it| !it.is_empty());
                parts.extend(text.map(|it| StreamPart::Text(it.to_owned())));
            }
            "response.refusal.delta" => {
                let text = word("/delta").filter(|it| !it.is_empty());
                parts.extend(text.map(|it| StreamPart::Refusal(it.to_owned())));
            }
            "response.completed" => {
                // The whole response may say what no event of an item did.
                let output = event.pointer("/response/output").and_then(Value::as_array);
                for (index, item) in (0..).zip(output.into_iter().flatten()) {
                    let index = self.place(index, item);
                    let is_done = self.0.get(&index).is_some_and(|(_, done)| *done);
                    if !is_done {
                        self.done(index, item, calls, parts);
                    }
                }
                calls.finish_without_open(FinishReason::Stop, parts);
            }
            "response.incomplete" => {
                let reason = word("/response/incomplete_details/reason").unwrap_or("incomplete");
                calls.finish_without_open(finish_reason(reason), parts);
            }
            "response.failed" => {
                let kind = word("/response/error/code").unwrap_or("error");
                parts.push(calls.fail(kind));
            }
            "error" => {
                let nested = word("/error/code").or_else(|| word("/error/type"));
                let kind = word("/code").or(nested).unwrap_or("error");
                parts.push(calls.fail(kind));
            }
            _ => {}
        }
    }

    /// The index of the item that an event is of, also where a server leaves it out.
    fn index(&self, event: &Value) -> u64 {
        if let Some(index) = event.get("output_index").and_then(Value::as_u64) {
            return index;
        }
        let item = event.get("item");
        let known = match item {
            Some(item) => self.known(item),
            None => id_of(event, "item_id").and_then(|id| self.find("id", id)),
        };
        known.unwrap_or_else(|| match (self.0.keys().next_back(), item) {
            (Some(last), Some(_)) => last.saturating_add(1),
            (Some(last), None) => *last,
            (None, _) => 0,
        })
    }

    /// The index of an item of the whole response, whose list may have no gaps where the indices
    /// of the events had some.
    fn place(&self, at: u64, item: &Value) -> u64 {
        if let Some(index) = self.known(item) {
            return index;
        }
        let other = self
            .0
            .get(&at)
            .is_some_and(|(it, _)| is_call(it) || is_call(item));
        match self.0.keys().next_back() {
            Some(last) if other => last.saturating_add(1),
            _ => at,
        }
    }

    /// Calls are told by the id of the call: some servers give an item another id in each event.
    fn known(&self, item: &Value) -> Option<u64> {
        let key = if is_call(item) { "call_id" } else { "id" };
        self.find(key, id_of(item, key)?)
    }

    fn find(&self, key: &str, id: &str) -> Option<u64> {
        let mut items = self.0.iter().rev();
        let found = items.find(|(_, (item, _))| id_of(item, key) == Some(id));
        found.map(|(index, _)| *index)
    }

    fn begin(&mut self, index: u64, item: &Value, calls: &mut Calls, parts: &mut Vec<StreamPart>) {
        self.0.insert(index, (item.clone(), false));
        if is_call(item) {
            let word = |key: &str| item.get(key).and_then(Value::as_str);
            parts.push(calls.start(index, word("call_id"), word("name").unwrap_or_default()));
        }
    }

    fn done(&mut self, index: u64, item: &Value, calls: &mut Calls, parts: &mut Vec<StreamPart>) {
        if is_call(item) {
            if calls.open(index).is_none() {
                let id = id_of(item, "call_id");
                if id.is_some() && calls.made().any(|made| made.given_id.as_deref() == id) {
                    // It is said once more of a call that was handed out or cut off.
                    let index = self.known(item).unwrap_or(index);
                    self.0.insert(index, (item.clone(), true));
                    return;
                }
                self.begin(index, item, calls, parts);
            }
            let word = |key: &str| item.get(key).and_then(Value::as_str);
            let whole = word("arguments").unwrap_or_default();
            parts.extend(calls.replace(index, whole));
            if word("status").is_none_or(|it| it == "completed") {
                parts.extend(calls.complete(index));
            } else {
                calls.cut_off(index);
            }
        }
        self.0.insert(index, (item.clone(), true));
    }

    pub(super) fn message(&self, calls: &Calls) -> Value {
        let mut items = Vec::new();
        for (index, (item, done)) in &self.0 {
            let made = calls.made().find(|made| made.key == *index);
            let Some(made) = made.filter(|_| is_call(item)) else {
                items.extend(done.then(|| item.clone()));
                continue;
            };
            let mut item = item.clone();
            let mut set = |key: &str, value: &str| {
                if let Some(item) = item.as_object_mut() {
                    item.insert(key.to_owned(), value.into());
                }
            };
            if let Some(id) = &made.call.id {
                set("call_id", id.as_str());
            }
            if made.state != State::Whole {
                set("arguments", "{}");
                set("status", "incomplete");
            }
            items.push(item);
        }
        Value::Array(items)
    }
}

fn id_of<'a>(item: &'a Value, key: &str) -> Option<&'a str> {
    let id = item.get(key).and_then(Value::as_str);
    id.filter(|id| !id.is_empty())
}

fn is_call(item: &Value) -> bool {
    item.get("type").and_then(Value::as_str) == Some("function_call")
}
