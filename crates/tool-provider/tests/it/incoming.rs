//! Calls of a response, whoever the provider is.

use serde_json::json;
use tool_core::Arguments;
use tool_provider::{Api, FinishReason};

#[test]
fn every_api_gives_the_same_calls() {
    let anthropic = json!({"stop_reason": "tool_use", "content": [
        {"type": "text", "text": "Let me look."},
        {"type": "tool_use", "id": "a", "name": "read", "input": {"n": 1}},
        {"type": "tool_use", "id": "b", "name": "read", "input": {"n": 2}},
    ]});
    let responses = json!({"status": "completed", "output": [
        {"type": "reasoning", "id": "r"},
        {"type": "function_call", "call_id": "a", "name": "read", "arguments": "{\"n\":1}"},
        {"type": "function_call", "call_id": "b", "name": "read", "arguments": "{\"n\":2}"},
    ]});
    let gemini = json!({"candidates": [{"finishReason": "STOP", "content": {"role": "model", "parts": [
        {"functionCall": {"id": "a", "name": "read", "args": {"n": 1}}, "thoughtSignature": "s"},
        {"functionCall": {"id": "b", "name": "read", "args": {"n": 2}}},
    ]}}]});
    for (api, body) in [
        (Api::AnthropicMessages, anthropic),
        (Api::OpenAiResponses, responses),
        (Api::Gemini, gemini),
    ] {
        let response = api.read(&body).expect("a response");
        assert!(response.finish.expect("a reason").is_complete());
        let positions: Vec<usize> = response.calls.iter().map(|it| it.position).collect();
        assert_eq!(positions, [0, 1], "{api:?}");
        assert!(response.calls.iter().all(|it| it.name == "read"));
        let ids = response
            .calls
            .iter()
            .filter_map(|it| it.id.as_ref())
            .map(|it| it.as_str());
        assert_eq!(ids.collect::<Vec<_>>(), ["a", "b"], "{api:?}");
    }
}

#[test]
fn an_id_that_stands_twice_is_made_unique_in_calls_and_message() {
    let call = |text: &str| json!({"id": "call_0", "function": {"name": "f", "arguments": text}});
    let body = json!({"choices": [{"finish_reason": "length", "message": {
        "role": "assistant", "tool_calls": [call("{}"), call("{\"a\":1}")],
    }}]});
    let response = Api::OpenAiChat.read(&body).expect("a response");
    assert_eq!(response.finish, Some(FinishReason::Length));
    let second = &response.calls[1];
    assert_eq!(second.id.as_ref().map(|it| it.as_str()), Some("call_0-2"));
    assert_eq!(response.message["tool_calls"][1]["id"], "call_0-2");
    assert_eq!(second.arguments, Arguments::Text("{\"a\":1}".to_owned()));
}

#[test]
fn a_body_that_is_no_response_is_an_error() {
    let error = Api::Gemini
        .read(&json!({"error": {}}))
        .expect_err("no response");
    assert_eq!(error.to_string(), "response of Gemini has no content");
}
