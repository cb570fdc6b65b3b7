//! What an operator sets for servers, as the program takes it.

use serde_json::{Value, json};

use crate::pin::servers;
use crate::workbench::Workbench;

/// This program as a server, with an overlay.
fn dressed(bench: &Workbench, overlay: Value) {
    servers(bench, &[]);
    let path = bench.path().join("mcp.json");
    let text = std::fs::read_to_string(&path).unwrap();
    let mut config: Value = serde_json::from_str(&text).unwrap();
    config["mcpServers"]["own"]["overlay"] = overlay;
    bench.file("mcp.json", &config.to_string());
}

#[test]
fn a_tool_that_only_reads_needs_no_leave_where_its_server_is_believed_and_no_rule_speaks() {
    let bench = Workbench::new();
    let read = r#"{"path":"readme.txt"}"#;
    let write = r#"{"path":"new.txt","content":"x"}"#;
    let call = |name: &str, arguments: &str, more: &[&str]| {
        let args = ["--mcp-config", "mcp.json", "call", name, arguments];
        bench.tool(&args).args(more.iter().copied()).end()
    };
    for hints in ["shown", "withheld"] {
        dressed(&bench, json!({"hints": hints}));
        call("own__read", read, &[]).with_code(1).says(&["denied"]);
    }
    dressed(&bench, json!({"hints": "believed"}));
    let ended = call("own__read", read, &[]).succeeded();
    assert!(ended.text().contains("hello"), "{}", ended.text());
    call("own__write", write, &[])
        .with_code(1)
        .says(&["denied"]);
    // A rule is a rule, whether it denies or asks.
    for effect in ["deny", "ask"] {
        let rule = format!(
            "version = 1\n[[rule]]\neffect = \"{effect}\"\naction = \"call\"\nresource = \"own/read\"\n"
        );
        bench.file("rules.toml", &rule);
        let ended = call("own__read", read, &["--policy", "rules.toml"]);
        ended.with_code(1).says(&["denied"]);
    }
}

#[test]
fn an_overlay_that_is_wrong_keeps_its_server_out_and_says_everything_that_is_wrong() {
    let bench = Workbench::new();
    dressed(&bench, json!({"tols": {}, "timeout": {"idle": 0}}));
    let listed = bench
        .tool(&["--mcp-config", "mcp.json", "list"])
        .end()
        .succeeded();
    assert!(!listed.text().contains("own__"), "{}", listed.text());
    listed.says(&[
        "key \"overlay.tols\": is not known; did you mean \"tools\"?",
        "key \"overlay.timeout.idle\": is no whole number from 1 to 86400",
    ]);
}

#[test]
fn a_rule_names_a_tool_by_what_it_is_and_a_call_by_its_new_name() {
    let bench = Workbench::new();
    dressed(
        &bench,
        json!({"tools": {"read": {"rename": "show"}, "write": {"disabled": true}}}),
    );
    let rule =
        "version = 1\n[[rule]]\neffect = \"allow\"\naction = \"call\"\nresource = \"own/read\"\n";
    bench.file("rules.toml", rule);
    let args = ["--mcp-config", "mcp.json", "--policy", "rules.toml"];
    let listed = bench.tool(&args).args(["list"]).end().succeeded();
    assert!(listed.text().contains("own__show") && !listed.text().contains("own__read "));
    assert!(!listed.text().contains("own__write"), "{}", listed.text());
    let call = bench
        .tool(&args)
        .args(["call", "own__show", r#"{"path":"readme.txt"}"#]);
    assert!(call.end().succeeded().text().contains("hello"));
}
