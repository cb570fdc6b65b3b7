//! Calls that did not run are answered too, for each API: what was denied, cancelled and never
//! started stands in the next request beside what was done, in the order of the calls, and the types
//! of a client that others keep take that request.

use std::sync::Arc;

use futures_util::{StreamExt as _, stream};
use serde_json::{Value, json};
use tokio::sync::Notify;
use tool_runtime::core::{Facts, Settlement};
use tool_runtime::permission::{Layer, Rule};
use tool_runtime::provider::{Api, Profile, Response, ToolList};
use tool_runtime::registry::{Part, Registration, Snapshot, TurnEvent};
use tool_runtime::{Runtime, Tool, TurnParts};

use crate::model_turns::wires;

/// The tools that one response calls, in this order, and how each call ends.
const CALLED: [(&str, &str); 4] = [
    ("forbidden", "refused"),
    ("slow", "cancelled"),
    ("quick", "completed"),
    ("late", "not_dispatched"),
];

/// A whole response that calls each of them.
fn response(api: Api) -> Value {
    let names = CALLED.map(|(name, _)| name);
    let id = |name: &str| format!("call_{name}");
    match api {
        Api::AnthropicMessages => {
            let call =
                |name: &str| json!({"type": "tool_use", "id": id(name), "name": name, "input": {}});
            json!({"stop_reason": "tool_use", "content": names.map(call)})
        }
        Api::OpenAiChat => {
            let call = |name: &str| {
                let function = json!({"name": name, "arguments": "{}"});
                json!({"id": id(name), "type": "function", "function": function})
            };
            json!({"choices": [{"finish_reason": "tool_calls", "message": {
                "role": "assistant", "content": null, "tool_calls": names.map(call),
            }}]})
        }
        Api::OpenAiResponses => {
            let call = |name: &str| {
                json!({"type": "function_call", "id": format!("fc_{name}"), "call_id": id(name),
                    "name": name, "arguments": "{}", "status": "completed"})
            };
            json!({"status": "completed", "output": names.map(call)})
        }
        _ => {
            let call = |name: &str| json!({"functionCall": {"name": name, "args": {}}});
            let content = json!({"role": "model", "parts": names.map(call)});
            json!({"candidates": [{"finishReason": "STOP", "content": content}]})
        }
    }
}

/// For whom each result is, and what it says, in the order of the request.
fn answers(api: Api, results: &[Value]) -> Vec<(String, String)> {
    let of = |result: &Value, id: &str, said: &str| {
        let text = |at: &str| result.pointer(at).and_then(Value::as_str);
        (
            text(id).unwrap().replace("call_", ""),
            text(said).unwrap_or_default().to_owned(),
        )
    };
    match api {
        Api::AnthropicMessages => {
            let blocks = results[0]["content"].as_array().unwrap();
            let answer = |it| of(it, "/tool_use_id", "/content/0/text");
            blocks.iter().map(answer).collect()
        }
        Api::OpenAiChat => {
            let answer = |it| of(it, "/tool_call_id", "/content");
            results.iter().map(answer).collect()
        }
        Api::OpenAiResponses => {
            let answer = |it| of(it, "/call_id", "/output");
            results.iter().map(answer).collect()
        }
        _ => {
            let parts = results[0]["parts"].as_array().unwrap();
            let answer = |part: &Value| {
                let said = match part.pointer("/functionResponse/response/error") {
                    Some(_) => "/functionResponse/response/error",
                    None => "/functionResponse/response/output",
                };
                of(part, "/functionResponse/name", said)
            };
            parts.iter().map(answer).collect()
        }
    }
}

/// A runtime with these tools. One of them waits for ever once it has begun.
async fn runtime(begun: Arc<Notify>) -> (Runtime, Registration) {
    let rules = [Rule::allow("call", "*"), Rule::deny("call", "forbidden")];
    let rules = Layer::new("test", rules).unwrap();
    let runtime = Runtime::builder().rules(rules).build().await.unwrap();
    let tools = CALLED.map(|(name, _)| {
        let begun = begun.clone();
        let run = move |_: Value, _| {
            let begun = begun.clone();
            async move {
                if name == "slow" {
                    begun.notify_one();
                    std::future::pending::<()>().await;
                }
                Ok(json!(format!("{name} is done")))
            }
        };
        let schema = json!({"type": "object", "properties": {}});
        (name, Tool::dynamic("Does it", schema, run))
    });
    let registered = runtime.register(tools).unwrap();
    (runtime, registered)
}

/// Settles the calls of a response whose connection is lost while one of them runs.
async fn settle(
    request: &Snapshot,
    tools: &ToolList,
    response: &Response,
    begun: &Notify,
) -> Vec<Settlement> {
    let calls = TurnParts::of(response, tools).into_iter();
    let calls = calls.filter(|part| matches!(part, Part::Call(_))).map(Ok);
    // The first two settle on their own, and the last one never begins: nothing comes after it.
    let lost = stream::once(async {
        begun.notified().await;
        Err(std::io::Error::other("the connection is lost"))
    });
    let parts = stream::iter(calls).chain(lost);
    let mut turn = request.turn(&Facts::new()).run(Box::pin(parts));
    let mut settled: Vec<Option<Settlement>> = vec![None; CALLED.len()];
    let mut failed = false;
    while let Some(event) = turn.next().await {
        match event {
            TurnEvent::Settled {
                position,
                settlement,
            } => {
                let before = settled[position].replace(*settlement);
                assert!(before.is_none(), "{position} is settled once");
            }
            TurnEvent::Failed(_) => failed = true,
            _ => {}
        }
    }
    assert!(failed);
    settled.into_iter().map(Option::unwrap).collect()
}

#[tokio::test]
async fn denied_cancelled_and_unstarted_calls_are_answered_in_the_next_request_of_each_api() {
    for wire in wires() {
        let name = format!("{:?}", wire.api);
        let begun = Arc::new(Notify::new());
        let (runtime, _tools) = runtime(begun.clone()).await;
        let request = runtime.snapshot();
        let tools = runtime.tool_list(&request, wire.profile);
        let response = wire.api.read(&response(wire.api)).unwrap();
        let settled = settle(&request, &tools, &response, &begun).await;
        let outcomes: Vec<_> = settled.iter().map(|it| it.outcome.as_str()).collect();
        assert_eq!(outcomes, CALLED.map(|(_, outcome)| outcome), "{name}");

        let results = wire.api.results(&response.calls, &settled);
        let answers = answers(wire.api, &results);
        let answered: Vec<_> = answers.iter().map(|(call, _)| call.as_str()).collect();
        assert_eq!(answered, CALLED.map(|(call, _)| call), "{name}");
        for ((call, said), settled) in answers.iter().zip(&settled) {
            assert!(said.contains(&settled.text()), "{name} {call}: {said}");
            assert!(!settled.text().is_empty(), "{name} {call}");
        }
        let (body, read) = (wire.request)(&tools, &response.message, results);
        assert_eq!(read, Ok(()), "{name}");
        // The message that made the calls is repeated, and every one of them in it.
        let text = body.to_string();
        for (call, _) in CALLED {
            assert!(text.matches(call).count() >= 3, "{name} {call}: {text}");
        }
    }
}

#[tokio::test]
async fn requests_to_those_who_speak_chat_are_read_by_the_types_of_its_client() {
    let (runtime, _tools) = runtime(Arc::default()).await;
    let request = runtime.snapshot();
    let [_, chat, ..] = wires();
    let response = chat.api.read(&response(chat.api)).unwrap();
    for profile in [
        Profile::OpenAiChat,
        Profile::OpenAiChatStrict,
        Profile::Mistral,
        Profile::Groq,
        Profile::Kimi,
        Profile::Generic,
    ] {
        let tools = runtime.tool_list(&request, profile);
        assert_eq!(tools.tools().len(), CALLED.len(), "{profile}");
        let results = chat.api.results(&response.calls, &[]);
        let (_, read) = (chat.request)(&tools, &response.message, results);
        assert_eq!(read, Ok(()), "{profile}");
    }
}
