//! Calls of a response that comes in pieces.

use serde_json::{Value, json};
use tool_core::Arguments;
use tool_provider::{FinishReason, IncomingCall, ResponseStream, StreamPart};

pub(crate) fn calls(parts: &[StreamPart]) -> Vec<(usize, Option<&str>, &str, &Arguments)> {
    let call = |part| match part {
        &StreamPart::Call(IncomingCall {
            position,
            ref id,
            ref name,
            ref arguments,
            ..
        }) => Some((
            position,
            id.as_ref().map(|it| it.as_str()),
            name.as_str(),
            arguments,
        )),
        _ => None,
    };
    parts.iter().filter_map(call).collect()
}

fn chat(events: &[Value]) -> Vec<StreamPart> {
    let mut stream = ResponseStream::openai_chat();
    events.iter().flat_map(|it| stream.feed(it)).collect()
}

fn anthropic(events: &[Value]) -> Vec<StreamPart> {
    let mut stream = ResponseStream::anthropic();
    events.iter().flat_map(|it| stream.feed(it)).collect()
}

fn deltas(deltas: &Value) -> Value {
    json!({"choices": [{"index": 0, "delta": {"tool_calls": deltas}, "finish_reason": null}]})
}

fn end(reason: &str) -> Value {
    json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
}

#[test]
fn chat_calls_whose_pieces_are_mixed_come_out_apart() {
    let parts = chat(&[
        deltas(&json!([{"index": 0, "id": "a", "function": {"name": "f", "arguments": ""}}])),
        deltas(&json!([{"index": 1, "id": "b", "function": {"name": "g", "arguments": "{\"y\""}}])),
        deltas(&json!([{"index": 0, "function": {"arguments": "{\"x\":1}"}}])),
        deltas(&json!([{"index": 1, "function": {"arguments": ":2}"}}])),
        end("tool_calls"),
    ]);
    let (x, y) = (
        Arguments::Text("{\"x\":1}".into()),
        Arguments::Text("{\"y\":2}".into()),
    );
    assert_eq!(
        calls(&parts),
        [(0, Some("a"), "f", &x), (1, Some("b"), "g", &y)]
    );
    assert_eq!(
        parts.last(),
        Some(&StreamPart::Finish(FinishReason::ToolCalls))
    );
}

#[test]
fn chat_calls_under_one_index_are_two_and_ids_are_made_unique() {
    let call = |index: u64, id: &str| {
        deltas(&json!([{"index": index, "id": id, "function": {"name": "f", "arguments": "{}"}}]))
    };
    let parts = chat(&[call(0, "a"), call(0, "b"), call(1, "a"), end("stop")]);
    let ids: Vec<_> = calls(&parts).into_iter().filter_map(|it| it.1).collect();
    assert_eq!(ids, ["a", "b", "a-2"]);
}

#[test]
fn a_call_without_arguments_has_empty_text() {
    let start = json!([{"index": 0, "id": "a", "function": {"name": "f"}}]);
    let parts = chat(&[deltas(&start), end("tool_calls")]);
    let empty = Arguments::Text(String::new());
    assert_eq!(calls(&parts), [(0, Some("a"), "f", &empty)]);
}

fn block(index: u64, id: &str) -> Value {
    json!({"type": "content_block_start", "index": index,
        "content_block": {"type": "tool_use", "id": id, "name": "f", "input": {}}})
}

fn piece(index: u64, text: &str) -> Value {
    json!({"type": "content_block_delta", "index": index,
        "delta": {"type": "input_json_delta", "partial_json": text}})
}

fn stop(index: u64) -> Value {
    json!({"type": "content_block_stop", "index": index})
}

#[test]
fn a_call_that_was_cut_off_is_never_whole() {
    let reason = json!({"type": "message_delta", "delta": {"stop_reason": "max_tokens"}});
    let parts = anthropic(&[
        block(1, "a"),
        piece(1, "{}"),
        stop(1),
        block(2, "b"),
        piece(2, "{\"x"),
        stop(2),
        reason,
    ]);
    let ids: Vec<_> = calls(&parts).into_iter().filter_map(|it| it.1).collect();
    assert_eq!(ids, ["a"], "the one that the response went past");
    let start = json!([{"index": 0, "id": "a", "function": {"name": "f", "arguments": "{"}}]);
    assert!(calls(&chat(&[deltas(&start), end("length")])).is_empty());
    assert!(calls(&chat(&[deltas(&start)])).is_empty());
}

#[test]
fn an_error_in_the_stream_ends_it() {
    let error = json!({"type": "error", "error": {"type": "overloaded_error", "message": "m"}});
    let reason = json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}});
    let parts = anthropic(&[block(0, "a"), piece(0, "{}"), error, reason]);
    let kind = "overloaded_error".to_owned();
    assert_eq!(parts.last(), Some(&StreamPart::Failed { kind }));
    assert!(calls(&parts).is_empty());
}

#[test]
fn responses_calls_are_whole_by_item_unless_it_says_otherwise() {
    let item = |kind: &str, index: u64, status: &str, text: &str| {
        json!({"type": kind, "output_index": index, "item": {"type": "function_call",
            "call_id": format!("c{index}"), "name": "f", "status": status, "arguments": text}})
    };
    let delta = |index: u64, text: &str| {
        json!({"type": "response.function_call_arguments.delta", "output_index": index,
            "delta": text})
    };
    let (added, done) = ("response.output_item.added", "response.output_item.done");
    let reason = json!({"incomplete_details": {"reason": "max_output_tokens"}});
    let events = [
        item(added, 0, "in_progress", ""),
        item(added, 1, "in_progress", ""),
        delta(1, "{\"x"),
        delta(0, "{}"),
        item(done, 0, "completed", "{}"),
        item(done, 1, "incomplete", "{\"x"),
        json!({"type": "response.incomplete", "response": reason}),
    ];
    let mut stream = ResponseStream::openai_responses();
    let parts: Vec<_> = events.iter().flat_map(|it| stream.feed(it)).collect();
    let text = Arguments::Text("{}".into());
    assert_eq!(calls(&parts), [(0, Some("c0"), "f", &text)]);
    assert_eq!(
        parts.last(),
        Some(&StreamPart::Finish(FinishReason::Length))
    );
}

#[test]
fn gemini_calls_are_values_and_the_last_waits_for_the_reason() {
    let chunk = |reason: Value| {
        json!({"candidates": [{"content": {"parts": [
            {"functionCall": {"name": "f", "args": {"x": 1}}},
            {"functionCall": {"name": "g"}},
        ]}, "finishReason": reason}]})
    };
    let parts = ResponseStream::gemini().feed(&chunk("STOP".into()));
    let (x, none) = (
        Arguments::from(json!({"x": 1})),
        Arguments::from(Value::Null),
    );
    assert_eq!(calls(&parts), [(0, None, "f", &x), (1, None, "g", &none)]);
    let parts = ResponseStream::gemini().feed(&chunk("MAX_TOKENS".into()));
    assert_eq!(calls(&parts), [(0, None, "f", &x)]);
}

#[test]
fn an_empty_reason_ends_no_chat_response() {
    let start = json!([{"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}}]);
    let parts = chat(&[deltas(&start), end(""), end("tool_calls")]);
    assert_eq!(calls(&parts).len(), 1);
    assert_eq!(
        parts.last(),
        Some(&StreamPart::Finish(FinishReason::ToolCalls))
    );
}

#[test]
fn arguments_in_parts_fail_a_gemini_response() {
    let call = |more: Value| json!({"functionCall": more});
    let chunk = json!({"candidates": [{"content": {"parts": [
        call(json!({"name": "f", "args": {}})),
        call(json!({"name": "g", "partialArgs": [], "willContinue": true})),
    ]}}]});
    let parts = ResponseStream::gemini().feed(&chunk);
    assert_eq!(
        calls(&parts).len(),
        1,
        "the one that the response went past"
    );
    let kind = "arguments in parts".to_owned();
    assert_eq!(parts.last(), Some(&StreamPart::Failed { kind }));
}

#[test]
fn thoughts_of_gemini_are_no_text() {
    let chunk = json!({"candidates": [{"content": {"parts": [
        {"text": "I wonder", "thought": true},
        {"text": "Hello"},
    ]}}]});
    let parts = ResponseStream::gemini().feed(&chunk);
    assert_eq!(parts, [StreamPart::Text("Hello".to_owned())]);
}
