//! `tool list --profile`: what a provider is sent.

use serde_json::{Value, json};

use crate::lint::entries;
use crate::workbench::Workbench;

#[test]
fn a_saved_list_is_printed_as_it_is_sent_and_losses_go_to_standard_error() {
    let bench = Workbench::new();
    let mut entries = entries();
    let more = json!([{"name": "broken", "inputSchema": {"properties": {}}}, {"name": "db.query", "inputSchema": {"type": "object", "properties": {"n": {"type": "null", "enum": [1]}}}}]);
    entries
        .as_array_mut()
        .unwrap()
        .extend(more.as_array().unwrap().clone());
    bench.file("tools.json", &json!({"tools": entries}).to_string());
    let ended = bench
        .bare(&["list", "--profile", "anthropic", "--from", "tools.json"])
        .end()
        .succeeded();
    let sent = ended.json();
    let names: Vec<_> = sent
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["name"])
        .collect();
    assert_eq!(names, ["look", "open"]);
    assert_eq!(sent[1]["input_schema"].get("anyOf"), None);
    for line in [
        "tool \"broken\" cannot be used: input schema does not say \"type\": \"object\" at its root",
        "open: given up anyOf at the root: the alternatives became one object that takes them all",
        "at \"/properties/n\", no value of it has the type that stands beside it",
    ] {
        assert!(ended.stderr.contains(line), "{line}: {}", ended.stderr);
    }
    let again = bench
        .bare(&["list", "--profile", "anthropic", "--from", "-"])
        .stdin(json!(entries).to_string())
        .end()
        .succeeded();
    assert_eq!(again.text(), ended.text());
}

#[test]
fn the_configured_tools_are_printed_the_same_in_every_run() {
    let bench = Workbench::new();
    let run = || {
        let listed = bench
            .tool(&["list", "--profile", "gemini"])
            .end()
            .succeeded();
        assert_eq!(listed.text().lines().count(), 1, "one line");
        listed
    };
    let first = run();
    assert_eq!(first.text(), run().text());
    let sent = first.json();
    let declared = sent[0]["functionDeclarations"].as_array().unwrap();
    let names: Vec<_> = declared
        .iter()
        .filter_map(|it| it["name"].as_str())
        .collect();
    assert!(names.contains(&"grep") && names.is_sorted(), "{names:?}");
}

#[test]
fn a_tool_that_cannot_be_strict_says_so() {
    let bench = Workbench::new();
    let open: Value = json!([{"name": "run", "description": "d", "inputSchema": {"type": "object", "properties": {"env": {"type": "object", "additionalProperties": {"type": "string"}}}}}]);
    let ended = bench
        .bare(&[
            "list",
            "--profile",
            "openai-responses-strict",
            "--from",
            "-",
        ])
        .stdin(open.to_string())
        .end()
        .succeeded();
    assert_eq!(ended.json()[0]["strict"], false);
    let said = "run: not strict additionalProperties at /properties/env: the object takes keys that are not named\n";
    assert!(ended.stderr.starts_with(said), "{}", ended.stderr);
}

#[test]
fn a_file_is_read_for_a_profile_only_and_names_no_servers() {
    let bench = Workbench::new();
    let said = bench
        .bare(&["list", "--from", "-"])
        .end()
        .with_code(2)
        .stderr;
    assert!(said.contains("--profile <PROFILE>"), "{said}");
    bench.file("mcp.json", r#"{"mcpServers":{}}"#);
    bench
        .bare(&["list", "--profile", "mcp", "--from", "mcp.json"])
        .end()
        .with_code(2)
        .says(&["mcp.json names servers; give it with --mcp-config"]);
}
