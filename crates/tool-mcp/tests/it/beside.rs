//! What clients and servers say beside calls, results and definitions, through the gateway.

use std::path::PathBuf;

use serde_json::{Map, Value, json};
use tool_core::{Identity, Namespace, Source, ToolName, WireName};
use tool_mcp::Server;
use tool_registry::Registry;

use crate::import_http::{Remote, old, said};
use crate::support::http_server::{Asked, HttpServer, Reply};
use crate::support::peer::{Peer, modern};

/// The key of our own declarations.
const OWN: &str = "io.github.tool-runtime/declarations";

/// A server with one tool, a resource and a prompt, which answers calls as it is told.
async fn server(
    tools: Value,
    call: impl Fn(&Asked) -> Reply + Clone + Send + Sync + 'static,
) -> HttpServer {
    HttpServer::start(move |asked| match asked.method() {
        "initialize" => asked.result(json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}, "resources": {}, "prompts": {}},
            "serverInfo": {"name": "fixture", "version": "1"},
        })),
        "tools/list" => asked.result(json!({ "tools": tools })),
        "resources/list" => asked.result(json!({"resources": [{"uri": "a://b", "name": "b"}]})),
        "prompts/list" => asked.result(json!({"prompts": [{"name": "p"}]})),
        "resources/read" | "prompts/get" => call(asked),
        _ => old(asked, call.clone()),
    })
    .await
}

fn echo() -> Value {
    json!([{"name": "echo", "inputSchema": {"type": "object"}}])
}

/// The server, imported, and a client of the gateway that serves it on.
async fn through(server: &HttpServer) -> (Remote, Peer) {
    let remote = Remote::new(server.url(), |config| config).await;
    let gateway = Server::new(remote.registry.clone()).offerings(remote.upstreams.offerings());
    let peer = Peer::connect(&gateway).await;
    (remote, peer)
}

/// The answer of a server with exactly this text as its result.
fn written(asked: &Asked, result: &str) -> Reply {
    let id = &asked.body["id"];
    Reply {
        body: format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#),
        ..Reply::json(&Value::Null)
    }
}

#[tokio::test]
async fn what_a_client_says_beside_a_request_reaches_the_server() {
    let server = server(echo(), |asked| match asked.method() {
        "resources/read" => asked.result(json!({"contents": [{"uri": "a://b", "text": "t"}]})),
        "prompts/get" => asked.result(json!({"messages": []})),
        _ => asked.result(said("heard")),
    })
    .await;
    let (_remote, mut peer) = through(&server).await;
    let told = json!({
        "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "com.example/tenant": {"id": [1]},
    });
    let mut meta = told.clone();
    meta["progressToken"] = "mine".into();
    meta["io.modelcontextprotocol/related-task"] = json!({"taskId": "t"});
    meta["tool-runtime/rounded"] = json!({});
    for (number, (method, mut params)) in [
        ("tools/call", json!({"name": "srv__echo"})),
        ("resources/read", json!({"uri": "a://b"})),
        ("prompts/get", json!({"name": "srv__p"})),
    ]
    .into_iter()
    .enumerate()
    {
        params["_meta"] = meta.clone();
        let answer = peer.ask(number as u64 + 1, method, params).await;
        assert!(answer["result"].is_object(), "{answer}");
        let asked = server.first(method).expect("it was asked");
        let mut came = asked.body["params"]["_meta"].clone();
        let token = came
            .as_object_mut()
            .and_then(|meta| meta.remove("progressToken"));
        // Ours, and not the client's.
        assert!(token.is_some_and(|token| token.is_u64()), "{method}");
        assert_eq!(came, told, "{method}");
    }

    let params = json!({"name": "srv__echo", "_meta": {"a": "x".repeat(16 * 1024)}});
    let answer = peer.ask(9, "tools/call", params).await;
    assert_eq!(answer["error"]["code"], -32602);
    assert_eq!(
        answer["error"]["message"],
        "the _meta of tools/call has more than 16384 bytes beside what the protocol reserves"
    );
}

#[tokio::test]
async fn what_a_result_that_is_an_error_says_beside_is_not_lost() {
    let server = server(echo(), |asked| {
        let number = "123456789012345678901234567890";
        let result = format!(
            r#"{{"content":[{{"type":"text","text":"no"}}],"isError":true,"structuredContent":{{"n":{number}}},"_meta":{{"com.example/why":"because"}}}}"#
        );
        written(asked, &result)
    })
    .await;
    let (remote, mut peer) = through(&server).await;
    let answer = peer.call(1, "srv__echo", json!({})).await;
    assert_eq!(answer["result"]["isError"], true);
    assert_eq!(
        answer["result"]["_meta"],
        json!({
            "com.example/why": "because",
            "tool-runtime/rounded": {"/structuredContent/n": "123456789012345678901234567890"},
        })
    );
    let settlement = remote.call("echo", json!({})).await;
    let meta = settlement.meta.expect("a host has it too");
    assert_eq!(meta["com.example/why"], "because");
}

#[tokio::test]
async fn pictures_and_other_data_of_a_tool_are_served_on_and_bounded() {
    let icons = json!([{"src": "https://example.com/i.png", "sizes": ["48x48"]}]);
    let tools = json!([
        {"name": "kept", "inputSchema": {"type": "object"}, "icons": icons,
         "_meta": {"ui/resourceUri": "ui://a", "openai/outputTemplate": "ui://b\u{202e}",
            OWN: {"gates": true, "resultKind": 5}}},
        {"name": "long", "inputSchema": {"type": "object"}, "icons": ["x".repeat(65_536)],
         "_meta": {"a": "x".repeat(65_536)}},
    ]);
    let server = server(tools, |asked| asked.result(said("heard"))).await;
    let (remote, mut peer) = through(&server).await;
    let listed = peer.ask(1, "tools/list", json!({})).await;
    let tools = &listed["result"]["tools"];
    assert_eq!(tools[0]["icons"], icons);
    let meta = json!({"ui/resourceUri": "ui://a", "openai/outputTemplate": "ui://b",
        OWN: {"gates": true}});
    assert_eq!(tools[0]["_meta"], meta);
    assert_eq!(tools[1]["name"], "srv__long");
    assert!(tools[1].get("icons").is_none() && tools[1].get("_meta").is_none());
    let notes = remote.upstreams.statuses().remove(0).notes;
    for field in ["_meta", "icons"] {
        let note = format!(
            "tool \"long\": declaration {field} takes more than 65,536 bytes and is left out"
        );
        assert!(notes.contains(&note), "{notes:?}");
    }
}

#[tokio::test]
async fn numbers_beyond_a_float_are_exact_through_the_whole_gateway() {
    let server = server(echo(), |asked| {
        let arguments = asked.body["params"]["arguments"].to_string();
        written(
            asked,
            &format!(r#"{{"content":[],"structuredContent":{arguments}}}"#),
        )
    })
    .await;
    let (_remote, mut peer) = through(&server).await;
    let numbers =
        r#"{"a":9007199254740993,"b":18446744073709551615,"c":-9223372036854775808,"d":0.1}"#;
    for (id, meta) in [(1, ""), (2, r#","_meta":{"traceparent":"x"}"#)] {
        let params = format!(r#"{{"name":"srv__echo","arguments":{numbers}{meta}}}"#);
        let call =
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#);
        peer.send_line(&call).await;
        let answer = peer.receive().await;
        assert_eq!(answer["result"]["structuredContent"].to_string(), numbers);
    }
    let sent = server.first("tools/call").expect("it was called");
    assert!(sent.text.contains(numbers), "{}", sent.text);
}

#[tokio::test]
async fn numbers_that_are_rounded_are_counted_where_there_are_many_and_told_of_resources_too() {
    let server = server(echo(), |asked| match asked.method() {
        "resources/read" => written(
            asked,
            r#"{"contents":[{"uri":"a://b","text":"t","_meta":{"n":0.12345678901234567891}}]}"#,
        ),
        _ => {
            let numbers = vec!["0.12345678901234567891"; 70].join(",");
            let result = format!(
                r#"{{"content":[],"structuredContent":{{"n\u202e/x":[{numbers}],"{}":0.12345678901234567891}}}}"#,
                "k".repeat(2000)
            );
            written(asked, &result)
        }
    })
    .await;
    let (remote, mut peer) = through(&server).await;
    let settlement = remote.call("echo", json!({})).await;
    let meta = settlement.meta.as_ref().expect("it is told");
    let rounded = meta["tool-runtime/rounded"].as_object().expect("an object");
    assert_eq!(rounded.len(), 64);
    // Six of them, and one of which the place is too long to tell.
    assert_eq!(meta["tool-runtime/rounded_more"], 7);
    let output = settlement.output().expect("it is structured");
    for pointer in rounded.keys() {
        let place = pointer
            .strip_prefix("/structuredContent")
            .expect("it is there");
        assert!(output.pointer(place).is_some(), "{pointer}");
    }
    let read = peer.ask(1, "resources/read", json!({"uri": "a://b"})).await;
    let told = &read["result"]["_meta"]["tool-runtime/rounded"];
    assert_eq!(
        *told,
        json!({"/contents/0/_meta/n": "0.12345678901234567891"})
    );
}

/// A definition as far as it is served on: without what is known to be lost.
fn kept(tool: &Value) -> Value {
    let mut tool = tool.as_object().expect("an object").clone();
    // What tells of tasks is between a server and its own client.
    tool.remove("execution");
    let hints = tool.remove("annotations").unwrap_or_default();
    // Both stand for the title, the one ahead of the other.
    let title = tool.remove("title").or_else(|| hints.get("title").cloned());
    tool.insert("title".to_owned(), title.unwrap_or_default());
    for (hint, assumed) in [
        ("readOnlyHint", false),
        ("destructiveHint", true),
        ("idempotentHint", false),
        ("openWorldHint", true),
    ] {
        let hint_said = hints.get(hint).and_then(Value::as_bool);
        tool.insert(hint.to_owned(), hint_said.unwrap_or(assumed).into());
    }
    let description = tool.get("description").and_then(Value::as_str);
    if description.is_none_or(|text| text.trim().is_empty()) {
        tool.remove("description");
    }
    Value::Object(tool)
}

#[tokio::test]
async fn definitions_of_real_servers_are_served_on_as_they_are() {
    let Some(folder) = std::env::var_os("TOOL_CORPUS").map(PathBuf::from) else {
        println!(
            "skipped definitions_of_real_servers_are_served_on_as_they_are: TOOL_CORPUS is not set"
        );
        return;
    };
    let (mut compared, mut with_meta) = (0, 0);
    for entry in std::fs::read_dir(folder.join("mcp-tools")).expect("it holds mcp-tools") {
        let text = std::fs::read(entry.expect("an entry").path()).expect("a file");
        let saved: Value = serde_json::from_slice(&text).expect("JSON");
        let tools = saved["tools"].clone();
        let server = server(tools.clone(), |asked| asked.error(200, -32601)).await;
        let remote = Remote::new(server.url(), |config| config).await;
        let served = served(&remote.registry).await;
        for tool in tools.as_array().expect("a list") {
            let name = tool["name"].as_str().expect("a name");
            let source = Source::Server(Namespace::new("srv").expect("a name"));
            let wire = ToolName::new(name).map(|name| Identity::new(&source, name));
            let wire = WireName::of(&wire.expect("a name"));
            let found = served.iter().find(|served| served["name"] == wire.as_str());
            let mut found = found.unwrap_or_else(|| panic!("{name} is served")).clone();
            found["name"] = name.into();
            let mut expected = kept(tool);
            if expected.get("description").is_none() {
                expected["description"] = found["description"].clone();
            }
            assert_eq!(kept(&found), expected, "{name}");
            compared += 1;
            with_meta += usize::from(tool.get("_meta").is_some());
        }
    }
    assert!(compared > 0 && with_meta > 0, "{compared}, {with_meta}");
}

/// What a client without a handshake is listed, on all pages.
async fn served(registry: &Registry) -> Vec<Value> {
    let mut peer = Peer::unconnected(&Server::new(registry.clone()));
    let (mut all, mut cursor) = (Vec::new(), None);
    for id in 1.. {
        let mut params = Map::new();
        params.extend(cursor.take().map(|cursor| ("cursor".to_owned(), cursor)));
        let mut answer = peer.ask(id, "tools/list", modern(params.into())).await;
        let result = &mut answer["result"];
        let Value::Array(tools) = result["tools"].take() else {
            panic!("{result}");
        };
        all.extend(tools);
        match result["nextCursor"].take() {
            Value::Null => break,
            next => cursor = Some(next),
        }
    }
    all
}
