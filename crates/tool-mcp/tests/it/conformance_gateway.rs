//! The scenarios of the official suite through a gateway, compared with the same ones without it,
//! in all pairings of eras.

use serde_json::{Value, json};
use tool_core::Decision;

use crate::registry::served;
use crate::support::agreeing::{Agreeing, Speaks};
use crate::support::eventually;
use crate::support::gateway::Gateway;
use crate::support::peer::{Peer, modern};

/// How the server behind the gateway speaks, and how the client in front of it.
const PAIRINGS: [(&str, Speaks); 4] = [
    ("conformance-stateless", Speaks::Stateless),
    ("conformance-stateless", Speaks::Handshake),
    ("conformance-handshake", Speaks::Stateless),
    ("conformance-handshake", Speaks::Handshake),
];

/// A result without what names the server that gave it.
fn bare(mut answer: Value) -> Value {
    without(&mut answer["result"], "io.modelcontextprotocol/serverInfo");
    answer["result"].take()
}

/// Takes a key out of `_meta`, and that with it where it was all.
fn without(of: &mut Value, key: &str) {
    if let Some(meta) = of.get_mut("_meta").and_then(Value::as_object_mut) {
        meta.remove(key);
        if meta.is_empty() {
            of.as_object_mut().map(|members| members.remove("_meta"));
        }
    }
}

/// Questions without the name of the server that the gateway puts into them.
fn unlabelled(asked: &[(String, Value)]) -> Vec<(String, Value)> {
    let mut asked = asked.to_vec();
    for (_, params) in &mut asked {
        if let Some(text) = params["message"].as_str() {
            let text = text.strip_prefix("srv asks: ").unwrap_or(text).to_owned();
            params["message"] = text.into();
        }
    }
    // Those of one round have no order.
    asked.sort_by_key(|(method, params)| format!("{method}{params}"));
    asked
}

#[track_caller]
fn same(what: &str, through: &Value, direct: &Value) {
    assert_eq!(through, direct, "{what}");
    assert!(!direct.is_null(), "{what}");
}

#[tokio::test]
async fn tools_give_the_same_through_the_gateway() {
    let original = served().expect("well defined");
    for (mode, speaks) in PAIRINGS {
        let gateway = Gateway::of(mode, Decision::Allow).await;
        let mut through = Agreeing::of(&gateway.server, speaks).await;
        let mut direct = Agreeing::of(&original.server, speaks).await;
        for (tool, arguments) in [
            ("test_simple_text", json!({})),
            ("test_image_content", json!({})),
            ("test_audio_content", json!({})),
            ("test_embedded_resource", json!({})),
            ("test_multiple_content_types", json!({})),
            ("test_error_handling", json!({})),
            ("test_tool_with_progress", json!({})),
            ("test_tool_with_logging", json!({})),
            ("test_custom_header", json!({"value": "é"})),
            ("test_sampling", json!({"prompt": "hi"})),
            ("test_elicitation", json!({"message": "Who?"})),
            ("test_elicitation_sep1034_defaults", json!({})),
            ("test_elicitation_sep1330_enums", json!({})),
            ("test_input_required_result_elicitation", json!({})),
            ("test_input_required_result_sampling", json!({})),
            ("test_input_required_result_list_roots", json!({})),
            ("test_input_required_result_request_state", json!({})),
            ("test_input_required_result_multiple_inputs", json!({})),
            ("test_input_required_result_multi_round", json!({})),
            ("test_input_required_result_capabilities", json!({})),
        ] {
            let what = format!("{mode}, {speaks:?}: {tool}");
            let call = json!({"name": tool, "arguments": arguments});
            let expected = bare(direct.ask("tools/call", call).await);
            let call = json!({"name": format!("srv__{tool}"), "arguments": arguments});
            let found = bare(through.ask("tools/call", call).await);
            same(&what, &found, &expected);
            assert_eq!(
                unlabelled(&through.asked),
                unlabelled(&direct.asked),
                "{what}"
            );
            through.asked.clear();
            direct.asked.clear();
        }
    }
}

#[tokio::test]
async fn logs_of_a_call_are_the_same_through_the_gateway_in_either_era() {
    let original = served().expect("well defined");
    let logs = |client: &mut Agreeing| {
        let told = std::mem::take(&mut client.told).into_iter();
        let logs = told.filter(|message| message["method"] == "notifications/message");
        logs.map(|mut message| message["params"].take())
            .collect::<Vec<_>>()
    };
    for (mode, speaks) in PAIRINGS {
        let gateway = Gateway::of(mode, Decision::Allow).await;
        let mut through = Agreeing::of(&gateway.server, speaks).await;
        let mut direct = Agreeing::of(&original.server, speaks).await;
        for (level, count) in [("debug", 3), ("error", 0)] {
            for (client, name) in [
                (&mut through, "srv__test_tool_with_logging"),
                (&mut direct, "test_tool_with_logging"),
            ] {
                let mut call = json!({"name": name});
                match speaks {
                    Speaks::Handshake => {
                        let set = json!({"level": level});
                        client.ask("logging/setLevel", set).await;
                    }
                    Speaks::Stateless => {
                        call["_meta"] = json!({"io.modelcontextprotocol/logLevel": level});
                    }
                }
                client.ask("tools/call", call).await;
            }
            let what = format!("{mode}, {speaks:?}: {level}");
            let mut found = logs(&mut through);
            for log in &mut found {
                assert_eq!(log["logger"], "srv", "{what}");
                log.as_object_mut().expect("an object").remove("logger");
            }
            assert_eq!(found, logs(&mut direct), "{what}");
            assert_eq!(found.len(), count, "{what}");
        }
        // Who asks for nothing is told nothing, in the era in which that is said with the call.
        if speaks == Speaks::Stateless {
            let call = json!({"name": "srv__test_tool_with_logging"});
            through.ask("tools/call", call).await;
            assert_eq!(logs(&mut through), [Value::Null; 0], "{mode}");
        }
    }
}

#[cfg(feature = "http")]
#[tokio::test]
async fn logs_of_a_call_reach_a_client_over_http_in_either_era() {
    use crate::support::http::{Client, request};

    async fn all_told(answer: &mut crate::support::http::Answer, what: &str) {
        for data in [
            "Tool execution started",
            "Tool processing data",
            "Tool execution completed",
        ] {
            let message = answer.message().await.expect("it is told");
            assert_eq!(message["method"], "notifications/message", "{what}");
            let params = json!({"level": "info", "logger": "srv", "data": data});
            assert_eq!(message["params"], params, "{what}");
        }
        assert_eq!(answer.until(2).await["result"]["isError"], false);
    }

    let address: std::net::SocketAddr = "127.0.0.1:0".parse().expect("an address");
    for mode in ["conformance-stateless", "conformance-handshake"] {
        let gateway = Gateway::of(mode, Decision::Allow).await;
        let options = tool_mcp::HttpOptions::new(address).allow_anyone_unchecked();
        let http = gateway.server.serve_http(options).await.expect("a port");
        let name = "srv__test_tool_with_logging";
        let with = Client::connect(http.address()).await;
        let level = request(1, "logging/setLevel", json!({"level": "debug"}));
        with.post(&level, &[]).await.until(1).await;
        let call = request(2, "tools/call", json!({"name": name}));
        let mut answer = with.post(&call, &[]).await;
        all_told(&mut answer, &format!("{mode}, with a handshake")).await;

        let without = Client::new(http.address());
        let mut call = modern(json!({"name": name}));
        call["_meta"]["io.modelcontextprotocol/logLevel"] = "info".into();
        let headers = [
            ("MCP-Protocol-Version", "2026-07-28"),
            ("Mcp-Method", "tools/call"),
            ("Mcp-Name", name),
        ];
        let call = request(2, "tools/call", call);
        let mut answer = without.post(&call, &headers).await;
        all_told(&mut answer, &format!("{mode}, without a handshake")).await;
    }
}

#[tokio::test]
async fn tools_are_listed_the_same_through_the_gateway() {
    let original = served().expect("well defined");
    for (mode, speaks) in PAIRINGS {
        let gateway = Gateway::of(mode, Decision::Allow).await;
        let mut through = Agreeing::of(&gateway.server, speaks).await;
        let mut direct = Agreeing::of(&original.server, speaks).await;
        let expected = bare(direct.ask("tools/list", json!({})).await);
        let mut found = bare(through.ask("tools/list", json!({})).await);
        for tool in found["tools"].as_array_mut().expect("it is a list") {
            let name = tool["name"].as_str().expect("it has a name");
            tool["name"] = name.trim_start_matches("srv__").into();
        }
        // The gateway's own declarations of a tool are its own.
        let bare = |mut list: Value| {
            for tool in list["tools"].as_array_mut().into_iter().flatten() {
                without(tool, "io.github.tool-runtime/declarations");
            }
            list
        };
        same(mode, &bare(found), &bare(expected));
    }
}

#[tokio::test]
async fn resources_prompts_and_completions_are_the_same_through_the_gateway() {
    let original = served().expect("well defined");
    for (mode, speaks) in PAIRINGS {
        let gateway = Gateway::of(mode, Decision::Allow).await;
        let mut through = Agreeing::of(&gateway.server, speaks).await;
        let mut direct = Agreeing::of(&original.server, speaks).await;
        let prompt = |name: &str, arguments: Value| json!({"name": name, "arguments": arguments});
        for (method, mut params) in [
            ("resources/list", json!({})),
            ("resources/templates/list", json!({})),
            ("prompts/list", json!({})),
            ("resources/read", json!({"uri": "test://static-text"})),
            ("resources/read", json!({"uri": "test://static-binary"})),
            ("resources/read", json!({"uri": "test://template/123/data"})),
            ("prompts/get", prompt("test_simple_prompt", json!({}))),
            (
                "prompts/get",
                prompt(
                    "test_prompt_with_arguments",
                    json!({"arg1": "hello", "arg2": "world"}),
                ),
            ),
            (
                "prompts/get",
                prompt(
                    "test_prompt_with_embedded_resource",
                    json!({"resourceUri": "test://x"}),
                ),
            ),
            ("prompts/get", prompt("test_prompt_with_image", json!({}))),
            (
                "prompts/get",
                prompt("test_input_required_result_prompt", json!({})),
            ),
            (
                "completion/complete",
                json!({
                    "ref": {"type": "ref/prompt", "name": "test_prompt_with_arguments"},
                    "argument": {"name": "arg1", "value": "par"},
                }),
            ),
            (
                "completion/complete",
                json!({
                    "ref": {"type": "ref/resource", "uri": "test://template/{id}/data"},
                    "argument": {"name": "id", "value": "pa"},
                }),
            ),
        ] {
            let what = format!("{mode}, {speaks:?}: {method} {params}");
            let expected = bare(direct.ask(method, params.clone()).await);
            for pointer in ["/name", "/ref/name"] {
                if let Some(name) = params.pointer_mut(pointer) {
                    *name = format!("srv__{}", name.as_str().expect("it is text")).into();
                }
            }
            let mut found = bare(through.ask(method, params).await);
            let prompts = found.get_mut("prompts").and_then(Value::as_array_mut);
            for entry in prompts.into_iter().flatten() {
                let name = entry["name"].as_str().expect("it has a name");
                entry["name"] = name.trim_start_matches("srv__").into();
            }
            same(&what, &found, &expected);
        }
        // What does not exist is refused with the same code.
        let missing = json!({"uri": "test://nothing"});
        let expected = direct.ask("resources/read", missing.clone()).await;
        let found = through.ask("resources/read", missing).await;
        same(mode, &found["error"]["code"], &expected["error"]["code"]);
    }
}

#[tokio::test]
async fn what_a_server_has_begun_goes_on_with_the_answer_and_is_not_begun_anew() {
    for (mode, speaks) in PAIRINGS {
        let gateway = Gateway::of(mode, Decision::Allow).await;
        let mut client = Agreeing::of(&gateway.server, speaks).await;
        let name = "test_input_required_result_multi_round";
        let call = json!({"name": format!("srv__{name}")});
        let answer = client.ask("tools/call", call).await;
        assert_eq!(
            answer["result"]["content"][0]["text"], "Ada likes Ada",
            "{mode}"
        );
        let messages: Vec<_> = client
            .asked
            .iter()
            .map(|(_, params)| params["message"].clone())
            .collect();
        assert_eq!(
            messages,
            [
                "srv asks: Step 1: What is your name?",
                "srv asks: Step 2: What is your favorite color?"
            ]
        );
        // One request for each round of a server that has rounds, one in all for the others.
        let expected = match mode {
            "conformance-stateless" => 3,
            _ => 1,
        };
        assert_eq!(gateway.calls(name), expected, "{mode}, {speaks:?}");
        assert!(gateway.srv.cancellations().is_empty(), "{mode}");
    }
}

#[tokio::test]
async fn nothing_is_passed_on_that_no_rule_allows() {
    for (mode, speaks) in PAIRINGS {
        for decision in [Decision::Ask, Decision::Deny] {
            let gateway = Gateway::of(mode, decision).await;
            let mut client = Agreeing::of(&gateway.server, speaks).await;
            for tool in ["test_elicitation", "test_input_required_result_sampling"] {
                let call = json!({"name": format!("srv__{tool}"), "arguments": {"message": "?"}});
                let answer = client.ask("tools/call", call).await;
                assert_eq!(answer["result"]["isError"], true, "{mode}: {tool}");
                // The server was told of nothing that could be asked.
                for message in gateway.srv.transcript() {
                    let handshake = &message["params"]["capabilities"];
                    let stateless =
                        &message["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"];
                    for told in [handshake, stateless] {
                        assert!(told.is_null() || *told == json!({}), "{told}");
                    }
                }
            }
            assert!(client.asked.is_empty(), "{mode}");
        }
    }
}

#[tokio::test]
async fn a_question_of_one_of_several_callers_reaches_none_of_the_others() {
    let gateway = Gateway::of("conformance-handshake", Decision::Allow).await;
    // One waits for its person, in a call of its own.
    let mut waiting = Peer::unconnected(&gateway.server);
    let params = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {"elicitation": {}},
        "clientInfo": {"name": "test", "version": "1"},
    });
    waiting.ask(0, "initialize", params).await;
    let call = json!({"name": "srv__test_elicitation", "arguments": {"message": "Who?"}});
    waiting.request(1, "tools/call", call.clone()).await;
    let question = waiting.receive().await;
    assert_eq!(question["method"], "elicitation/create");
    // The server does not say of which call the next question is.
    let mut other = Agreeing::of(&gateway.server, Speaks::Handshake).await;
    let answer = other.ask("tools/call", call).await;
    assert_eq!(answer["result"]["isError"], true);
    assert!(other.asked.is_empty());
    let result = json!({"action": "decline"});
    waiting
        .send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": result}))
        .await;
    let answer = waiting.receive().await;
    assert_eq!(answer["id"], 1);
    assert_eq!(
        answer["result"]["content"][0]["text"],
        r#"User response: {"action":"decline"}"#
    );
}

#[tokio::test]
async fn a_resource_that_is_subscribed_to_is_subscribed_to_at_its_server() {
    let uri = "test://watched-resource";
    for (mode, speaks) in PAIRINGS {
        let gateway = Gateway::of(mode, Decision::Deny).await;
        let mut client = Peer::unconnected(&gateway.server);
        match speaks {
            Speaks::Handshake => {
                let params = json!({
                    "protocolVersion": "2025-11-25",
                    "capabilities": {},
                    "clientInfo": {"name": "test", "version": "1"},
                });
                client.ask(0, "initialize", params).await;
                client
                    .ask(1, "resources/subscribe", json!({"uri": uri}))
                    .await;
            }
            Speaks::Stateless => {
                let params = modern(json!({"notifications": {"resourceSubscriptions": [uri]}}));
                client.request(1, "subscriptions/listen", params).await;
                client.receive().await;
            }
        }
        let subscribed = |gateway: &Gateway| {
            let transcript = gateway.srv.transcript().into_iter().rev();
            let mut latest = transcript.filter_map(|message| match message["method"].as_str()? {
                "resources/subscribe" => Some(message["params"]["uri"] == uri),
                "resources/unsubscribe" => Some(false),
                "subscriptions/listen" => Some(
                    message["params"]["notifications"]["resourceSubscriptions"] == json!([uri]),
                ),
                _ => None,
            });
            latest.next().unwrap_or_default()
        };
        eventually("the server is asked", || subscribed(&gateway)).await;
        // Nobody wants to know any more.
        drop(client);
        eventually("the server is told", || !subscribed(&gateway)).await;
    }
}

#[tokio::test]
async fn the_log_level_that_clients_want_is_what_the_server_is_told() {
    for mode in ["conformance-stateless", "conformance-handshake"] {
        let gateway = Gateway::of(mode, Decision::Deny).await;
        let mut client = Peer::connect(&gateway.server).await;
        client
            .ask(1, "logging/setLevel", json!({"level": "error"}))
            .await;
        client.call(2, "srv__test_simple_text", json!({})).await;
        let transcript = gateway.srv.transcript();
        let told = match mode {
            "conformance-handshake" => transcript
                .iter()
                .find(|message| message["method"] == "logging/setLevel")
                .map(|message| &message["params"]["level"]),
            _ => transcript
                .iter()
                .find(|message| message["method"] == "tools/call")
                .map(|message| &message["params"]["_meta"]["io.modelcontextprotocol/logLevel"]),
        };
        assert_eq!(told, Some(&json!("error")), "{mode}");
    }
}

#[tokio::test]
async fn a_page_is_shown_with_its_host_or_not_at_all() {
    for speaks in [Speaks::Stateless, Speaks::Handshake] {
        let gateway = Gateway::of("stateless", Decision::Allow).await;
        let mut client = Agreeing::of(&gateway.server, speaks).await;
        let url = "https://login.example.com.evil.test:8443/a";
        let call = |url: &str| json!({"name": "srv__ask", "arguments": {"url": url}});
        let answer = client.ask("tools/call", call(url)).await;
        assert_eq!(answer["result"]["isError"], false, "{answer}");
        let (_, shown) = client.asked.remove(0);
        assert_eq!(shown["url"], url);
        assert_eq!(
            shown["message"],
            "srv asks to open a page on login.example.com.evil.test:8443: Log in"
        );
        for url in [
            "http://example.com/",
            "https://example.com@evil.test/",
            "file:///x",
        ] {
            let answer = client.ask("tools/call", call(url)).await;
            assert_eq!(answer["result"]["isError"], true, "{url}");
        }
        assert!(client.asked.is_empty());
    }
}
