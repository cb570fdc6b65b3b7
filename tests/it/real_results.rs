//! Real results of MCP servers, through the whole runtime, as each provider's next request has
//! them.

use std::path::Path;

use serde_json::{Value, json};
use tool_runtime::core::{Bound, Call, Content, Facts, PageRequest, Produced, ToolFailure};
use tool_runtime::permission::{Layer, Rule};
use tool_runtime::provider::Api;
use tool_runtime::{Runtime, Tool};

/// A tool that answers as a server did, its blocks and its structured copy as they came.
fn replays(result: &Value) -> Tool {
    let (blocks, structured) = (result["content"].clone(), result.get("structuredContent"));
    let (structured, failed) = (structured.cloned(), result["isError"] == true);
    Tool::dynamic("Replays", json!({"type": "object"}), move |_: Value, _| {
        let texts = blocks.as_array().into_iter().flatten();
        let content: Vec<Content> = texts
            .filter_map(|block| block["text"].as_str().map(Content::text))
            .collect();
        let structured = structured.clone();
        async move {
            if failed {
                return Err(ToolFailure::new("it failed").content(content).into());
            }
            Ok(match structured {
                Some(output) => Produced::value(output).with_content(content),
                None => Produced::content(content),
            })
        }
    })
}

#[tokio::test]
async fn of_a_result_in_text_and_in_structure_one_copy_reaches_the_model_and_both_can_be_read() {
    let Some(corpus) = std::env::var_os("TOOL_CORPUS") else {
        println!(
            "skipped of_a_result_in_text_and_in_structure_one_copy_reaches_the_model_and_both_can_be_read: TOOL_CORPUS is not set"
        );
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let layer = Layer::new("test", [Rule::allow("*", "*")]).unwrap();
    let runtime = Runtime::builder()
        .state(dir.path().join("state"))
        .rules(layer);
    let runtime = runtime.build().await.unwrap();
    let facts = Facts::new().session("s");
    let function = json!({"name": "replayed", "arguments": "{}"});
    let made = json!({"id": "c1", "type": "function", "function": function});
    let response = json!({"choices": [{"message": {"role": "assistant", "tool_calls": [made]}}]});
    let calls = Api::OpenAiChat.read(&response).unwrap().calls;
    let (mut twice, mut cut, mut failed) = (0, 0, 0);
    for file in std::fs::read_dir(Path::new(&corpus).join("mcp-results")).unwrap() {
        let recorded: Value =
            serde_json::from_slice(&std::fs::read(file.unwrap().path()).unwrap()).unwrap();
        let result = recorded.pointer("/response/result").unwrap_or(&recorded);
        let _tool = runtime.register([("replayed", replays(result))]).unwrap();
        let settled = runtime
            .snapshot()
            .settle(Call::new("replayed", "{}"), &facts)
            .await;
        assert_eq!(settled.is_error(), result["isError"] == true);
        failed += usize::from(settled.is_error());

        // What programs are given is whole, whatever the model is shown.
        if let Some(structured) = result.get("structuredContent") {
            assert_eq!(settled.structured(), Some(structured));
        }
        let texts = result["content"].as_array().into_iter().flatten();
        let whole: Vec<&str> = texts.filter_map(|block| block["text"].as_str()).collect();
        let whole = whole.join("\n");
        let shown = settled.text();
        assert!(shown.len() <= Bound::DEFAULT.bytes() + 4);
        if let [kept] = &settled.retained[..] {
            cut += 1;
            let (mut read, mut next) = (Vec::new(), Some(0));
            while let Some(offset) = next {
                let request = PageRequest::new(&kept.id, Some(&facts)).offset(offset);
                let page = runtime.outputs().unwrap().page(request).await.unwrap();
                read.extend_from_slice(&page.bytes);
                next = page.next;
            }
            assert!(read == whole.as_bytes(), "what is kept is what came");
        } else if !whole.is_empty() {
            assert_eq!(shown, whole);
        }

        // The model's request has the text once, and nothing of the structured copy beside it.
        for api in [
            Api::AnthropicMessages,
            Api::OpenAiChat,
            Api::OpenAiResponses,
            Api::Gemini,
        ] {
            let request = Value::from(api.results(&calls, std::slice::from_ref(&settled)));
            let said = texts_of(&request);
            let most = shown.len() + 500;
            assert!(said <= most, "{said} bytes for {}", shown.len());
        }
        twice += usize::from(result.get("structuredContent").is_some() && !whole.is_empty());
    }
    assert!(
        twice >= 10 && cut >= 8 && failed >= 5,
        "{twice} {cut} {failed}"
    );
}

/// The bytes of all strings in a request.
fn texts_of(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(texts_of).sum(),
        Value::Object(members) => members.values().map(texts_of).sum(),
        _ => 0,
    }
}
