//! `tool serve`.

use std::net::SocketAddr;
use std::process::ExitCode;

use serde_json::json;
use tool_runtime::mcp::HttpOptions;
use tool_runtime::{Runtime, RuntimeError};

use crate::args::{Common, Serve};
use crate::error::CliError;
use crate::{approve, render, setup};

/// Serves until the client leaves or the program is told to end.
pub(crate) async fn run(common: &Common, serve: Serve) -> Result<ExitCode, CliError> {
    let runtime = setup::runtime(common, approve::nobody()).await?;
    let ended = match serve.http {
        Some(address) => http(common, &runtime, address, serve.allow_remote).await,
        None => stdio(common, &runtime).await,
    };
    runtime.shutdown().await;
    ended.map(|()| ExitCode::SUCCESS)
}

/// Standard output belongs to the protocol; all that is told goes to standard error.
async fn stdio(common: &Common, runtime: &Runtime) -> Result<(), CliError> {
    if std::io::IsTerminal::is_terminal(&std::io::stdin()) {
        greet(common, runtime)?;
        render::note(
            "serving MCP on standard input and output; it is for a client to start, with:\n  \
             {\"mcpServers\": {\"tool\": {\"command\": \"tool\", \"args\": [\"serve\"]}}}\n\
             or serve people and clients over HTTP: tool serve --http 127.0.0.1:8808",
        );
    }
    let watching = watch_servers(runtime);
    let server = runtime.mcp_server();
    tokio::select! {
        ended = server.serve_stdio() => ended.map_err(RuntimeError::from)?,
        () = told_to_end() => {}
        () = watching => {}
    }
    Ok(())
}

async fn http(
    common: &Common,
    runtime: &Runtime,
    address: SocketAddr,
    allow_remote: bool,
) -> Result<(), CliError> {
    let mut options = HttpOptions::new(address);
    if allow_remote {
        options = options.allow_any_interface_unchecked();
    }
    let mut server = runtime
        .mcp_server()
        .serve_http(options)
        .await
        .map_err(RuntimeError::from)?;
    let url = server.url();
    greet(common, runtime)?;
    render::note(&format!(
        "serving MCP at {url}\n\n\
         next, point a client at it:\n  \
         {{\"mcpServers\": {{\"tool\": {{\"url\": \"{url}\"}}}}}}\n\
         or try a tool here, in another terminal:\n  \
         tool list\n  \
         tool call grep '{{\"pattern\":\"fn main\"}}'\n\
         Ctrl-C ends it"
    ));
    let watching = watch_servers(runtime);
    tokio::select! {
        ended = server.ended() => ended.map_err(RuntimeError::from)?,
        () = told_to_end() => {}
        () = watching => {}
    }
    server.shutdown().await;
    Ok(())
}

/// Says what is served, on what, and where long output goes.
fn greet(common: &Common, runtime: &Runtime) -> Result<(), CliError> {
    let (root, state) = setup::places(common)?;
    let root = std::path::absolute(root)?;
    let state = std::path::absolute(state)?;
    let tools = runtime.snapshot().entries().len();
    if common.json {
        let document = json!({"root": root.display().to_string(), "state": state.display().to_string(), "tools": tools});
        render::note(&document.to_string());
        return Ok(());
    }
    render::note(&format!(
        "{tools} built-in tools on {}\nlong output is kept in {}\n\
         reading is allowed; writing and the shell need rules (--policy FILE, or tool.toml)",
        root.display(),
        state.display(),
    ));
    Ok(())
}

/// Tells how every server ended up, then waits for ever.
async fn watch_servers(runtime: &Runtime) {
    runtime.servers_settled().await;
    for server in runtime.servers() {
        let detail = server
            .state
            .detail()
            .map(|detail| format!(": {detail}"))
            .unwrap_or_default();
        let line = format!("server {}: {}{detail}", server.name, server.state.as_str());
        render::note(&render::printable(&line, true));
    }
    std::future::pending::<()>().await;
}

/// Waits for Ctrl-C or, where there is one, the signal to terminate.
async fn told_to_end() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminate.recv() => {}
            }
            return;
        }
    }
    let _ = tokio::signal::ctrl_c().await;
}
