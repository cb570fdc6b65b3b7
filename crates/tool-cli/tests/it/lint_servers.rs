//! `tool lint` of servers, which are started and asked.

use std::path::Path;

use serde_json::json;

use crate::lint::entries;
use crate::workbench::Workbench;

/// A server that lists what a file beside it holds.
const SERVER: &str = r#"
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9][0-9]*\).*/\1/p')
  [ -n "$id" ] || continue
  case "$line" in
    *'"initialize"'*) result='{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}' ;;
    *'"tools/list"'*) result=$(cat "$1") ;;
    *) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"none"}}\n' "$id"; continue ;;
  esac
  printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done
"#;

/// Two servers, and what they list, in a folder of their own.
fn servers(bench: &Workbench) {
    bench.file("served/server.sh", SERVER);
    let bad = json!([entries()[0], {"name": "hopeless"}, 7]);
    for (name, tools) in [("bad", bad), ("good", json!([entries()[1]]))] {
        let list = json!({"tools": tools}).to_string();
        bench.file(&format!("served/{name}.json"), &list);
    }
    let server =
        |name: &str| json!({"command": "sh", "args": ["server.sh", format!("{name}.json")]});
    let config = json!({"mcpServers": {"bad": server("bad"), "good": server("good")}});
    bench.file("served/mcp.json", &config.to_string());
}

#[test]
fn every_server_of_a_configuration_is_asked_and_its_hopeless_entries_are_told_of() {
    let bench = Workbench::new();
    servers(&bench);
    for args in [
        &["lint", "served/mcp.json"][..],
        &["lint", "--mcp-config", "served/mcp.json"],
    ] {
        let ended = bench
            .tool(args)
            .args(["--json", "--profile", "mistral"])
            .end()
            .with_code(1);
        let sources = ended.json()["sources"].clone();
        let names: Vec<_> = sources
            .as_array()
            .unwrap()
            .iter()
            .map(|it| &it["source"])
            .collect();
        assert_eq!(names, ["bad", "good"]);
        let rules: Vec<_> = sources[0]["findings"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it["rule"].as_str().unwrap())
            .collect();
        for rule in ["definition/no-schema", "definition/not-an-object"] {
            assert!(rules.contains(&rule), "{rules:?}");
        }
        assert_eq!(sources[1]["findings"], json!([]));
    }
}

#[test]
fn one_server_is_asked_by_its_name() {
    let bench = Workbench::new();
    servers(&bench);
    let lint = |name: &str| {
        bench
            .tool(&["lint", name, "--mcp-config", "served/mcp.json"])
            .args(["--profile", "anthropic"])
            .end()
    };
    lint("good").succeeded();
    let bad = lint("bad").with_code(1);
    assert!(bad.text().contains("open (bad)\n"), "{}", bad.text());
    let said = lint("other").with_code(2).stderr;
    let wanted = "there is no file and no server \"other\" in served/mcp.json; it names bad, good";
    assert!(said.contains(wanted), "{said}");
}

#[test]
fn a_server_that_cannot_be_asked_is_named_and_the_others_are_linted() {
    let bench = Workbench::new();
    servers(&bench);
    let path = bench.path().join("served/mcp.json");
    let mut config: serde_json::Value = read(&path);
    config["mcpServers"]["gone"] = json!({"command": "no-such-command-anywhere"});
    bench.file("served/mcp.json", &config.to_string());
    let ended = bench
        .tool(&["lint", "served/mcp.json", "--profile", "anthropic"])
        .end()
        .with_code(2);
    let said = "error: server gone could not be started: there is no command \"no-such-command-anywhere\"\n";
    assert_eq!(ended.stderr, said);
    assert!(ended.text().contains("open (bad)\n"), "{}", ended.text());

    let ended = bench
        .tool(&["lint", "served/mcp.json", "--profile", "anthropic"])
        .args(["--json"])
        .end()
        .with_code(2);
    let reason = "could not be started: there is no command \"no-such-command-anywhere\"";
    let unread = json!([{"source": "gone", "reason": reason}]);
    assert_eq!(ended.json()["unread"], unread);
    let sources = ended.json()["sources"].clone();
    let names = sources.as_array().unwrap().iter().map(|it| &it["source"]);
    assert!(names.eq(["bad", "good"]));
}

fn read(path: &Path) -> serde_json::Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}
