//! From the bytes of a model's response to the next request, for each API: the calls run while the
//! response streams in, and both what was streamed and what is sent next are read by the types of a
//! client that others keep.
//!
//! The streams are written after the documentation of each API.

use async_openai::types::chat::{CreateChatCompletionRequest, CreateChatCompletionStreamResponse};
use async_openai::types::responses::{CreateResponse, ResponseStreamEvent};
use futures_util::{StreamExt as _, stream};
use gemini_client_api::gemini::types::request::{Chat as GeminiContent, Tool as GeminiTool};
use gemini_client_api::gemini::types::response::GeminiResponse;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tool_runtime::core::{Call, Facts, FinishReason, Outcome, Produced, Settlement};
use tool_runtime::permission::{Layer, Rule};
use tool_runtime::provider::{Api, Profile, Response, ResponseStream, ToolList};
use tool_runtime::registry::{Registration, Snapshot, TurnEvent};
use tool_runtime::{Content, Runtime, Tool, ToolFailure, TurnParts};

/// One API: what its requests carry, what it streams, and who reads both.
pub(crate) struct Wire {
    pub(crate) api: Api,
    pub(crate) profile: Profile,
    stream: fn() -> ResponseStream,
    bytes: &'static [u8],
    /// Whether a client knows an event.
    reads_event: fn(&Value) -> Result<(), String>,
    /// The next request, as a client knows it, from tools, the message, and the results.
    pub(crate) request: fn(&ToolList, &Value, Vec<Value>) -> (Value, Read),
}

/// Whether a client knows something, and why it does not.
pub(crate) type Read = Result<(), String>;

fn reads<T: DeserializeOwned>(value: &Value) -> Result<(), String> {
    let read = serde_json::from_value::<T>(value.clone());
    read.map(drop)
        .map_err(|error| format!("{error} in {value}"))
}

pub(crate) fn wires() -> [Wire; 4] {
    [
        Wire {
            api: Api::AnthropicMessages,
            profile: Profile::Anthropic,
            stream: ResponseStream::anthropic,
            bytes: include_bytes!("model_turns/anthropic.sse"),
            reads_event: reads::<misanthropic::stream::Event>,
            request: |tools, message, results| {
                let mut messages = vec![json!({"role": "user", "content": "Read both."})];
                messages.push(message.clone());
                messages.extend(results);
                let body = json!({
                    "model": "claude-sonnet-4-5-20250929",
                    "max_tokens": 1024,
                    "messages": messages,
                    "tools": tools.to_value(),
                });
                let read = reads::<misanthropic::Prompt>(&body);
                (body, read)
            },
        },
        Wire {
            api: Api::OpenAiChat,
            profile: Profile::OpenAiChatStrict,
            stream: ResponseStream::openai_chat,
            bytes: include_bytes!("model_turns/chat.sse"),
            reads_event: reads::<CreateChatCompletionStreamResponse>,
            request: |tools, message, results| {
                let mut messages = vec![json!({"role": "user", "content": "Read both."})];
                messages.push(message.clone());
                messages.extend(results);
                let body =
                    json!({"model": "gpt-5.1", "messages": messages, "tools": tools.to_value()});
                let read = reads::<CreateChatCompletionRequest>(&body);
                (body, read)
            },
        },
        Wire {
            api: Api::OpenAiResponses,
            profile: Profile::OpenAiResponses,
            stream: ResponseStream::openai_responses,
            bytes: include_bytes!("model_turns/responses.sse"),
            reads_event: reads::<ResponseStreamEvent>,
            request: |tools, message, results| {
                let mut input = vec![json!({"role": "user", "content": "Read both."})];
                input.extend(message.as_array().unwrap().clone());
                input.extend(results);
                let body = json!({"model": "gpt-5.1", "input": input, "tools": tools.to_value()});
                let read = reads::<CreateResponse>(&body);
                (body, read)
            },
        },
        Wire {
            api: Api::Gemini,
            profile: Profile::Gemini,
            stream: ResponseStream::gemini,
            bytes: include_bytes!("model_turns/gemini.sse"),
            reads_event: reads::<GeminiResponse>,
            request: |tools, message, results| {
                let mut contents = vec![json!({"role": "user", "parts": [{"text": "Read both."}]})];
                contents.push(message.clone());
                contents.extend(results);
                let body = json!({"contents": contents, "tools": tools.to_value()});
                // The client's own request is private; these are its parts. Of the two spellings
                // that the API takes it knows one.
                let contents = body["contents"].to_string();
                let contents = contents.replace("\"mimeType\"", "\"mime_type\"");
                let contents = serde_json::from_str(&contents).unwrap();
                let read = reads::<Vec<GeminiContent>>(&contents)
                    .and_then(|()| reads::<Vec<GeminiTool>>(&body["tools"]));
                (body, read)
            },
        },
    ]
}

/// The events of a stream, as a client of server-sent events gives them.
fn events(bytes: &[u8]) -> Vec<Value> {
    let text = std::str::from_utf8(bytes).unwrap();
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    data.filter(|data| *data != "[DONE]")
        .map(|data| serde_json::from_str(data).unwrap())
        .collect()
}

/// A runtime that reads files which are not there but for `a`.
async fn runtime() -> (Runtime, Registration) {
    let schema = json!({
        "type": "object",
        "properties": {"file name": {"type": "string"}, "limit": {"type": "integer"}},
        "required": ["file name"],
        "additionalProperties": false,
    });
    let read = Tool::dynamic("Reads a file", schema, |input: Value, _| async move {
        assert!(input.get("limit").is_none_or(Value::is_i64), "{input}");
        match input["file name"].as_str() {
            Some("a") => {
                let content = [
                    Content::text("the text of a"),
                    Content::image("image/png", b"png".as_slice()),
                ];
                Ok(Produced::value("the text of a").with_content(content))
            }
            _ => Err(ToolFailure::new("there is no such file").into()),
        }
    });
    let rules = Layer::new("test", [Rule::allow("call", "*")]).unwrap();
    let runtime = Runtime::builder().rules(rules).build().await.unwrap();
    let registered = runtime.register([("read", read)]).unwrap();
    (runtime, registered)
}

/// Runs a turn over a part of a stream; what was settled, how it ended, and the response.
async fn turn(
    wire: &Wire,
    request: &Snapshot,
    tools: &ToolList,
    events: Vec<Value>,
) -> (Vec<Settlement>, Result<FinishReason, String>, Response) {
    let mut parts = TurnParts::new((wire.stream)(), tools);
    let events = stream::iter(events).map(Ok::<_, std::io::Error>);
    let mut turn = request.turn(&Facts::new()).run(parts.follow(events));
    let (mut settled, mut ended) = (Vec::new(), None);
    while let Some(event) = turn.next().await {
        match event {
            TurnEvent::Settled { settlement, .. } => settled.push(*settlement),
            TurnEvent::Finish(reason) => ended = Some(Ok(reason)),
            TurnEvent::Failed(failure) => ended = Some(Err(failure.to_string())),
            TurnEvent::Malformed(error) => panic!("{error}"),
            _ => {}
        }
    }
    drop(turn);
    (settled, ended.unwrap(), parts.response())
}

#[tokio::test]
async fn from_the_bytes_of_a_response_to_the_next_request_of_each_api() {
    let (runtime, _read) = runtime().await;
    let request = runtime.snapshot();
    for wire in wires() {
        let name = format!("{:?}", wire.api);
        let tools = runtime.tool_list(&request, wire.profile);
        assert!(tools.quarantined().is_empty(), "{name}");
        let events = events(wire.bytes);
        for event in &events {
            assert_eq!((wire.reads_event)(event), Ok(()), "{name}");
        }
        let (settled, ended, response) = turn(&wire, &request, &tools, events).await;
        assert!(ended.unwrap().is_complete(), "{name}");
        let outcomes: Vec<_> = settled.iter().map(|it| it.outcome.as_str()).collect();
        assert_eq!(outcomes.len(), 2, "{name}");
        assert!(
            outcomes.contains(&"completed") && outcomes.contains(&"failed"),
            "{name} {outcomes:?}"
        );

        let results = wire.api.results(&response.calls, &settled);
        let (body, read) = (wire.request)(&tools, &response.message, results);
        assert_eq!(read, Ok(()), "{name}");
        insta::assert_json_snapshot!(format!("next-request-{name}"), body);
    }
}

#[tokio::test]
async fn a_response_that_broke_off_anywhere_runs_no_open_call_and_the_next_request_is_whole() {
    let (runtime, _read) = runtime().await;
    let request = runtime.snapshot();
    for wire in wires() {
        let tools = runtime.tool_list(&request, wire.profile);
        let events = events(wire.bytes);
        for length in 0..events.len() {
            let name = format!("{:?} after {length}", wire.api);
            let events = events[..length].to_vec();
            let (settled, ended, response) = turn(&wire, &request, &tools, events).await;
            let Err(failure) = ended else {
                continue;
            };
            assert!(failure.contains("the stream ended before"), "{failure}");
            // The newest call never runs: nothing came that shows the response to have gone past it.
            let stopped = settled.iter().filter(|it| {
                matches!(
                    it.outcome,
                    Outcome::NotDispatched { .. } | Outcome::Cancelled
                )
            });
            let ran = settled.len() - stopped.count();
            assert!(ran == 0 || ran < response.calls.len(), "{name}");
            let results = wire.api.results(&response.calls, &settled);
            if response.message.is_null() {
                assert!(response.calls.is_empty(), "{name}");
                continue;
            }
            let (_, read) = (wire.request)(&tools, &response.message, results);
            assert_eq!(read, Ok(()), "{name}");
        }
    }
}

#[tokio::test]
async fn a_whole_response_becomes_a_turn_and_one_that_was_cut_off_runs_nothing() {
    let (runtime, _read) = runtime().await;
    let request = runtime.snapshot();
    let tools = runtime.tool_list(&request, Profile::OpenAiChat);
    let call = |id: &str| json!({"id": id, "function": {"name": "read", "arguments": "{\"file name\":\"a\"}"}});
    for (reason, outcome) in [("tool_calls", "completed"), ("length", "not_dispatched")] {
        let body = json!({"choices": [{"finish_reason": reason, "message": {
            "role": "assistant", "tool_calls": [call("call_0"), call("call_0")],
        }}]});
        let response = Api::OpenAiChat.read(&body).unwrap();
        let parts = TurnParts::of(&response, &tools);
        let mut turn = request.turn(&Facts::new()).run_whole(parts);
        while turn.next().await.is_some() {}
        let results = turn.into_history().results();
        let seen: Vec<_> = results
            .iter()
            .map(|it| (it.id.as_ref().unwrap().as_str(), it.outcome.as_str()))
            .collect();
        assert_eq!(seen, [("call_0", outcome), ("call_0-2", outcome)]);
    }
}

#[tokio::test]
async fn arguments_that_have_two_readings_reach_the_tool_of_neither() {
    let (runtime, _read) = runtime().await;
    let request = runtime.snapshot();
    let tools = runtime.tool_list(&request, Profile::Anthropic);
    let body = json!({"content": [
        {"type": "tool_use", "id": "a", "name": "read",
            "input": "{\"file_name_1\": \"a\", \"file_name_1\": \"b\"}"},
    ], "stop_reason": "tool_use"});
    let response = Api::AnthropicMessages.read(&body).unwrap();
    let call: Call = tools.restore(response.calls[0].clone()).into_call();
    let settled = request.settle(call, &Facts::new()).await;
    assert_eq!(settled.outcome.as_str(), "refused");
    assert!(settled.text().contains("twice"), "{}", settled.text());
}

#[tokio::test]
async fn a_tool_that_changed_is_projected_anew_and_a_bad_one_fails_no_other() {
    let (runtime, _read) = runtime().await;
    let list = || runtime.tool_list(&runtime.snapshot(), Profile::Anthropic);
    let before = list();
    assert!(std::sync::Arc::ptr_eq(&before, &list()), "it is made once");

    let of = |schema: Value| Tool::dynamic("Opens it", schema, |_, _| async { Ok(json!(null)) });
    let branches = json!([{"required": ["content"]}, {"required": ["source_url"]}]);
    let changed = of(json!({"type": "object", "anyOf": branches}));
    let bad = json!({"type": "object", "properties": {"x": {"enum": ["A"], "type": "null"}}});
    let registered = runtime
        .register([("changed", changed), ("bad", of(bad))])
        .unwrap();
    let after = list();
    let names: Vec<_> = after.tools().iter().map(|it| it.name()).collect();
    assert_eq!(names, ["changed", "read"]);
    assert!(after.tools()[0].schema().get("anyOf").is_none());
    assert_eq!(after.quarantined()[0].tool, "bad");

    drop(registered);
    assert_eq!(list().as_json(), before.as_json());
}
