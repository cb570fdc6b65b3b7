//! Servers inside of a sandbox, and without a shell.

use std::process::Command;

use serde_json::json;

use crate::workbench::Workbench;

/// A sandbox without a network, the first that this machine allows; else a mere wrapper.
fn sandbox() -> (Vec<&'static str>, bool) {
    let candidates: [&[&str]; 3] = [
        &[
            "bwrap",
            "--bind",
            "/",
            "/",
            "--dev",
            "/dev",
            "--unshare-net",
            "--",
        ],
        &["unshare", "--user", "--map-root-user", "--net", "--"],
        &["unshare", "--net", "--"],
    ];
    for words in candidates {
        let mut command = Command::new(words[0]);
        let tried = command.args(&words[1..]).arg("true").output();
        if tried.is_ok_and(|tried| tried.status.success()) {
            return (words.to_vec(), true);
        }
    }
    (vec!["env", "LC_ALL=C"], false)
}

#[test]
fn s38_a_server_runs_inside_of_the_sandbox_that_its_prefix_names() {
    let bench = Workbench::new();
    let (prefix, isolates) = sandbox();
    println!("the sandbox is {}", prefix.join(" "));
    let rules = "version = 1\n[[rule]]\neffect = \"allow\"\naction = \"*\"\nresource = \"*\"\n";
    let rules = bench.file("rules.toml", rules).display().to_string();
    let program = bench.bare(&[]).into_command();
    let server = json!({
        "command": program.get_program().to_str(),
        "args": ["serve", "--root", "served", "--state", "served/state", "--policy", rules],
        "prefix": prefix,
    });
    bench.file("served/readme.txt", "hello");
    bench.file(
        "mcp.json",
        &json!({"mcpServers": {"own": server}}).to_string(),
    );
    let call = |name: &str| {
        let arguments = json!({"command": "readlink /proc/self/ns/net"}).to_string();
        let args = [
            "--mcp-config",
            "mcp.json",
            "--policy",
            &rules,
            "call",
            name,
            &arguments,
        ];
        bench.tool(&args).end().succeeded()
    };
    let (inside, outside) = (call("own__shell"), call("shell"));
    assert!(outside.text().contains("net:["), "{outside:?}");
    assert_eq!(inside.text() != outside.text(), isolates);
    // What is trusted is the whole of it: without the sandbox it is another command.
    let status = bench.tool(&["pin", "status"]).end().succeeded();
    assert!(
        status.text().contains(&prefix.join(" ")),
        "{}",
        status.text()
    );
    let config = std::fs::read_to_string(bench.path().join("mcp.json")).unwrap();
    let mut config: serde_json::Value = serde_json::from_str(&config).unwrap();
    config["mcpServers"]["own"]["prefix"] = json!([]);
    bench.file("mcp.json", &config.to_string());
    let list = bench
        .tool(&["--mcp-config", "mcp.json", "list"])
        .end()
        .succeeded();
    list.says(&["server own: held: waits for approval"]);
}

#[test]
fn s21_no_shell_reads_the_command_of_a_server_and_only_http_is_reached() {
    let bench = Workbench::new();
    let config = json!({"mcpServers": {
        "a": {"command": "true; touch pwned"},
        "b": {"command": "true", "args": ["$(touch pwned)", "; touch pwned", "`touch pwned`"]},
        "c": {"command": "true", "prefix": ["env", "X=$(touch pwned)"]},
        "d": {"url": "file:///etc/passwd"},
        "e": {"url": "javascript:alert(1)"},
        "f": {"url": "http://example.com/mcp"},
    }});
    bench.file("mcp.json", &config.to_string());
    let listed = bench
        .tool(&["--mcp-config", "mcp.json", "list"])
        .end()
        .succeeded();
    assert!(!bench.path().join("pwned").exists());
    listed.says(&[
        "there is no command \"true; touch pwned\"",
        "server d: failed: key \"url\": is neither https nor http",
        "server e: failed: key \"url\": is neither https nor http",
        "server f: failed: key \"url\": is not encrypted",
    ]);
}
