//! The gateway in code: the tools of another MCP server, built-in tools and one of the host's own,
//! under one policy, served over HTTP.
//!
//! ```text
//! cargo run -p examples --example gateway
//! ```
//!
//! Started with the argument `serve`, the same program is the other server.

#![expect(clippy::print_stdout, reason = "an example shows what comes of it")]

use std::error::Error;
use std::fs;
use std::net::SocketAddr;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tool_runtime::core::{Call, Facts};
use tool_runtime::permission::{Layer, Rule};
use tool_runtime::{Runtime, Tool};

#[derive(Deserialize, JsonSchema)]
struct Line {
    /// The line to work on.
    line: String,
}

fn tool(description: &str, work: fn(&str) -> String) -> Tool {
    Tool::new(description, move |input: Line, _cx| async move {
        Ok(work(&input.line))
    })
    .read_only()
    .into()
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    match std::env::args().nth(1).as_deref() {
        Some("serve") => serve().await,
        _ => gateway().await,
    }
}

/// The other server: one tool, for whoever started it.
async fn serve() -> Result<(), Box<dyn Error>> {
    let rules = Layer::new("served", [Rule::allow("call", "*")])?;
    let runtime = Runtime::builder().rules(rules).build().await?;
    let shout = tool("Write a line in capitals", |line| line.to_uppercase());
    let _registered = runtime.register([("shout", shout)])?;
    runtime.mcp_server().serve_stdio().await?;
    Ok(())
}

async fn gateway() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    fs::write(folder.path().join("notes.txt"), "one line\n")?;
    // The format that MCP clients use. A server that cannot be started fails for itself.
    let servers = json!({"mcpServers": {
        "voice": {"command": std::env::current_exe()?, "args": ["serve"]},
        "broken": {"command": "there-is-no-such-command"},
    }});
    fs::write(folder.path().join("mcp.json"), servers.to_string())?;
    // Imported tools are named by their server; what no rule names is asked, here of nobody.
    let rules = [
        Rule::allow("call", "voice/*"),
        Rule::allow("call", "reverse"),
        Rule::allow("read", "**"),
    ];

    let runtime = Runtime::builder()
        .rules(Layer::new("example", rules)?)
        .workspace(folder.path())
        .state(folder.path().join("state"))
        .servers(folder.path().join("mcp.json"))
        .build()
        .await?;
    let reverse = tool("Write a line backwards", |line| {
        line.chars().rev().collect()
    });
    let _registered = runtime.register([("reverse", reverse)])?;

    runtime.servers_settled().await;
    for server in runtime.servers() {
        println!("server {}: {}", server.name, server.state.as_str());
    }
    for (name, arguments) in [
        ("voice__shout", json!({"line": "hello"})),
        ("reverse", json!({"line": "hello"})),
        ("read", json!({"path": "notes.txt"})),
        ("write", json!({"path": "notes.txt", "content": ""})),
    ] {
        let call = Call::new(name, arguments);
        let settled = runtime.snapshot().settle(call, &Facts::new()).await;
        println!("{name}: {}", settled.text().trim_end());
    }

    // Port 0 takes any that is free. A gateway would now wait until it is told to end.
    let address = SocketAddr::from(([127, 0, 0, 1], 0));
    let server = runtime.mcp_server().serve_http(address).await?;
    println!("serving at {}", server.url());
    server.shutdown().await;
    runtime.shutdown().await;
    Ok(())
}
