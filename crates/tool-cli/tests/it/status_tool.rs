//! What a model may ask of the servers behind a gateway, and what an operator's log says of them.

use serde_json::json;

use crate::pin::servers;
use crate::stdio_client::StdioClient;
use crate::workbench::Workbench;

fn with_one_that_fails(bench: &Workbench) {
    servers(bench, &[]);
    let path = bench.path().join("mcp.json");
    let mut config: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    config["mcpServers"]["gone"] = json!({"command": "/secret/place/no-such-server"});
    config["mcpServers"]["off"] = json!({"command": "x", "disabled": true});
    bench.file("mcp.json", &config.to_string());
}

#[test]
fn a_model_is_told_how_servers_do_and_no_path_and_no_reason() {
    let bench = Workbench::new();
    with_one_that_fails(&bench);
    // It waits for the servers before it answers.
    let mut client = StdioClient::start(bench.tool(&["serve", "--mcp-config", "mcp.json"]));
    let told = client.call("server_status", json!({}));
    let text = told.to_string();
    assert!(
        !text.contains("secret") && !text.contains("no-such-server"),
        "{text}"
    );
    assert_eq!(
        told["structuredContent"]["servers"],
        json!([
            {"name": "gone", "state": "failed", "note": "an operator has to look at it"},
            {"name": "off", "state": "disabled", "note": "an operator has switched it off"},
            {"name": "own", "state": "ready", "tools": 7},
        ])
    );
}

#[test]
fn the_tool_is_there_with_servers_unless_the_settings_switch_it_off() {
    let bench = Workbench::new();
    servers(&bench, &[]);
    let list = |args: &[&str]| bench.tool(args).end().succeeded();
    assert!(!list(&["list"]).text().contains("server_status"));
    let with = ["--mcp-config", "mcp.json", "list"];
    assert!(list(&with).text().contains("server_status"));
    bench.file("tool.toml", "version = 1\n[gateway]\nstatus_tool = false\n");
    let named = [&with[..], &["--config", "tool.toml"]].concat();
    assert!(!list(&named).text().contains("server_status"));
}

#[test]
fn changes_of_a_servers_state_are_logged_with_their_fields() {
    let bench = Workbench::new();
    with_one_that_fails(&bench);
    let listed = bench
        .tool(&["--mcp-config", "mcp.json", "list"])
        .env("TOOL_LOG", "tool_mcp=info")
        .env("NO_COLOR", "1")
        .end()
        .succeeded();
    let line = |of: &str| {
        let mut lines = listed.stderr.lines();
        let found = lines.find(|line| line.contains(of) && line.contains("from=\"connecting\""));
        found
            .unwrap_or_else(|| panic!("{}", listed.stderr))
            .to_owned()
    };
    let ready = line("server=\"own\"");
    for field in ["INFO", "to=\"ready\"", "tools=7", "refused=0"] {
        assert!(ready.contains(field), "{ready}");
    }
    let failed = line("server=\"gone\"");
    for field in ["WARN", "to=\"failed\"", "reason=\"could not be started"] {
        assert!(failed.contains(field), "{failed}");
    }
}

#[test]
fn s30_a_client_that_makes_the_same_failing_call_is_stopped_after_five() {
    let bench = Workbench::new();
    let missing = json!({"path": "missing.txt"});
    let text = |client: &mut StdioClient| {
        let answer = client.call("read", missing.clone());
        assert_eq!(answer["isError"], true, "{answer}");
        answer["content"][0]["text"].as_str().unwrap().to_owned()
    };
    let mut client = StdioClient::start(bench.tool(&["serve"]));
    for _ in 0..5 {
        let said = text(&mut client);
        assert!(!said.contains("failed 5 times"), "{said}");
    }
    let said = text(&mut client);
    assert!(
        said.contains("this call failed 5 times with the same arguments"),
        "{said}"
    );

    bench.file("tool.toml", "version = 1\n[gateway]\nsame_failures = 0\n");
    let mut client = StdioClient::start(bench.tool(&["serve", "--config", "tool.toml"]));
    for _ in 0..7 {
        assert!(!text(&mut client).contains("times with the same arguments"));
    }
}
