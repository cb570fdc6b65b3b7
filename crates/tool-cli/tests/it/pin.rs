//! What was trusted of servers, and the record of every call.

use serde_json::{Value, json};

use crate::workbench::Workbench;

/// This program as a server of another folder.
pub(crate) fn servers(bench: &Workbench, more: &[&str]) {
    let serve = bench.bare(&[]).into_command();
    let mut args = vec!["serve", "--root", "served", "--state", "served/state"];
    args.extend(more);
    let config =
        json!({"mcpServers": {"own": {"command": serve.get_program().to_str(), "args": args}}});
    bench.file("mcp.json", &config.to_string());
    bench.file("served/readme.txt", "hello");
}

#[test]
fn a_server_that_is_started_in_another_way_waits_until_that_is_approved() {
    let bench = Workbench::new();
    servers(&bench, &[]);
    let list = || {
        bench
            .tool(&["--mcp-config", "mcp.json", "list"])
            .end()
            .succeeded()
    };
    let first = list();
    first.says(&[
        "server own is new, and trusted as it is: ",
        " serve --root served",
    ]);
    let again = list();
    assert!(!again.stderr.contains("is new"), "{}", again.stderr);
    assert!(again.text().contains("own__read"));
    bench
        .tool(&["pin", "diff", "own"])
        .end()
        .succeeded()
        .says(&["nothing waits"]);

    servers(&bench, &["--verbose"]);
    let held = list();
    assert!(!held.text().contains("own__read"));
    held.says(&[
        "server own: held: waits for approval",
        "`tool pin diff own`",
    ]);
    let status = bench.tool(&["--json", "pin", "status"]).end().succeeded();
    assert_eq!(status.json()["servers"][0]["server"], "own");
    assert_eq!(status.json()["servers"][0]["waiting"], json!([null]));
    let shown = bench.tool(&["pin", "diff", "own"]).end().with_code(1);
    for part in [
        "how it is reached has changed",
        "/args/5",
        "+ \"--verbose\"",
        "tool pin approve own ",
    ] {
        assert!(shown.text().contains(part), "{}", shown.text());
    }
    let diff = bench
        .tool(&["--json", "pin", "diff", "own"])
        .end()
        .with_code(1)
        .json();
    let code = diff["code"].as_str().unwrap();
    assert!(shown.text().contains(code));

    bench
        .tool(&["pin", "approve", "own", "000000000000"])
        .end()
        .with_code(2)
        .says(&["nothing of server own that waits has the code"]);
    bench
        .tool(&["pin", "approve", "other", code])
        .end()
        .with_code(2)
        .says(&["no server \"other\" was ever started"]);
    bench
        .tool(&["pin", "approve", "own", code])
        .end()
        .succeeded();
    assert!(list().text().contains("own__read"));
}

#[test]
fn every_call_is_on_record_with_its_rule_and_without_its_values() {
    let bench = Workbench::new();
    bench.in_root("notes.txt", "canary");
    bench
        .tool(&["call", "read", r#"{"path":"notes.txt"}"#])
        .end()
        .succeeded();
    bench
        .tool(&["call", "shell", r#"{"command":"echo canary"}"#])
        .end()
        .with_code(1);
    bench.tool(&["list"]).end().succeeded();
    let mut names: Vec<_> = std::fs::read_dir(bench.state().join("audit"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "jsonl"))
        .collect();
    names.sort();
    let text: String = names
        .iter()
        .map(|name| std::fs::read_to_string(name).unwrap())
        .collect();
    assert!(
        !text.contains("canary") && !text.contains("notes"),
        "{text}"
    );
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 2, "{text}");
    assert_eq!(
        (&lines[0]["tool"], &lines[0]["outcome"]),
        (&json!("read"), &json!("completed"))
    );
    assert_eq!(lines[0]["rulings"][0]["decision"], "allow");
    assert_eq!(
        (&lines[1]["tool"], &lines[1]["outcome"]),
        (&json!("shell"), &json!("refused"))
    );
    for line in &lines {
        assert!(line["definition"].as_str().unwrap().starts_with("sha-256:"));
        assert!(line["arguments"].as_str().unwrap().starts_with("sha-256:"));
    }
}

#[test]
fn what_was_trusted_can_be_forgotten_as_a_whole_or_by_tool() {
    let bench = Workbench::new();
    servers(&bench, &[]);
    let list = || {
        bench
            .tool(&["--mcp-config", "mcp.json", "list"])
            .end()
            .succeeded()
    };
    list();
    let forget = |what: &str| bench.tool(&["pin", "forget", what]).end();
    forget("own/nothing")
        .with_code(2)
        .says(&["nothing is trusted of tool \"nothing\" of server own"]);
    forget("other")
        .with_code(2)
        .says(&["no server \"other\" was ever started"]);
    forget("own/read").succeeded();
    let held = list();
    assert!(!held.text().contains("own__read ") && held.text().contains("own__grep"));
    forget("own").succeeded();
    list().says(&["server own is new, and trusted as it is: "]);
    assert!(list().text().contains("own__read"));
}

#[test]
fn s20_a_list_of_servers_that_lies_in_the_project_starts_nothing_unless_it_is_named() {
    let bench = Workbench::new();
    let touch = json!({"mcpServers": {"evil": {"command": "touch", "args": ["started"]}}});
    let hidden = [
        "mcp.json",
        ".mcp.json",
        ".vscode/mcp.json",
        ".cursor/mcp.json",
        "root/.mcp.json",
    ];
    for name in hidden {
        bench.file(name, &touch.to_string());
    }
    let listed = bench.tool(&["list"]).end().succeeded();
    assert!(!listed.text().contains("evil") && !listed.stderr.contains("evil"));
    assert!(!bench.path().join("started").exists());
    // The one that is named is shown in full ahead of its first start.
    bench
        .tool(&["--mcp-config", "mcp.json", "list"])
        .end()
        .says(&[
            "server evil is new, and trusted as it is: ",
            "touch started",
        ]);
    assert!(bench.path().join("started").exists());
}
