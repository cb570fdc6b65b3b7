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
        "writing and the shell need rules (--policy FILE, or --config FILE)",
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
        .tool(&["serve", "--http", "0", "--json", "--no-token"])
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
        (&said["tools"], &said["root"], &said["token"]),
        (&json!(7), &json!(bench.root()), &Value::Null)
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

fn discover() -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }}})
}

#[track_caller]
fn status(client: &HttpClient, token: Option<&str>) -> u16 {
    let bearer = token.map(|token| format!("Bearer {token}"));
    let mut headers = vec![
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "server/discover"),
    ];
    headers.extend(bearer.as_deref().map(|bearer| ("Authorization", bearer)));
    client.post(&headers, &discover()).answer().status
}

#[test]
fn a_client_has_to_show_the_token_that_was_made_up() {
    let bench = Workbench::new();
    let serving = Serving::start_guarded(bench.tool(&["serve"]));
    let said = serving.said("the token is good until this ends");
    let (_, rest) = said.split_once("\"Bearer ").unwrap();
    let (token, _) = rest.split_once('"').unwrap();
    let client = HttpClient::new(serving.url());
    assert_eq!(status(&client, None), 401);
    assert_eq!(status(&client, Some("somethingelse1234")), 401);
    assert_eq!(status(&client, Some(token)), 200);
}

#[test]
fn a_token_of_the_operator_is_taken_from_a_file_or_the_environment_and_not_shown() {
    let bench = Workbench::new();
    let file = bench.root().join("token");
    std::fs::write(&file, "secret-of-a-file-1\n").unwrap();
    let path = file.display().to_string();
    let by_file = bench.tool(&["serve", "--token-file", &path]);
    let by_variable = bench
        .tool(&["serve"])
        .env("TOOL_TOKEN", "secret-of-a-shell-1");
    for (serve, token) in [
        (by_file, "secret-of-a-file-1"),
        (by_variable, "secret-of-a-shell-1"),
    ] {
        let serving = Serving::start_guarded(serve);
        let said = serving.said("Ctrl-C ends it");
        assert!(!said.contains(token), "{said}");
        let client = HttpClient::new(serving.url());
        assert_eq!(status(&client, None), 401);
        assert_eq!(status(&client, Some(token)), 200);
    }
}

#[test]
fn a_token_that_is_none_is_refused_by_where_it_is_from() {
    let bench = Workbench::new();
    let serve = bench.tool(&["serve", "--http", "0"]);
    let ended = serve.env("TOOL_TOKEN", "short").end().with_code(2);
    ended.says(&["TOOL_TOKEN holds no token for clients", "fewer than 16"]);
}
