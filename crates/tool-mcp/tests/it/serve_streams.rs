//! What is answered over streams.

use serde_json::json;
use tool_core::Defect;

use crate::support::peer::{Peer, modern};
use crate::support::served::served;

#[tokio::test]
async fn the_handshake_tells_who_serves() {
    let served = served();
    let server = served
        .server
        .clone()
        .implementation("gate", "9.9")
        .instructions("Be brief.");
    let mut peer = Peer::unconnected(&server);
    let params = json!({
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    });
    let answer = peer.ask(0, "initialize", params).await;
    let result = &answer["result"];
    assert_eq!(result["protocolVersion"], "2025-06-18");
    assert_eq!(
        result["serverInfo"],
        json!({"name": "gate", "version": "9.9"})
    );
    assert_eq!(result["instructions"], "Be brief.");
    assert_eq!(
        result["capabilities"],
        json!({"tools": {"listChanged": true}, "logging": {}})
    );
}

#[tokio::test]
async fn tools_are_listed_in_their_stable_order() {
    let served = served();
    let mut peer = Peer::connect(&served.server).await;
    let answer = peer.ask(1, "tools/list", json!({})).await;
    let tools = answer["result"]["tools"]
        .as_array()
        .expect("it is a list")
        .clone();
    let names: Vec<_> = tools
        .iter()
        .map(|tool| tool["name"].as_str().expect("text"))
        .collect();
    let mut sorted = names.clone();
    sorted.sort_unstable();
    assert_eq!(names, sorted);

    let add = tools
        .iter()
        .find(|tool| tool["name"] == "add")
        .expect("it is there");
    assert_eq!(add["title"], "Addition");
    assert_eq!(add["description"], "Adds two numbers");
    assert_eq!(
        add["annotations"],
        json!({"readOnlyHint": true, "destructiveHint": false, "idempotentHint": false,
               "openWorldHint": true})
    );
    assert_eq!(add["inputSchema"]["required"], json!(["a", "b"]));
    assert_eq!(add["outputSchema"]["type"], "object");
    // Output that is no object cannot be declared to clients of this era.
    let count = tools
        .iter()
        .find(|tool| tool["name"] == "count")
        .expect("it is there");
    assert_eq!(count.get("outputSchema"), None);
    assert_eq!(count.get("annotations"), None);

    let again = Peer::connect(&served.server)
        .await
        .ask(1, "tools/list", json!({}))
        .await;
    assert_eq!(again, answer);
}

#[tokio::test]
async fn a_cursor_that_nobody_gave_is_refused() {
    let served = served();
    let mut peer = Peer::connect(&served.server).await;
    let answer = peer.ask(1, "tools/list", json!({"cursor": "x"})).await;
    assert_eq!(answer["error"]["code"], -32602);
}

#[tokio::test]
async fn a_call_is_answered_with_content_and_structure() {
    let served = served();
    let mut peer = Peer::connect(&served.server).await;
    let answer = peer.call(1, "add", json!({"a": 1, "b": 2})).await;
    assert_eq!(
        answer["result"],
        json!({
            "content": [{"type": "text", "text": "{\"sum\":3}"}],
            "structuredContent": {"sum": 3},
            "isError": false,
        })
    );
    let answer = peer.call(2, "greet", json!({})).await;
    assert_eq!(
        answer["result"],
        json!({"content": [{"type": "text", "text": "hello"}], "isError": false})
    );
    let answer = peer.call(3, "picture", json!({})).await;
    assert_eq!(
        answer["result"]["content"][1],
        json!({"type": "image", "data": "AAEC", "mimeType": "image/png"})
    );
}

#[tokio::test]
async fn arguments_that_are_left_out_are_none() {
    let served = served();
    let mut peer = Peer::connect(&served.server).await;
    let answer = peer.ask(1, "tools/call", json!({"name": "greet"})).await;
    assert_eq!(answer["result"]["content"][0]["text"], "hello");
}

#[tokio::test]
async fn what_ends_a_call_is_a_result_that_the_model_reads() {
    let served = served();
    let mut peer = Peer::connect(&served.server).await;
    let answer = peer.call(1, "fail", json!({})).await;
    assert_eq!(
        answer["result"],
        json!({
            "content": [{"type": "text", "text": "no such row"}],
            "structuredContent": {"code": 17},
            "isError": true,
        })
    );
    for (id, tool, arguments, text) in [
        (
            2,
            "add",
            json!({"a": "SECRET", "b": 2}),
            "expected integer at /a, got string",
        ),
        (3, "add", json!({"a": 1, "c": 2}), "missing key \"b\""),
        (4, "forbidden", json!({}), "permission for"),
        (5, "panic", json!({}), Defect::MODEL_TEXT),
    ] {
        let answer = peer.call(id, tool, arguments).await;
        let result = &answer["result"];
        assert_eq!(result["isError"], true, "{tool}");
        let shown = result["content"][0]["text"].as_str().expect("it is text");
        assert!(shown.contains(text), "{tool}: {shown}");
        assert!(
            !shown.contains("SECRET") && !shown.contains("secret"),
            "{tool}: {shown}"
        );
    }
}

#[tokio::test]
async fn a_tool_that_does_not_exist_is_an_error_of_the_protocol() {
    let served = served();
    let mut peer = Peer::connect(&served.server).await;
    let answer = peer.call(1, "grete", json!({})).await;
    assert_eq!(answer["error"]["code"], -32602);
    let message = answer["error"]["message"].as_str().expect("it is text");
    assert!(message.contains("greet"), "{message}");
}

#[tokio::test]
async fn parameters_that_do_not_fit_are_an_error_of_the_protocol() {
    let served = served();
    let mut peer = Peer::connect(&served.server).await;
    let answer = peer.ask(1, "tools/call", json!({"name": 5})).await;
    assert_eq!(answer["error"]["code"], -32602);
    let answer = peer
        .ask(2, "tools/call", json!({"name": "add", "arguments": [1]}))
        .await;
    assert_eq!(answer["error"]["code"], -32602);
    let answer = peer.ask(3, "tools/invent", json!({})).await;
    assert_eq!(answer["error"]["code"], -32601);
}

#[tokio::test]
async fn lines_that_are_no_messages_are_passed_over() {
    let served = served();
    let mut peer = Peer::connect(&served.server).await;
    for line in ["", "garbage", "{\"half\":", "42", "[]"] {
        peer.send_line(line).await;
    }
    let answer = peer.call(1, "greet", json!({})).await;
    assert_eq!(answer["result"]["content"][0]["text"], "hello");
}

#[tokio::test]
async fn a_request_that_is_too_long_is_answered_and_the_next_one_served() {
    let served = served();
    let mut peer = Peer::connect(&served.server).await;
    let text = "x".repeat(17 * 1024 * 1024);
    let answer = peer.call(1, "greet", json!({"text": text})).await;
    assert_eq!(answer["error"]["code"], -32600);
    let answer = peer.call(2, "greet", json!({})).await;
    assert_eq!(answer["result"]["content"][0]["text"], "hello");
}

#[tokio::test]
async fn progress_comes_in_order_ahead_of_the_answer_and_only_when_asked_for() {
    let served = served();
    let mut peer = Peer::connect(&served.server).await;
    let params = json!({
        "name": "steps",
        "arguments": {"n": 20},
        "_meta": {"progressToken": "mine"},
    });
    peer.request(1, "tools/call", params).await;
    for step in 0..20 {
        let report = peer.receive().await;
        assert_eq!(
            report,
            json!({
                "jsonrpc": "2.0",
                "method": "notifications/progress",
                "params": {
                    "progressToken": "mine",
                    "progress": f64::from(step + 1),
                    "message": format!("step {step}"),
                },
            })
        );
    }
    assert_eq!(peer.receive().await["id"], 1);

    peer.request(
        2,
        "tools/call",
        json!({"name": "steps", "arguments": {"n": 20}}),
    )
    .await;
    assert_eq!(peer.receive().await["id"], 2);
}

#[tokio::test]
async fn the_era_without_a_handshake_is_served_as_well() {
    let served = served();
    let mut peer = Peer::unconnected(&served.server);
    let answer = peer.ask(1, "server/discover", modern(json!({}))).await;
    let versions = answer["result"]["supportedVersions"]
        .as_array()
        .expect("it is a list");
    assert!(versions.contains(&json!("2026-07-28")) && versions.contains(&json!("2025-11-25")));

    let answer = peer.ask(2, "tools/list", modern(json!({}))).await;
    assert_eq!(answer["result"]["ttlMs"], 0);
    let tools = answer["result"]["tools"].as_array().expect("it is a list");
    let count = tools
        .iter()
        .find(|tool| tool["name"] == "count")
        .expect("it is there");
    assert_eq!(count["outputSchema"]["type"], "array");

    let params = modern(json!({"name": "count", "arguments": {"n": 3}}));
    let answer = peer.ask(3, "tools/call", params).await;
    assert_eq!(answer["result"]["structuredContent"], json!([0, 1, 2]));
    assert_eq!(answer["result"]["resultType"], "complete");
}

#[tokio::test]
async fn a_list_comes_in_pages_that_hold_everything_once() {
    let served = served();
    let size = std::num::NonZeroUsize::new(4).expect("it is not zero");
    let whole = Peer::connect(&served.server)
        .await
        .ask(1, "tools/list", json!({}))
        .await["result"]["tools"]
        .clone();
    let mut peer = Peer::connect(&served.server.clone().page_size(size)).await;
    let mut pages = Vec::new();
    let mut params = json!({"cursor": ""});
    loop {
        let answer = peer.ask(1, "tools/list", params).await;
        let page = answer["result"]["tools"]
            .as_array()
            .expect("a list")
            .clone();
        assert!(!page.is_empty() && page.len() <= 4);
        pages.extend(page);
        let Some(cursor) = answer["result"]["nextCursor"].as_str() else {
            break;
        };
        params = json!({"cursor": cursor});
    }
    assert_eq!(serde_json::Value::from(pages), whole);
}

#[tokio::test]
async fn declarations_travel_under_one_key_and_what_governs_a_call_does_not() {
    let plain = tool_core::Tool::dynamic("Plain", json!({"type": "object"}), |_, _| async move {
        Ok(json!(1))
    });
    let declared = plain
        .clone()
        .needs_approval(true)
        .owner(tool_core::Owner::new("team", "search"))
        .gates(true);
    let registry = tool_registry::Registry::default();
    let _registration = registry
        .register([("plain", plain), ("declared", declared)])
        .expect("well defined");
    let mut peer = Peer::connect(&tool_mcp::Server::new(registry)).await;
    let answer = peer.ask(1, "tools/list", json!({})).await;
    let tools = &answer["result"]["tools"];
    assert_eq!(
        tools[0]["_meta"],
        json!({"io.github.tool-runtime/declarations": {
            "owner": {"kind": "team", "id": "search"},
            "gates": true,
        }})
    );
    assert_eq!(tools[1].get("_meta"), None);
}
