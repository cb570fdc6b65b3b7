use serde_json::{Value, json};
use tool_runtime::TurnParts;
use tool_runtime::core::FinishReason;
use tool_runtime::provider::{Api, Profile, ResponseStream, ToolList};
use tool_runtime::registry::{Part, Registry};

fn tools() -> ToolList {
    Profile::OpenAiChat.tools(Registry::default().snapshot().definitions())
}

fn whole(finish: &Value) -> Vec<Part> {
    let call = json!({"id": "a", "function": {"name": "f", "arguments": "{}"}});
    let body = json!({"choices": [
        {"finish_reason": finish, "message": {"role": "assistant", "tool_calls": [call]}}]});
    TurnParts::of(&Api::OpenAiChat.read(&body).expect("a response"), &tools())
}

fn runs(parts: &[Part]) -> bool {
    parts.iter().any(|part| matches!(part, Part::Call(_)))
}

#[test]
fn no_call_of_a_response_that_does_not_say_why_it_ended_runs() {
    assert!(runs(&whole(&json!("tool_calls"))));
    let parts = whole(&Value::Null);
    assert!(!runs(&parts), "{parts:?}");
    let missing = FinishReason::Other("missing".to_owned());
    assert!(matches!(parts.last(), Some(Part::Finish(reason)) if *reason == missing));
}

#[test]
fn a_call_of_mcp_is_whole_without_a_reason() {
    let body = json!({"id": 1, "method": "tools/call", "params": {"name": "f", "arguments": {}}});
    let parts = TurnParts::of(&Api::Mcp.read(&body).unwrap(), &tools());
    assert!(runs(&parts), "{parts:?}");
}

#[test]
fn the_arguments_of_a_response_that_failed_are_on_record_as_far_as_they_came() {
    let tools = tools();
    let mut parts = TurnParts::new(ResponseStream::openai_chat(), &tools);
    parts.feed(&json!({"choices": [{"delta": {"tool_calls": [
        {"index": 0, "id": "a", "function": {"name": "f", "arguments": "{\"x\""}}]}}]}));
    let end = parts.end();
    assert!(matches!(
        &end[0],
        Ok(Part::Arguments { index: 0, text }) if text == "{\"x\""
    ));
    assert!(end[1].is_err());
    assert_eq!(end.len(), 2);
}
