//! What `tool serve --http` says and whom it serves.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::http_client::HttpClient;
use crate::invocation::wait;
use crate::serving::Serving;
use crate::workbench::Workbench;

#[test]
fn a_person_is_told_what_is_served_and_what_to_do_next() {
    let bench = Workbench::new();
    let serving = Serving::start(bench.tool(&["serve"]));
    let said = serving.said("Ctrl-C ends it");
    let root = bench.root().display().to_string();
    let state = bench.state().display().to_string();
    let config =
        json!({"mcpServers": {"tool": {"type": "http", "url": serving.url()}}}).to_string();
    for wanted in [
        &format!("7 tools, of which the built-in ones work on {root}\n"),
        &format!("long output is kept in {state}\n"),
        "writing and the shell need rules (--policy FILE, or tool.toml)",
        &config,
        " list\n",
        " call grep '{\"pattern\":\"fn main\"}'\n",
    ] {
        assert!(said.contains(wanted), "\"{wanted}\" is missing in: {said}");
    }
}

#[test]
fn a_program_is_told_the_address_in_json() {
    let bench = Workbench::new();
    let mut child = bench
        .tool(&["serve", "--http", "0", "--json"])
        .into_command()
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    let said: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(
        (&said["tools"], &said["root"]),
        (&json!(7), &json!(bench.root()))
    );
    HttpClient::new(said["url"].as_str().unwrap()).shake_hands();
    child.kill().unwrap();
    wait(&mut child);
}

#[test]
fn a_page_of_another_site_is_not_served() {
    let bench = Workbench::new();
    let serving = Serving::start(bench.tool(&["serve"]));
    let client = HttpClient::new(serving.url());
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }});
    assert_eq!(
        client
            .post(&[("Origin", "https://evil.example")], &ping)
            .answer()
            .status,
        403
    );
    assert_eq!(
        client
            .post(&[("Host", "evil.example")], &ping)
            .answer()
            .status,
        403
    );
    assert_eq!(
        client
            .post(&[("Origin", "http://localhost:3000")], &ping)
            .answer()
            .status,
        200
    );
}

#[test]
fn a_client_without_a_session_is_answered() {
    let bench = Workbench::with_a_repository();
    let serving = Serving::start(bench.tool(&["serve"]));
    let client = HttpClient::new(serving.url());
    let sent = client.stateless_call("grep", json!({"pattern": "fn main"}));
    let answer = sent.answer();
    assert_eq!(answer.status, 200);
    let rest = answer.rest();
    assert!(rest.contains("src/main.rs:3:fn main() {"), "{rest}");
}

#[test]
fn an_address_that_is_taken_is_named() {
    let bench = Workbench::new();
    let serving = Serving::start(bench.tool(&["serve"]));
    let address = serving
        .url()
        .strip_prefix("http://")
        .unwrap()
        .strip_suffix("/mcp")
        .unwrap();
    let ended = bench.tool(&["serve", "--http", address]).end().with_code(2);
    ended.says(&[
        &format!("address {address} cannot be listened on"),
        "in use",
    ]);
}
