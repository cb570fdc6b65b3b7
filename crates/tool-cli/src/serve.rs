//! `tool serve`.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use serde_json::json;
use tool_runtime::core::ErrorChain;
use tool_runtime::mcp::{BearerToken, HttpOptions, HttpServer, Server};
use tool_runtime::{Runtime, RuntimeError};

use crate::args::{Common, Serve};
use crate::error::CliError;
use crate::{approve, render, setup, signals};

/// Well below what clients grant a server to begin in: 30 s and more.
const HEAD_START: Duration = Duration::from_secs(10);
/// The variable that holds the token of clients over HTTP.
pub(crate) const TOKEN: &str = "TOOL_TOKEN";

/// Serves until the client leaves or the program is told to end.
pub(crate) async fn run(common: &Common, serve: Serve) -> Result<ExitCode, CliError> {
    let runtime = match serve.ask {
        None => setup::runtime(common, approve::nobody()).await?,
        Some(seconds) => setup::runtime_with_desk(common, Duration::from_secs(seconds)).await?,
    };
    let asking = match runtime.desk().cloned() {
        None => None,
        Some(desk) => {
            let (_, mailbox) = setup::approvals(common).await?;
            let gateway = gateway();
            Some(tokio::spawn(async move {
                mailbox.serve(&desk, &gateway).await;
            }))
        }
    };
    let looked_after = look_after(&runtime);
    let mut server = runtime.mcp_server();
    if runtime.desk().is_some() {
        // Who watches the desk answers, and not whoever uses a client.
        server = server.leave_questions();
    }
    let ended = match serve.http {
        Some(address) => http(common, &runtime, server, address, &serve).await,
        None => stdio(common, &runtime, server).await,
    };
    looked_after.abort();
    if let Some(asking) = asking {
        asking.abort();
    }
    runtime.shutdown().await;
    ended.map(|()| ExitCode::SUCCESS)
}

/// Sweeps the stores once an hour. Opening them was the first time.
fn look_after(runtime: &Runtime) -> tokio::task::JoinHandle<()> {
    tokio::spawn(runtime.upkeep().clone().look_after(|swept| {
        if let Err(error) = swept {
            let error = ErrorChain::of(&error);
            render::note(&format!("the stores could not be swept: {error}"));
        }
    }))
}

/// Standard output belongs to the protocol; all that is told goes to standard error.
async fn stdio(common: &Common, runtime: &Runtime, server: Server) -> Result<(), CliError> {
    if std::io::IsTerminal::is_terminal(&std::io::stdin()) {
        greet(common, runtime)?;
        render::note(&format!(
            "serving MCP on standard input and output; it is for a client to start, with:\n  {}\n\
             or serve people and clients over HTTP: {} serve --http 127.0.0.1:8808",
            json!({"mcpServers": {"tool": {"command": program_path(), "args": ["serve"]}}}),
            render::program(),
        ));
    }
    let watching = watch_servers(runtime);
    let serving = async {
        // What the client writes meanwhile waits for its answer.
        head_start(runtime).await;
        server.serve_stdio().await
    };
    tokio::select! {
        ended = serving => ended.map_err(RuntimeError::from)?,
        _ = signals::told_to_end() => {}
        () = watching => {}
    }
    Ok(())
}

async fn http(
    common: &Common,
    runtime: &Runtime,
    server: Server,
    address: SocketAddr,
    serve: &Serve,
) -> Result<(), CliError> {
    let mut options = HttpOptions::new(address);
    if serve.no_token {
        options = options.allow_anyone_unchecked();
    } else {
        options = options.kept_tokens(setup::tokens(common).await?);
        if let Some(token) = token(serve)? {
            options = options.token(token);
        }
    }
    if serve.allow_remote {
        options = options.allow_any_interface_unchecked();
    } else if !address.ip().is_loopback() {
        return Err(CliError::Remote { address });
    }
    let servers = runtime.servers().len();
    if servers > 0 && !common.json {
        render::note(&format!(
            "waiting for the imported servers, {servers} in all"
        ));
    }
    tokio::select! {
        () = head_start(runtime) => {}
        _ = signals::told_to_end() => return Ok(()),
    }
    let server = server.serve_http(options).await;
    let mut server = server.map_err(RuntimeError::from)?;
    announce(common, runtime, &server)?;
    let watching = watch_servers(runtime);
    tokio::select! {
        ended = server.ended() => ended.map_err(RuntimeError::from)?,
        _ = signals::told_to_end() => {}
        () = watching => {}
    }
    server.shutdown().await;
    Ok(())
}

/// The token that was given, in a file or in the environment.
fn token(serve: &Serve) -> Result<Option<BearerToken>, CliError> {
    let (from, text) = match (&serve.token_file, std::env::var(TOKEN)) {
        (Some(path), _) => match std::fs::read_to_string(path) {
            Ok(text) => (path.display().to_string(), text),
            Err(source) => {
                let path = path.clone();
                return Err(CliError::Read { path, source });
            }
        },
        (None, Ok(text)) if !text.is_empty() => (TOKEN.to_owned(), text),
        (None, _) => return Ok(None),
    };
    match BearerToken::new(&text) {
        Ok(token) => Ok(Some(token)),
        Err(source) => Err(CliError::Token { from, source }),
    }
}

/// Says where the server is and what to do next: to a program on standard output, to a person on
/// standard error.
fn announce(common: &Common, runtime: &Runtime, server: &HttpServer) -> Result<(), CliError> {
    let url = server.url();
    // One that was given is known to whoever gave it, and shown to nobody else.
    let token = server.made_up_token().map(BearerToken::expose);
    if common.json {
        let (root, state) = places(common)?;
        return render::json(&json!({
            "url": url,
            "token": token,
            "root": root.display().to_string(),
            "state": state,
            "tools": runtime.snapshot().entries().len(),
        }));
    }
    greet(common, runtime)?;
    let program = render::program();
    let mut client = json!({"type": "http", "url": url});
    if let (Some(token), Some(members)) = (token, client.as_object_mut()) {
        let headers = json!({"Authorization": format!("Bearer {token}")});
        members.insert("headers".to_owned(), headers);
    }
    render::note(&format!(
        "serving MCP at {url}\n\n\
         next, point a client at it:\n  {}\n\
         or try a tool here, in another terminal:\n  \
         {program} list\n  \
         {program} call grep '{{\"pattern\":\"fn main\"}}'\n\
         Ctrl-C ends it",
        json!({"mcpServers": {"tool": client}}),
    ));
    if token.is_some() {
        render::note(&format!(
            "the token is good until this ends; give one that stays in {TOKEN} or with \
             --token-file, or each client its own with `{program} token add NAME`"
        ));
    }
    Ok(())
}

/// Says what is served, on what, and where long output goes.
fn greet(common: &Common, runtime: &Runtime) -> Result<(), CliError> {
    let (root, state) = places(common)?;
    let tools = runtime.snapshot().entries().len();
    render::note(&format!(
        "{tools} tools, of which the built-in ones work on {}\nlong output is kept in {}\n\
         reading is allowed; writing and the shell need rules (--policy FILE, or --config FILE)",
        root.display(),
        state,
    ));
    Ok(())
}

/// A name that no other gateway has.
fn gateway() -> String {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let nanos = since.unwrap_or_default().as_nanos();
    format!("g{:x}{nanos:x}", std::process::id())
}

/// The folder of the tools and the place of the state, for people and programs elsewhere.
fn places(common: &Common) -> Result<(PathBuf, String), CliError> {
    let (root, state) = setup::places(common)?;
    let state = match state.folder() {
        Some(folder) => std::path::absolute(folder)?.display().to_string(),
        None => state.to_string(),
    };
    Ok((std::path::absolute(root)?, state))
}

/// This program, as it can be started from any folder.
fn program_path() -> String {
    let program = render::program();
    match std::env::current_exe() {
        // Without a folder it was found by its name alone, and will be again.
        Ok(path) if Path::new(&program).components().count() > 1 => path.display().to_string(),
        _ => program,
    }
}

/// Lets servers come up, so that a client that lists the tools once finds theirs. One that takes
/// longer holds up nobody: clients are told when its tools are there.
async fn head_start(runtime: &Runtime) {
    // Whether they have come up or not, it is time to serve.
    let _ = tokio::time::timeout(HEAD_START, runtime.servers_settled()).await;
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
        render::note(&render::one_line(&line));
    }
    std::future::pending::<()>().await;
}
