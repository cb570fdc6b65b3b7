//! A call that is denied never reaches the server whose tool it names.

#![cfg(unix)]

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tool_runtime::core::{Call, Context, Facts, Outcome, Tool};
use tool_runtime::permission::{Layer, Rule};
use tool_runtime::{Runtime, ServerState};

/// Says to this program, run again, that it is the server, and where to note its calls.
const NOTES: &str = "WORKSPACE_TEST_UPSTREAM_NOTES";

/// A tool that notes that it was called.
fn noting(notes: PathBuf) -> Tool {
    let schema = json!({"type": "object"});
    Tool::dynamic("Notes its call", schema, move |_: Value, _: Context| {
        let noted = std::fs::write(notes.join("called"), "yes");
        async move {
            noted?;
            Ok(json!("noted"))
        }
    })
}

/// Run by the other test, this is the server; run as a test of its own, it is none.
#[test]
fn is_a_server_when_it_is_told_to_be() {
    let Some(notes) = std::env::var_os(NOTES) else {
        return;
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let rules = Layer::new("served", [Rule::allow("call", "*")]).unwrap();
        let runtime = Runtime::builder().rules(rules).build().await.unwrap();
        let _tool = runtime.register([("note", noting(notes.into()))]).unwrap();
        runtime.mcp_server().serve_stdio().await.unwrap();
    });
    // Nothing of what the harness prints is a message.
    std::process::exit(0);
}

/// Calls the tool of the server under one rule; whether the server was called, and how it ended.
async fn called_under(rule: Rule, folder: &Path) -> (bool, Outcome) {
    let servers = json!({"mcpServers": {"srv": {
        "command": std::env::current_exe().unwrap(),
        "args": ["--exact", "upstream::is_a_server_when_it_is_told_to_be", "--nocapture"],
        "env": {NOTES: folder},
    }}});
    let file = folder.join("mcp.json");
    std::fs::write(&file, servers.to_string()).unwrap();
    let rules = Layer::new("test", [rule]).unwrap();
    let runtime = Runtime::builder().rules(rules).servers(&file);
    let runtime = runtime.build().await.unwrap();
    runtime.servers_settled().await;
    let server = runtime.servers().remove(0);
    assert!(
        matches!(server.state, ServerState::Ready { .. }),
        "{}",
        server.state.as_str()
    );
    let call = Call::new("srv__note", "{}");
    let settled = runtime.snapshot().settle(call, &Facts::new()).await;
    runtime.shutdown().await;
    (folder.join("called").exists(), settled.outcome)
}

#[tokio::test]
async fn a_call_that_is_denied_never_reaches_its_server_and_one_that_is_allowed_does() {
    let folder = tempfile::tempdir().unwrap();
    let (called, outcome) = called_under(Rule::deny("call", "srv/*"), folder.path()).await;
    assert!(!called && outcome.is_error() && outcome.kind() == Some("denied"));
    let (called, outcome) = called_under(Rule::allow("call", "srv/*"), folder.path()).await;
    assert!(
        called && outcome.as_str() == "completed",
        "{}",
        outcome.as_str()
    );
}
