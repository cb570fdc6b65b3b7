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
fn a_server_that_is_to_be_approved_is_greeted_looked_at_and_forgotten_as_such() {
    let bench = Workbench::new();
    dressed(&bench, json!({"trust": "approve"}));
    let doctor = |code| {
        let args = ["--mcp-config", "mcp.json", "--json", "doctor"];
        let document = bench.tool(&args).end().with_code(code).json();
        let findings = document["findings"].as_array().unwrap().clone();
        let problems = findings.into_iter().filter(|it| it["level"] == "problem");
        (problems.collect::<Vec<_>>(), document["servers"].clone())
    };
    let (problems, servers) = doctor(1);
    assert_eq!((problems.len(), servers), (1, json!([])), "{problems:#?}");
    assert_eq!(
        problems[0]["says"],
        "was never approved, and is not started"
    );
    let fix = problems[0]["fix"].as_str().unwrap();
    assert!(
        fix.starts_with("it is: ") && fix.contains(" serve --root served"),
        "{fix}"
    );

    let list = || {
        bench
            .tool(&["--mcp-config", "mcp.json", "list"])
            .end()
            .succeeded()
    };
    let wanted = "server own is new, and not started before it is approved: ";
    let first = list().says(&[wanted]);
    assert!(
        !first.stderr.contains("trusted as it is"),
        "{}",
        first.stderr
    );
    let (problems, servers) = doctor(1);
    assert_eq!((problems.len(), servers), (1, json!([])), "{problems:#?}");
    assert_eq!(problems[0]["says"], "waits for approval: how it is reached");

    // How it is reached, and then what it lists.
    for listed in [false, true] {
        let diff = bench.tool(&["--json", "pin", "diff", "own"]).end();
        let code = diff.with_code(1).json()["code"]
            .as_str()
            .unwrap()
            .to_owned();
        let approve = ["pin", "approve", "own", &code];
        bench.tool(&approve).end().succeeded();
        assert_eq!(list().text().contains("own__read"), listed);
    }
    let (problems, servers) = doctor(0);
    assert_eq!((problems, &servers[0]["tools"]), (Vec::new(), &json!(7)));

    let forgotten = bench.tool(&["pin", "forget", "own"]).end().succeeded();
    forgotten.says(&["or not started before it is approved where its overlay says so"]);
    list().says(&[wanted]);
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
