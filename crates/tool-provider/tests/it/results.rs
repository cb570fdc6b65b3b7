//! Results of calls, as every API takes them.

use serde_json::{Value, json};
use tool_core::{Content, Outcome, Settlement};
use tool_provider::{Api, Response};

fn two_calls() -> Response {
    let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "read", "input": {}});
    let body = json!({"stop_reason": "tool_use", "content": [call("a"), call("b"), call("c")]});
    Api::AnthropicMessages.read(&body).expect("a response")
}

fn settled() -> Vec<Settlement> {
    let mut shown = Settlement::without_output(Some("a".into()), "read", Outcome::Completed);
    shown.content = vec![
        Content::text("one"),
        Content::image("image/png", b"png".as_slice()),
    ];
    let cancelled = Settlement::without_output(Some("b".into()), "read", Outcome::Cancelled);
    vec![shown, cancelled]
}

#[test]
fn every_call_has_its_result_in_call_order_whatever_became_of_it() {
    let calls = two_calls().calls;
    let sent = Api::AnthropicMessages.results(&calls, &settled());
    let content = sent[0]["content"].as_array().expect("blocks");
    let ids: Vec<&Value> = content.iter().map(|it| &it["tool_use_id"]).collect();
    assert_eq!(ids, ["a", "b", "c"]);
    let errors: Vec<&Value> = content.iter().map(|it| &it["is_error"]).collect();
    assert_eq!(errors, [false, true, true]);
    assert_eq!(content[0]["content"][1]["source"]["data"], "cG5n");
    assert_eq!(content[2]["content"][0]["text"], "the call was not started");
}

#[test]
fn chat_has_a_message_for_each_call_and_media_after_all_of_them() {
    let sent = Api::OpenAiChat.results(&two_calls().calls, &settled());
    let roles: Vec<&Value> = sent.iter().map(|it| &it["role"]).collect();
    assert_eq!(roles, ["tool", "tool", "tool", "user"]);
    assert_eq!(sent[1]["content"], "Error: the call was cancelled");
}

#[test]
fn the_other_apis_have_one_result_for_each_call() {
    let calls = two_calls().calls;
    let responses = Api::OpenAiResponses.results(&calls, &settled());
    assert_eq!(responses.len(), 3);
    assert_eq!(responses[0]["output"][1]["type"], "input_image");

    let gemini = Api::Gemini.results(&calls, &settled());
    let parts = gemini[0]["parts"].as_array().expect("parts");
    assert_eq!(
        parts
            .iter()
            .filter(|it| it.get("functionResponse").is_some())
            .count(),
        3
    );
    assert!(parts[1]["functionResponse"]["response"]["error"].is_string());

    let mcp = Api::Mcp.results(&calls, &settled());
    assert_eq!(mcp[0]["content"][1]["type"], "image");
    assert_eq!(mcp[1]["isError"], true);
}

#[test]
fn a_settlement_answers_the_call_of_its_id_wherever_it_stands() {
    let calls = two_calls().calls;
    let mut settled = settled();
    settled.reverse();
    let sent = Api::OpenAiChat.results(&calls, &settled);
    assert_eq!(sent[0]["content"], "one");
    assert_eq!(sent[1]["content"], "Error: the call was cancelled");
    assert_eq!(sent[2]["content"], "Error: the call was not started");
}
