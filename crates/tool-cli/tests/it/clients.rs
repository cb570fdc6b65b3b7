//! Clients with tokens of their own, and what they see of each other.

use serde_json::json;

use crate::deadline::until;
use crate::http_client::HttpClient;
use crate::recorder::Recorder;
use crate::serving::Serving;
use crate::workbench::Workbench;

fn add(bench: &Workbench, name: &str) -> String {
    let added = bench
        .tool(&["token", "add", name, "--json"])
        .end()
        .succeeded();
    added.json()["token"].as_str().unwrap().to_owned()
}

#[test]
fn a_token_is_shown_once_listed_by_its_client_and_revoked() {
    let bench = Workbench::new();
    let token = add(&bench, "ann");
    let shown = bench.tool(&["token", "add", "bob"]).end().succeeded();
    assert_eq!(shown.text().lines().count(), 1);
    shown.says(&["is shown once"]);
    bench
        .tool(&["token", "add", "ann"])
        .end()
        .with_code(2)
        .says(&["client ann has a token; revoke it first"]);
    bench
        .tool(&["token", "add", "a b"])
        .end()
        .with_code(2)
        .says(&["is no name of a client; use 1 to 64 letters"]);
    let listed = bench.tool(&["token", "list", "--json"]).end().succeeded();
    let names: Vec<_> = listed.json()["tokens"]
        .as_array()
        .unwrap()
        .iter()
        .map(|token| token["name"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(names, ["ann", "bob"]);
    assert!(!String::from_utf8_lossy(&listed.stdout).contains(&token));
    bench.tool(&["token", "revoke", "bob"]).end().succeeded();
    bench
        .tool(&["token", "revoke", "bob"])
        .end()
        .with_code(2)
        .says(&["no client \"bob\" has a token; `tool token list`"]);
}

#[test]
fn a_gateway_takes_in_what_is_added_and_revoked_while_it_runs() {
    let bench = Workbench::new();
    let ann = add(&bench, "ann");
    let serving = Serving::start_guarded(bench.tool(&["serve"]));
    let said = serving.said("Ctrl-C ends it");
    assert!(!said.contains("Bearer") && !said.contains(&ann), "{said}");
    let call = |token: &str| {
        let client = HttpClient::with_token(serving.url(), token);
        client
            .stateless_call("glob", json!({"pattern": "*"}))
            .answer()
            .status
    };
    assert_eq!((call(&ann), call("nobodys-token-0001")), (200, 401));
    let bob = add(&bench, "bob");
    until("bob is served", || (call(&bob) == 200).then_some(()));
    bench.tool(&["token", "revoke", "ann"]).end().succeeded();
    until("ann is not served", || (call(&ann) == 401).then_some(()));
    assert_eq!(call(&bob), 200);
}

#[test]
fn s4_what_one_client_keeps_is_not_another_clients_to_read() {
    let bench = Workbench::new();
    let (ann, bob) = (add(&bench, "ann"), add(&bench, "bob"));
    let serving = Serving::start_guarded(bench.open(&["serve"]));
    let client = |token: &str| HttpClient::with_token(serving.url(), token);
    let long = json!({"command": "seq 100000 130000"});
    let call = client(&ann).stateless_call("shell", long).answer();
    assert_eq!(call.status, 200);
    let shown = call.rest();
    let listed = bench.tool(&["output", "list", "--json"]).end().json();
    let id = listed["outputs"][0]["id"]
        .as_str()
        .unwrap_or_else(|| panic!("{shown}"));
    let read = |token: &str| {
        let sent = client(token).stateless_call("read_output", json!({"id": id}));
        sent.answer().rest()
    };
    assert!(read(&ann).contains("100004"));
    let foreign = read(&bob);
    assert!(foreign.contains("\"isError\":true"), "{foreign}");
    assert!(!foreign.contains("100004"), "{foreign}");
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let list =
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}});
    let headers = [
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "tools/list"),
    ];
    let listed = client(&bob).post(&headers, &list).answer().rest();
    assert!(listed.contains("\"cacheScope\":\"private\""), "{listed}");
}

#[test]
fn s3_the_token_of_a_client_is_never_sent_to_a_server_behind_the_gateway() {
    let bench = Workbench::new();
    let upstream = Recorder::start();
    let config = json!({"mcpServers": {"up": {"url": upstream.url(), "bearerEnv": "UPSTREAM"}}});
    bench.file("mcp.json", &config.to_string());
    let rules =
        "version = 1\n[[rule]]\neffect = \"allow\"\naction = \"call\"\nresource = \"up/*\"\n";
    bench.file("rules.toml", rules);
    let ann = add(&bench, "ann");
    let serve = bench
        .tool(&[
            "serve",
            "--mcp-config",
            "mcp.json",
            "--policy",
            "rules.toml",
        ])
        .env("UPSTREAM", "token-of-the-gateway-1");
    let serving = Serving::start_guarded(serve);
    let mut client = HttpClient::with_token(serving.url(), &ann);
    let stateless = client.stateless_call("up__echo", json!({})).answer().rest();
    assert!(stateless.contains("echoed"), "{stateless}");
    client.shake_hands();
    let in_session = client.call("up__echo", json!({})).answer().rest();
    assert!(in_session.contains("echoed"), "{in_session}");
    let seen = upstream.seen();
    assert_eq!(seen.matches("tools/call").count(), 2, "{seen}");
    assert!(!seen.contains(&ann), "{seen}");
    let requests = seen
        .lines()
        .filter(|line| line.starts_with("POST "))
        .count();
    let own = seen
        .lines()
        .filter(|line| line.to_lowercase() == "authorization: bearer token-of-the-gateway-1")
        .count();
    assert!(requests > 0 && own >= requests, "{seen}");
}
