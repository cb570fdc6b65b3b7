//! Streams that break off, say things twice, leave things out, or say that they failed.

use serde_json::{Value, json};
use tool_core::Arguments;
use tool_provider::{Api, FinishReason, ResponseStream, StreamPart};

use crate::streamed::calls;

fn all(stream: &mut ResponseStream, events: &[Value]) -> Vec<StreamPart> {
    events.iter().flat_map(|it| stream.feed(it)).collect()
}

fn failed(parts: &[StreamPart]) -> Option<&str> {
    match parts.last() {
        Some(StreamPart::Failed { kind }) => Some(kind),
        _ => None,
    }
}

/// What each API says of one call that is whole but for the end of the response.
fn one_call_without_its_end() -> Vec<(ResponseStream, Vec<Value>)> {
    let call = json!({"id": "a", "function": {"name": "f", "arguments": "{\"x\":1}"}});
    let item = json!({"type": "function_call", "call_id": "a", "name": "f", "arguments": ""});
    vec![
        (
            ResponseStream::anthropic(),
            vec![
                json!({"type": "content_block_start", "index": 0,
                    "content_block": {"type": "tool_use", "id": "a", "name": "f", "input": {}}}),
                json!({"type": "content_block_delta", "index": 0,
                    "delta": {"type": "input_json_delta", "partial_json": "{\"x\":1}"}}),
                json!({"type": "content_block_stop", "index": 0}),
            ],
        ),
        (
            ResponseStream::openai_chat(),
            vec![json!({"choices": [{"delta": {"tool_calls": [call]}, "finish_reason": null}]})],
        ),
        (
            ResponseStream::openai_responses(),
            vec![
                json!({"type": "response.output_item.added", "output_index": 0, "item": item}),
                json!({"type": "response.function_call_arguments.delta", "output_index": 0,
                    "delta": "{\"x\":1}"}),
            ],
        ),
        (
            ResponseStream::gemini(),
            vec![json!({"candidates": [{"content": {"parts": [
                {"functionCall": {"id": "a", "name": "f", "args": {"x": 1}}}]}}]})],
        ),
    ]
}

#[test]
fn a_stream_that_ends_without_its_end_is_cut_off_and_no_open_call_is_whole() {
    for (mut stream, events) in one_call_without_its_end() {
        let mut parts = all(&mut stream, &events);
        parts.extend(stream.end());
        assert!(calls(&parts).is_empty(), "{parts:?}");
        assert_eq!(
            failed(&parts),
            Some("the stream ended before the response did")
        );
        assert!(stream.end().is_empty(), "it is said once");
        let response = stream.response();
        assert_eq!(response.finish, Some(FinishReason::Error));
        assert_eq!(response.calls.len(), 1, "the call is there to be answered");
    }
}

#[test]
fn what_was_cut_off_is_repeated_with_empty_arguments_so_that_its_answer_is_accepted() {
    let none = [json!({}), json!("{}"), json!("{}")];
    let at = [
        "/content/0/input",
        "/tool_calls/0/function/arguments",
        "/0/arguments",
    ];
    let streams = one_call_without_its_end().into_iter().zip(at).zip(none);
    for (((mut stream, events), at), none) in streams {
        all(&mut stream, &events);
        stream.end();
        let message = stream.response().message;
        assert_eq!(message.pointer(at), Some(&none), "{message}");
    }
}

#[test]
fn a_responses_call_whose_item_was_never_done_is_not_whole_at_the_end() {
    let mut stream = ResponseStream::openai_responses();
    let (_, events) = one_call_without_its_end().remove(2);
    let mut parts = all(&mut stream, &events);
    parts.extend(stream.feed(&json!({"type": "response.completed", "response": {"output": []}})));
    assert!(calls(&parts).is_empty(), "{parts:?}");
    assert_eq!(parts.last(), Some(&StreamPart::Finish(FinishReason::Stop)));
}

#[test]
fn a_responses_call_that_only_the_whole_response_has_is_whole() {
    let item = json!({"type": "function_call", "call_id": "a", "name": "f",
        "status": "completed", "arguments": "{\"x\":1}"});
    let mut stream = ResponseStream::openai_responses();
    let (_, events) = one_call_without_its_end().remove(2);
    all(&mut stream, &events);
    let end = json!({"type": "response.completed", "response": {"output": [item]}});
    let parts = stream.feed(&end);
    let text = Arguments::Text("{\"x\":1}".into());
    assert_eq!(calls(&parts), [(0, Some("a"), "f", &text)]);
    assert_eq!(stream.response().message, json!([item]));
}

fn item(id: &str) -> Value {
    json!({"type": "function_call", "call_id": id, "name": "f", "status": "completed",
        "arguments": format!("{{\"x\":\"{id}\"}}")})
}

#[test]
fn a_responses_call_is_handed_out_once_whatever_its_indices_say() {
    let done = |index: Option<u64>, id: &str| {
        let mut event = json!({"type": "response.output_item.done", "item": item(id)});
        event["output_index"] = index.into();
        event
    };
    let begun = |id: &str| {
        let mut item = item(id);
        item["arguments"] = "".into();
        item["id"] = format!("item-{id}").into();
        json!({"type": "response.output_item.added", "item": item})
    };
    let piece = |id: &str| {
        json!({"type": "response.function_call_arguments.delta", "item_id": format!("item-{id}"),
            "delta": format!("{{\"x\":\"{id}\"}}")})
    };
    let whole = json!({"type": "response.completed",
        "response": {"output": [item("a"), item("b")]}});
    for events in [
        vec![done(None, "a"), done(None, "b")],
        vec![done(Some(1), "a"), done(Some(3), "b")],
        vec![done(Some(1), "a")],
        vec![done(Some(0), "a"), done(Some(0), "a"), done(Some(2), "a")],
        vec![
            begun("a"),
            begun("b"),
            piece("a"),
            piece("b"),
            done(None, "a"),
        ],
        vec![],
    ] {
        let mut stream = ResponseStream::openai_responses();
        let mut parts = all(&mut stream, &events);
        parts.extend(stream.feed(&whole));
        let text = |id: &str| Arguments::Text(format!("{{\"x\":\"{id}\"}}"));
        let (a, b) = (text("a"), text("b"));
        assert_eq!(
            calls(&parts),
            [(0, Some("a"), "f", &a), (1, Some("b"), "f", &b)],
            "{events:?}"
        );
        let message = stream.response().message;
        let ids = message.as_array().into_iter().flatten();
        let ids: Vec<_> = ids.map(|it| it["call_id"].as_str()).collect();
        assert_eq!(ids, [Some("a"), Some("b")], "{events:?}");
    }
}

#[test]
fn an_error_that_is_null_is_none() {
    let mut stream = ResponseStream::gemini();
    let parts = stream.feed(&json!({"error": null, "candidates": [
        {"content": {"parts": [{"text": "hi"}]}, "finishReason": "STOP"}]}));
    assert_eq!(
        parts,
        [
            StreamPart::Text("hi".into()),
            StreamPart::Finish(FinishReason::Stop)
        ]
    );
}

#[test]
fn the_text_of_a_done_item_counts_where_its_pieces_say_otherwise_or_nothing() {
    let item = |status: &str, text: &str| {
        json!({"type": "function_call", "call_id": "a", "name": "f", "status": status,
            "arguments": text})
    };
    for pieces in ["", "{\"x\""] {
        let mut stream = ResponseStream::openai_responses();
        let parts = all(
            &mut stream,
            &[
                json!({"type": "response.output_item.added", "output_index": 0,
                    "item": item("in_progress", "")}),
                json!({"type": "response.function_call_arguments.delta", "output_index": 0,
                    "delta": pieces}),
                json!({"type": "response.output_item.done", "output_index": 0,
                    "item": item("completed", "{\"x\":1}")}),
            ],
        );
        let text = Arguments::Text("{\"x\":1}".into());
        assert_eq!(calls(&parts), [(0, Some("a"), "f", &text)]);
    }
}

#[test]
fn an_id_that_is_empty_or_missing_is_made_where_results_name_calls_by_it() {
    for id in [json!(""), Value::Null] {
        let chat = json!({"choices": [{"message": {"tool_calls": [
            {"id": id, "function": {"name": "f", "arguments": "{}"}},
            {"id": id, "function": {"name": "f", "arguments": "{}"}},
        ]}, "finish_reason": "tool_calls"}]});
        let anthropic = json!({"content": [
            {"type": "tool_use", "id": id, "name": "f", "input": {}},
            {"type": "tool_use", "id": id, "name": "f", "input": {}},
        ]});
        let responses = json!({"output": [
            {"type": "function_call", "call_id": id, "name": "f", "arguments": "{}"},
            {"type": "function_call", "call_id": id, "name": "f", "arguments": "{}"},
        ]});
        for (api, body, second) in [
            (Api::OpenAiChat, chat, "/tool_calls/1/id"),
            (Api::AnthropicMessages, anthropic, "/content/1/id"),
            (Api::OpenAiResponses, responses, "/1/call_id"),
        ] {
            let response = api.read(&body).expect("a response");
            let ids = response.calls.iter().filter_map(|it| it.id.as_ref());
            let ids: Vec<_> = ids.map(|it| it.as_str()).collect();
            assert_eq!(ids, ["call_0", "call_1"], "{api:?}");
            assert_eq!(response.message.pointer(second), Some(&json!("call_1")));
        }
        let gemini = json!({"candidates": [{"content": {"parts": [
            {"functionCall": {"id": id, "name": "f", "args": {}}}]}, "finishReason": "STOP"}]});
        let response = Api::Gemini.read(&gemini).expect("a response");
        assert_eq!(response.calls[0].id, None, "order tells them apart there");
        let mut stream = ResponseStream::gemini();
        assert_eq!(calls(&stream.feed(&gemini))[0].1, None);
    }
    let start = json!({"type": "content_block_start", "index": 0,
        "content_block": {"type": "tool_use", "id": "", "name": "f", "input": {}}});
    let end = json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}});
    let mut stream = ResponseStream::anthropic();
    assert_eq!(calls(&all(&mut stream, &[start, end]))[0].1, Some("call_0"));
    assert_eq!(stream.response().message["content"][0]["id"], "call_0");
}

#[test]
fn chat_calls_without_ids_are_told_apart_by_what_they_say() {
    let delta = |calls: Value| json!({"choices": [{"delta": {"tool_calls": calls}}]});
    let end = json!({"choices": [{"delta": {}, "finish_reason": "stop"}]});
    let call = |name: &str, text: &str| json!({"function": {"name": name, "arguments": text}});
    let indexed =
        |name: &str, text: &str| json!({"index": 0, "function": {"name": name, "arguments": text}});
    for (deltas, count) in [
        // Without index and id: each name is a call.
        (delta(json!([call("f", "{}"), call("f", "{}")])), 2),
        (delta(json!([call("f", "{}"), call("g", "{}")])), 2),
        // Another name under one index, or one more after whole arguments.
        (
            delta(json!([indexed("f", "{\"a\""), indexed("g", "{}")])),
            2,
        ),
        (delta(json!([indexed("f", "{}"), indexed("f", "{}")])), 2),
        // Who repeats the name with each piece.
        (
            delta(json!([indexed("f", "{\"a\""), indexed("f", ":1}")])),
            1,
        ),
    ] {
        let mut stream = ResponseStream::openai_chat();
        let parts = all(&mut stream, &[deltas.clone(), end.clone()]);
        assert_eq!(calls(&parts).len(), count, "{deltas}");
    }
}

#[test]
fn a_refusal_is_said_and_is_no_text_of_an_answer() {
    let chat = json!({"choices": [{"delta": {"content": null, "refusal": "I will not."}}]});
    let mut stream = ResponseStream::openai_chat();
    let refusal = [StreamPart::Refusal("I will not.".to_owned())];
    assert_eq!(stream.feed(&chat), refusal);
    assert_eq!(stream.response().message["refusal"], "I will not.");
    let responses = json!({"type": "response.refusal.delta", "delta": "I will not."});
    assert_eq!(ResponseStream::openai_responses().feed(&responses), refusal);
    let anthropic = json!({"type": "message_delta", "delta": {"stop_reason": "refusal"}});
    assert_eq!(
        ResponseStream::anthropic().feed(&anthropic),
        [StreamPart::Finish(FinishReason::ContentFilter)]
    );
}

#[test]
fn errors_of_every_form_fail_the_response() {
    let anthropic = json!({"type": "error",
        "error": {"type": "overloaded_error", "message": "m"}});
    let chat = json!({"error": {"message": "m", "type": "server_error", "code": "x"}});
    let flat = json!({"type": "error", "code": "rate_limit_exceeded", "message": "m",
        "param": null, "sequence_number": 3});
    let nested = json!({"type": "error", "error": {"type": "invalid_request_error",
        "code": "context_length_exceeded", "message": "m"}});
    let failed_response = json!({"type": "response.failed",
        "response": {"status": "failed", "error": {"code": "server_error", "message": "m"}}});
    let gemini = json!({"error": {"code": 503, "message": "m", "status": "UNAVAILABLE"}});
    for (mut stream, event, kind) in [
        (ResponseStream::anthropic(), anthropic, "overloaded_error"),
        (ResponseStream::openai_chat(), chat, "server_error"),
        (
            ResponseStream::openai_responses(),
            flat,
            "rate_limit_exceeded",
        ),
        (
            ResponseStream::openai_responses(),
            nested,
            "context_length_exceeded",
        ),
        (
            ResponseStream::openai_responses(),
            failed_response,
            "server_error",
        ),
        (ResponseStream::gemini(), gemini, "UNAVAILABLE"),
    ] {
        assert_eq!(failed(&stream.feed(&event)), Some(kind));
        assert!(stream.end().is_empty(), "it has failed already");
    }
}

#[test]
fn deltas_that_are_empty_or_unknown_say_nothing() {
    for (mut stream, event) in [
        (ResponseStream::anthropic(), json!({"type": "ping"})),
        (
            ResponseStream::anthropic(),
            json!({"type": "content_block_delta", "index": 0,
                "delta": {"type": "text_delta", "text": ""}}),
        ),
        (
            ResponseStream::openai_chat(),
            json!({"choices": [{"delta": {"role": "assistant", "content": ""}}]}),
        ),
        (
            ResponseStream::openai_chat(),
            json!({"choices": [], "usage": {"total_tokens": 3}}),
        ),
        (
            ResponseStream::openai_responses(),
            json!({"type": "response.output_text.delta", "delta": ""}),
        ),
        (
            ResponseStream::openai_responses(),
            json!({"type": "response.something.new"}),
        ),
        (
            ResponseStream::gemini(),
            json!({"candidates": [{"content": {"parts": [{"text": ""}]},
                "finishReason": "FINISH_REASON_UNSPECIFIED"}]}),
        ),
        (ResponseStream::gemini(), json!({"usageMetadata": {}})),
    ] {
        assert!(stream.feed(&event).is_empty(), "{event}");
        assert!(
            matches!(stream.response().message, Value::Null)
                || stream.response().message == json!([])
                || stream.response().message["content"] == "",
            "{event}"
        );
    }
}

#[test]
fn every_word_for_the_end_is_known() {
    let reason = |api: Api, word: &str| {
        let body = match api {
            Api::AnthropicMessages => json!({"content": [], "stop_reason": word}),
            Api::OpenAiChat => json!({"choices": [{"message": {}, "finish_reason": word}]}),
            Api::OpenAiResponses => json!({"output": [], "status": word}),
            _ => json!({"candidates": [{"finishReason": word}]}),
        };
        api.read(&body)
            .expect("a response")
            .finish
            .expect("a reason")
    };
    use FinishReason::{ContentFilter, Error, Length, Pause, Stop, ToolCalls};
    for (api, word, wanted) in [
        (Api::AnthropicMessages, "end_turn", Stop),
        (Api::AnthropicMessages, "stop_sequence", Stop),
        (Api::AnthropicMessages, "tool_use", ToolCalls),
        (Api::AnthropicMessages, "pause_turn", Pause),
        (Api::AnthropicMessages, "max_tokens", Length),
        (
            Api::AnthropicMessages,
            "model_context_window_exceeded",
            Length,
        ),
        (Api::AnthropicMessages, "refusal", ContentFilter),
        (Api::OpenAiChat, "stop", Stop),
        (Api::OpenAiChat, "tool_calls", ToolCalls),
        (Api::OpenAiChat, "length", Length),
        (Api::OpenAiChat, "model_length", Length),
        (Api::OpenAiChat, "content_filter", ContentFilter),
        (Api::OpenAiChat, "error", Error),
        (Api::OpenAiResponses, "completed", Stop),
        (Api::OpenAiResponses, "failed", Error),
        (Api::OpenAiResponses, "cancelled", Error),
        (Api::Gemini, "STOP", Stop),
        (Api::Gemini, "MAX_TOKENS", Length),
        (Api::Gemini, "SAFETY", ContentFilter),
        (Api::Gemini, "IMAGE_SAFETY", ContentFilter),
        (Api::Gemini, "MALFORMED_FUNCTION_CALL", Error),
        (Api::Gemini, "UNEXPECTED_TOOL_CALL", Error),
        (Api::Gemini, "TOO_MANY_TOOL_CALLS", Error),
    ] {
        assert_eq!(reason(api, word), wanted, "{api:?} {word}");
    }
    // What nobody knew when this was written runs nothing.
    assert!(!reason(Api::OpenAiResponses, "in_progress").is_complete());
    assert!(!reason(Api::Gemini, "CONTINUATION").is_complete());
}

#[test]
fn what_the_model_thought_is_repeated_as_it_came() {
    let mut stream = ResponseStream::anthropic();
    let delta = |delta: Value| json!({"type": "content_block_delta", "index": 0, "delta": delta});
    all(
        &mut stream,
        &[
            json!({"type": "content_block_start", "index": 0,
                "content_block": {"type": "thinking", "thinking": "", "signature": ""}}),
            delta(json!({"type": "thinking_delta", "thinking": "Let me "})),
            delta(json!({"type": "thinking_delta", "thinking": "see."})),
            delta(json!({"type": "signature_delta", "signature": "sig"})),
            json!({"type": "content_block_stop", "index": 0}),
        ],
    );
    assert_eq!(
        stream.response().message["content"],
        json!([{"type": "thinking", "thinking": "Let me see.", "signature": "sig"}])
    );
    let mut stream = ResponseStream::openai_chat();
    for piece in ["Let me ", "see."] {
        let chunk = json!({"choices": [{"delta": {"reasoning_content": piece}}]});
        assert!(stream.feed(&chunk).is_empty());
    }
    assert_eq!(
        stream.response().message["reasoning_content"],
        "Let me see."
    );
    let mut stream = ResponseStream::gemini();
    let part = |part: Value| json!({"candidates": [{"content": {"parts": [part]}}]});
    let call = json!({"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "sig"});
    all(
        &mut stream,
        &[
            part(json!({"text": "Hel"})),
            part(json!({"text": "lo"})),
            part(call.clone()),
        ],
    );
    assert_eq!(
        stream.response().message["parts"],
        json!([{"text": "Hello"}, call])
    );
}
