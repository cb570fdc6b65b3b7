//! Other people's servers through the gateway.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::invocation::Invocation;
use crate::peers::{Peers, Sdk};
use crate::serving::Serving;
use crate::stdio_client::StdioClient;
use crate::workbench::{OPEN, Workbench};

/// Both servers, one that cannot be started, a repository with one commit.
struct Gateway {
    peers: Peers,
    bench: Workbench,
    repository: PathBuf,
}

impl Gateway {
    #[track_caller]
    fn open(test: &str) -> Option<Self> {
        let peers = Peers::node(test)?;
        Peers::python(test)?;
        let bench = Workbench::with_a_repository();
        let repository = bench.path().join("repository");
        for args in [
            &["init", "-q", "repository"][..],
            &[
                "-C",
                "repository",
                "commit",
                "-q",
                "--allow-empty",
                "-m",
                "The first commit",
            ],
        ] {
            Invocation::new("git", &bench)
                .args([
                    "-c",
                    "user.name=Author",
                    "-c",
                    "user.email=author@example.com",
                ])
                .args(args.iter().copied())
                .end()
                .succeeded();
        }
        let servers = json!({"mcpServers": {
            "everything": peers.everything(),
            "git": peers.git(&repository),
            "broken": {"command": "tool-test-no-such-command"},
        }});
        bench.file("mcp.json", &servers.to_string());
        Some(Self {
            peers,
            bench,
            repository,
        })
    }

    fn tool(&self, args: &[&str]) -> Invocation {
        self.bench.open(args).args(["--mcp-config", "mcp.json"])
    }

    #[track_caller]
    fn call(&self, name: &str, arguments: &Value) -> Value {
        let arguments = arguments.to_string();
        self.tool(&["call", name, &arguments, "--json"])
            .end()
            .json()
    }
}

#[test]
fn imported_tools_are_listed_under_stable_names_beside_a_server_that_failed() {
    let Some(gateway) =
        Gateway::open("imported_tools_are_listed_under_stable_names_beside_a_server_that_failed")
    else {
        return;
    };
    let first = gateway.tool(&["list", "--json"]).end().succeeded();
    let second = gateway.tool(&["list", "--json"]).end().succeeded();
    assert_eq!(first.text(), second.text(), "two runs list the same bytes");

    let document = first.json();
    let tool = |name: &str| {
        let tools = document["tools"].as_array().unwrap();
        let found = tools.iter().find(|tool| tool["name"] == name);
        found
            .unwrap_or_else(|| panic!("{name} is not listed"))
            .clone()
    };
    for (name, source, authored) in [
        ("everything__echo", "server everything", "echo"),
        ("everything__get-sum", "server everything", "get-sum"),
        (
            "everything__get-tiny-image",
            "server everything",
            "get-tiny-image",
        ),
        ("git__git_log", "server git", "git_log"),
        ("git__git_status", "server git", "git_status"),
        ("grep", "host", "grep"),
    ] {
        assert_eq!(tool(name)["source"], source);
        assert_eq!(tool(name)["authoredName"], authored);
        assert_eq!(tool(name)["inputSchema"]["type"], "object");
    }
    let servers = &document["servers"];
    assert_eq!(servers[0]["name"], "broken");
    assert_eq!(servers[0]["state"], "failed");
    let reason = servers[0]["detail"].as_str().unwrap();
    assert!(
        reason.contains("there is no command \"tool-test-no-such-command\""),
        "{reason}"
    );
    assert_eq!(servers[1]["state"], "ready", "{servers}");
    assert_eq!(servers[2]["state"], "ready", "{servers}");

    gateway.tool(&["list"]).end().succeeded().says(&[
        "server broken: failed: could not be started",
        "server everything: ready: ",
        "server git: ready: ",
    ]);
}

#[test]
fn imported_tools_are_called_from_the_command_line() {
    let Some(gateway) = Gateway::open("imported_tools_are_called_from_the_command_line") else {
        return;
    };
    let echo = gateway.tool(&["call", "everything__echo", r#"{"message":"grüße"}"#]);
    assert_eq!(echo.end().succeeded().text(), "Echo: grüße\n");

    let sum = gateway.call("everything__get-sum", &json!({"a": 2, "b": 3.5}));
    assert_eq!(text_of(&sum), "The sum of 2 and 3.5 is 5.5.");
    let weather = gateway.call(
        "everything__get-structured-content",
        &json!({"location": "Chicago"}),
    );
    check_structured(&weather["structured"], text_of(&weather));

    let image = gateway.call("everything__get-tiny-image", &json!({}));
    assert_eq!(image["content"][1]["mimeType"], "image/png");
    assert_eq!(image["content"][1]["data"], tiny_image(&gateway), "{image}");

    let log = gateway.call("git__git_log", &json!({"repo_path": gateway.repository}));
    assert!(text_of(&log).contains("The first commit"), "{log}");

    let elsewhere = gateway.bench.path().join("elsewhere");
    let failed = gateway.call("git__git_log", &json!({"repo_path": elsewhere}));
    assert_eq!(
        (&failed["outcome"], &failed["isError"]),
        (&json!("failed"), &json!(true))
    );
    let refused = gateway.call("everything__get-sum", &json!({"a": "x", "b": 1}));
    assert_eq!(refused["outcome"], "refused", "{refused}");
}

#[test]
fn imported_tools_are_called_through_the_sdk_clients() {
    let Some(gateway) = Gateway::open("imported_tools_are_called_through_the_sdk_clients") else {
        return;
    };
    let serving = Serving::start(gateway.tool(&["serve"]));
    for sdk in [Sdk::TypeScript, Sdk::Python, Sdk::PythonLegacy] {
        let over_stdio = gateway.peers.over_stdio(
            &gateway.bench,
            sdk,
            gateway.tool(&["serve"]),
            steps(&gateway),
        );
        check_called(&gateway, sdk, &over_stdio);
        let over_http =
            gateway
                .peers
                .over_http(&gateway.bench, sdk, serving.url(), steps(&gateway));
        check_called(&gateway, sdk, &over_http);
    }
    serving.said("server broken: failed: could not be started: there is no command");
}

#[test]
fn progress_arrives_whole_in_order_and_before_the_answer() {
    let test = "progress_arrives_whole_in_order_and_before_the_answer";
    let Some(gateway) = Gateway::open(test) else {
        return;
    };
    let mut client = StdioClient::start(gateway.tool(&["serve"]));
    for round in 0..20 {
        let call = json!({
            "name": "everything__trigger-long-running-operation",
            "arguments": {"duration": 0.01, "steps": 5},
            "_meta": {"progressToken": round},
        });
        let id = client.send("tools/call", call);
        let mut done = Vec::new();
        let answer = client.answer(id, |message| {
            if message["params"]["progressToken"] == round {
                done.push(message["params"]["progress"].as_f64().unwrap());
            }
        });
        assert_eq!(done, [1.0, 2.0, 3.0, 4.0, 5.0], "before {answer}");
    }
}

#[test]
fn a_policy_that_names_no_imported_tool_refuses_their_calls() {
    let Some(gateway) = Gateway::open("a_policy_that_names_no_imported_tool_refuses_their_calls")
    else {
        return;
    };
    let call = [
        "call",
        "everything__echo",
        r#"{"message":"x"}"#,
        "--mcp-config",
        "mcp.json",
    ];
    gateway
        .bench
        .tool(&call)
        .end()
        .with_code(1)
        .says(&["refused: everything__echo: ", "no rule for call matches"]);

    let narrow = OPEN.replace("everything/*", "everything/get-*");
    gateway.bench.file("narrow.toml", &narrow);
    let narrowed = [&call[..], &["--policy", "narrow.toml"]].concat();
    gateway
        .bench
        .tool(&narrowed)
        .end()
        .with_code(1)
        .says(&["refused: everything__echo"]);
}

fn steps(gateway: &Gateway) -> Value {
    json!([
        {"do": "list"},
        {"do": "call", "name": "everything__echo", "arguments": {"message": "grüße"}},
        {"do": "call", "name": "everything__get-sum", "arguments": {"a": 2, "b": 3.5}},
        {"do": "call", "name": "everything__get-structured-content", "arguments": {"location": "Chicago"}},
        {"do": "call", "name": "everything__get-tiny-image", "arguments": {}},
        {"do": "call", "name": "git__git_log", "arguments": {"repo_path": gateway.repository}},
        {"do": "call", "name": "git__git_log", "arguments": {"repo_path": "/"}},
        {"do": "call", "name": "everything__trigger-long-running-operation",
         "arguments": {"duration": 0.5, "steps": 5}, "progress": true},
    ])
}

#[track_caller]
fn check_called(gateway: &Gateway, sdk: Sdk, results: &[Value]) {
    let [list, rest @ ..] = results else {
        panic!("{sdk:?}: no results");
    };
    for name in ["everything__echo", "git__git_status", "grep"] {
        let listed = list
            .as_array()
            .unwrap()
            .iter()
            .any(|tool| tool["name"] == name);
        assert!(listed, "{sdk:?}: {name} is missing in {list}");
    }
    let results: Vec<_> = rest.iter().map(|step| &step["result"]).collect();
    let [echo, sum, weather, image, log, failed, long] = results[..] else {
        panic!("{sdk:?}: seven calls, {rest:?}");
    };
    assert_eq!(text_of(echo), "Echo: grüße", "{sdk:?}");
    assert_eq!(text_of(sum), "The sum of 2 and 3.5 is 5.5.", "{sdk:?}");
    check_structured(&weather["structuredContent"], text_of(weather));
    assert_eq!(image["content"][1]["type"], "image", "{sdk:?}");
    assert_eq!(image["content"][1]["data"], tiny_image(gateway), "{sdk:?}");
    assert!(text_of(log).contains("The first commit"), "{sdk:?}: {log}");
    assert_eq!(failed["isError"], true, "{sdk:?}: {failed}");
    assert!(
        text_of(long).contains("Long running operation completed"),
        "{sdk:?}: {long}"
    );

    let reports = rest[6]["progress"].as_array().unwrap();
    let done = reports
        .iter()
        .map(|report| report["progress"].as_f64().unwrap());
    let done: Vec<_> = done.collect();
    match sdk {
        // It forgets who waits for reports when it meets the answer, before it has handled a report
        // that came in the same piece.
        Sdk::TypeScript => {
            assert!([1.0, 2.0, 3.0, 4.0, 5.0].starts_with(&done), "{done:?}");
            assert!(done.len() >= 4, "{done:?}");
        }
        _ => assert_eq!(done, [1.0, 2.0, 3.0, 4.0, 5.0], "{sdk:?}"),
    }
    let total = |report: &Value| report["total"].as_f64() == Some(5.0);
    assert!(reports.iter().all(total), "{sdk:?}: {reports:?}");
}

/// The structured content is what the server put into the text as well.
#[track_caller]
fn check_structured(structured: &Value, text: &str) {
    assert!(structured["temperature"].is_number(), "{structured}");
    let said: Value = serde_json::from_str(text).unwrap();
    assert_eq!(*structured, said);
}

/// The image in the server's own package, in base64.
fn tiny_image(gateway: &Gateway) -> String {
    let everything = gateway.peers.everything();
    let index = PathBuf::from(everything["args"][0].as_str().unwrap());
    let module = index.with_file_name("tools").join("get-tiny-image.js");
    let source = std::fs::read_to_string(module).unwrap();
    let (_, rest) = source.split_once("MCP_TINY_IMAGE = \"").unwrap();
    rest.split_once('"').unwrap().0.to_owned()
}

#[track_caller]
fn text_of(result: &Value) -> &str {
    let text = result["content"][0]["text"].as_str();
    text.unwrap_or_else(|| panic!("no text in {result}"))
}
