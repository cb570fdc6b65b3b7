//! The scenarios of the official suite over a pair of streams, which it does not cover, with exact
//! texts, which it does not compare.

use serde_json::{Value, json};

use crate::registry::{Served, served};
use crate::support::peer::Peer;

/// What a client can be asked for here.
fn able() -> Value {
    json!({"elicitation": {}, "sampling": {}, "roots": {}})
}

/// A client after its handshake, and what serves it for as long as it is held.
async fn with_handshake() -> (Peer, Served) {
    let served = served().expect("well defined");
    let mut peer = Peer::unconnected(&served.server);
    let params = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": able(),
        "clientInfo": {"name": "test", "version": "1"},
    });
    peer.ask(0, "initialize", params).await;
    peer.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
        .await;
    (peer, served)
}

fn stateless(mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": able(),
    });
    params
}

fn text(text: &str) -> Value {
    json!([{"type": "text", "text": text}])
}

#[tokio::test]
async fn tools_give_the_same_content_in_both_eras() {
    let (mut peer, _served) = with_handshake().await;
    let png =
        peer.call(1, "test_image_content", json!({})).await["result"]["content"][0]["data"].clone();
    assert!(png.as_str().expect("it is text").starts_with("iVBORw0KGgo"));
    let wav =
        peer.call(2, "test_audio_content", json!({})).await["result"]["content"][0]["data"].clone();
    assert!(wav.as_str().expect("it is text").starts_with("UklGR"));
    let failure = "This tool intentionally returns an error for testing";
    for (tool, content, is_error) in [
        (
            "test_simple_text",
            text("This is a simple text response for testing."),
            false,
        ),
        (
            "test_image_content",
            json!([{"type": "image", "data": png, "mimeType": "image/png"}]),
            false,
        ),
        (
            "test_audio_content",
            json!([{"type": "audio", "data": wav, "mimeType": "audio/wav"}]),
            false,
        ),
        (
            "test_embedded_resource",
            json!([{"type": "resource", "resource": {
                "uri": "test://embedded-resource",
                "mimeType": "text/plain",
                "text": "This is an embedded resource content.",
            }}]),
            false,
        ),
        (
            "test_multiple_content_types",
            json!([
                {"type": "text", "text": "Multiple content types test:"},
                {"type": "image", "data": png, "mimeType": "image/png"},
                {"type": "resource", "resource": {
                    "uri": "test://mixed-content-resource",
                    "mimeType": "application/json",
                    "text": r#"{"test":"data","value":123}"#,
                }},
            ]),
            false,
        ),
        ("test_error_handling", text(failure), true),
    ] {
        let params = json!({"name": tool});
        let answer = peer.ask(3, "tools/call", params.clone()).await;
        assert_eq!(
            answer["result"],
            json!({"content": content, "isError": is_error})
        );
        let answer = peer.ask(4, "tools/call", stateless(params)).await;
        let result = &answer["result"];
        assert_eq!(result["content"], content, "{tool}");
        assert_eq!(result["isError"], is_error, "{tool}");
        assert_eq!(result["resultType"], "complete", "{tool}");
    }
}

#[tokio::test]
async fn logs_reach_a_client_that_wants_them() {
    let told = [
        "Tool execution started",
        "Tool processing data",
        "Tool execution completed",
    ];
    let (mut peer, _served) = with_handshake().await;
    peer.request(1, "tools/call", json!({"name": "test_tool_with_logging"}))
        .await;
    for data in told {
        let message = peer.receive().await;
        assert_eq!(message["method"], "notifications/message");
        assert_eq!(message["params"], json!({"level": "info", "data": data}));
    }
    assert_eq!(
        peer.receive().await["result"]["content"],
        text("Logging completed")
    );
    // Nothing below the level that was set.
    peer.ask(2, "logging/setLevel", json!({"level": "warning"}))
        .await;
    peer.request(3, "tools/call", json!({"name": "test_tool_with_logging"}))
        .await;
    assert_eq!(peer.receive().await["id"], 3);
    // Without a handshake only where the request asks for it.
    let params = stateless(json!({"name": "test_logging_tool"}));
    peer.request(4, "tools/call", params.clone()).await;
    assert_eq!(peer.receive().await["id"], 4);
    let mut params = params;
    params["_meta"]["io.modelcontextprotocol/logLevel"] = "debug".into();
    peer.request(5, "tools/call", params).await;
    assert_eq!(peer.receive().await["params"]["data"], told[0]);
}

#[tokio::test]
async fn a_client_with_a_handshake_is_asked_by_requests() {
    let (mut peer, _served) = with_handshake().await;
    for (tool, arguments, method, params, answer, expected) in [
        (
            "test_sampling",
            json!({"prompt": "hi"}),
            "sampling/createMessage",
            json!({
                "messages": [{"role": "user", "content": {"type": "text", "text": "hi"}}],
                "maxTokens": 100,
            }),
            json!({"role": "assistant", "content": {"type": "text", "text": "ho"}, "model": "m"}),
            "LLM response: ho",
        ),
        (
            "test_elicitation",
            json!({"message": "Who?"}),
            "elicitation/create",
            json!({"message": "Who?", "requestedSchema": {
                "type": "object",
                "properties": {"username": {"type": "string"}, "email": {"type": "string"}},
                "required": ["username", "email"],
            }}),
            json!({"action": "decline"}),
            r#"User response: {"action":"decline"}"#,
        ),
    ] {
        let call = json!({"name": tool, "arguments": arguments});
        peer.request(1, "tools/call", call).await;
        let asked = peer.receive().await;
        assert_eq!(asked["method"], method);
        assert_eq!(asked["params"], params);
        peer.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": answer}))
            .await;
        assert_eq!(peer.receive().await["result"]["content"], text(expected));
    }
}

#[tokio::test]
async fn a_client_without_a_handshake_is_asked_by_the_result() {
    let (mut peer, _served) = with_handshake().await;
    let name = "test_input_required_result_multi_round";
    let first = peer
        .ask(1, "tools/call", stateless(json!({"name": name})))
        .await["result"]
        .clone();
    assert_eq!(first["resultType"], "input_required");
    assert_eq!(
        first["inputRequests"],
        json!({"step1": {"method": "elicitation/create", "params": {
            "message": "Step 1: What is your name?",
            "requestedSchema": {
                "type": "object",
                "properties": {"name": {"type": "string"}},
                "required": ["name"],
            },
        }}})
    );
    let answered = |key: &str, content: Value, state: &Value| {
        stateless(json!({
            "name": name,
            "inputResponses": {key: {"action": "accept", "content": content}},
            "requestState": state,
        }))
    };
    let params = answered("step1", json!({"name": "Ann"}), &first["requestState"]);
    let second = peer.ask(2, "tools/call", params).await["result"].clone();
    assert_ne!(second["requestState"], first["requestState"]);
    let params = answered("step2", json!({"color": "blue"}), &second["requestState"]);
    let done = peer.ask(3, "tools/call", params).await;
    assert_eq!(done["result"]["content"], text("Ann likes blue"));

    // A state is good for the request that it was made for, as it was made.
    let mut torn = second["requestState"].as_str().expect("text").to_owned();
    torn.insert(30, 'A');
    for (tool, state) in [
        (name, json!(torn)),
        (
            "test_input_required_result_elicitation",
            second["requestState"].clone(),
        ),
        (name, json!("")),
    ] {
        let params = stateless(json!({"name": tool, "requestState": state}));
        let answer = peer.ask(4, "tools/call", params).await;
        assert_eq!(answer["error"]["code"], -32602, "{state}");
    }
}

#[tokio::test]
async fn a_client_that_cannot_be_asked_is_told_what_is_missing() {
    let (mut peer, served) = with_handshake().await;
    let mut params = stateless(json!({"name": "test_missing_capability"}));
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
    let answer = peer.ask(1, "tools/call", params).await;
    assert_eq!(answer["error"]["code"], -32021);
    assert_eq!(
        answer["error"]["data"],
        json!({"requiredCapabilities": {"sampling": {}}})
    );
    let mut old = Peer::connect(&served.server).await;
    let answer = old.call(1, "test_missing_capability", json!({})).await;
    assert_eq!(answer["result"]["isError"], true);
    assert_eq!(
        answer["result"]["content"],
        text("client cannot ask its model")
    );
}

#[tokio::test]
async fn resources_prompts_and_completions_are_offered() {
    let (mut peer, _served) = with_handshake().await;
    let list = peer.ask(1, "resources/list", json!({})).await;
    let uris: Vec<_> = list["result"]["resources"]
        .as_array()
        .expect("it is a list")
        .iter()
        .map(|resource| resource["uri"].clone())
        .collect();
    assert_eq!(
        uris,
        [
            "test://static-binary",
            "test://static-text",
            "test://watched-resource"
        ]
    );
    let params = json!({"uri": "test://template/123/data"});
    let read = peer.ask(2, "resources/read", params).await;
    let data: Value = serde_json::from_str(
        read["result"]["contents"][0]["text"]
            .as_str()
            .expect("it is text"),
    )
    .expect("it is JSON");
    assert_eq!(
        data,
        json!({"id": "123", "templateTest": true, "data": "Data for ID: 123"})
    );
    let missing = json!({"uri": "test://nothing"});
    let answer = peer.ask(3, "resources/read", missing.clone()).await;
    assert_eq!(answer["error"]["code"], -32002);
    let answer = peer.ask(4, "resources/read", stateless(missing)).await;
    assert_eq!(answer["error"]["code"], -32602);

    let params = json!({
        "name": "test_prompt_with_arguments",
        "arguments": {"arg1": "hello", "arg2": "world"},
    });
    let prompt = peer.ask(5, "prompts/get", params).await;
    assert_eq!(
        prompt["result"]["messages"],
        json!([{"role": "user", "content": {
            "type": "text",
            "text": "Prompt with arguments: arg1='hello', arg2='world'",
        }}])
    );
    let params = json!({
        "ref": {"type": "ref/prompt", "name": "test_prompt_with_arguments"},
        "argument": {"name": "arg1", "value": "par"},
    });
    let completed = peer.ask(6, "completion/complete", params).await;
    assert_eq!(
        completed["result"]["completion"]["values"],
        json!(["paris", "park", "party"])
    );
}
