//! `tool list`.

use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;

use serde_json::json;

use tool_runtime::{ServerState, ServerStatus};

use crate::args::Common;
use crate::error::CliError;
use crate::{render, setup, signals};

/// Lists every tool, and every server with its state.
pub(crate) async fn run(common: &Common) -> Result<ExitCode, CliError> {
    let runtime = setup::catalogue(common).await?;
    tokio::select! {
        () = runtime.servers_settled() => {}
        status = signals::told_to_end() => {
            runtime.shutdown().await;
            return Ok(status);
        }
    }
    let snapshot = runtime.snapshot();
    let servers = runtime.servers();

    if common.json {
        let tools: Vec<_> = snapshot
            .entries()
            .map(|entry| {
                let mut tool = json!(entry.definition());
                if let Some(tool) = tool.as_object_mut() {
                    tool.insert("source".to_owned(), json!(entry.source().to_string()));
                    tool.insert(
                        "authoredName".to_owned(),
                        json!(entry.identity().name().as_str()),
                    );
                    tool.insert("digest".to_owned(), json!(entry.digest().to_string()));
                }
                tool
            })
            .collect();
        let servers: Vec<_> = servers
            .iter()
            .map(|server| {
                json!({
                    "name": server.name,
                    "state": server.state.as_str(),
                    "detail": server.state.detail(),
                    "problems": server.problems,
                })
            })
            .collect();
        render::json(&json!({"tools": tools, "servers": servers}))?;
    } else {
        let mut out = io::stdout().lock();
        let terminal = out.is_terminal();
        let width = snapshot
            .entries()
            .map(|entry| entry.wire_name().as_str().len())
            .max()
            .unwrap_or_default();
        for entry in snapshot.entries() {
            let summary = summary(&entry.definition().description);
            let summary = render::printable(summary, terminal);
            writeln!(out, "{:width$}  {summary}", entry.wire_name().as_str())?;
        }
        out.flush()?;
        for server in &servers {
            for line in told(server) {
                render::note(&line);
            }
        }
    }
    runtime.shutdown().await;
    Ok(ExitCode::SUCCESS)
}

/// How a server does: in one line, or with a line for each thing that is wrong where there are
/// several. No text of a server begins another one.
fn told(server: &ServerStatus) -> Vec<String> {
    let told = format!("server {}: {}", server.name, server.state.as_str());
    let (told, each) = match &server.state {
        ServerState::Ready { tools, refused } if refused.len() > 1 => {
            (format!("{told}: {tools} tools, refused:"), refused)
        }
        ServerState::Failed { .. } if server.problems.len() > 1 => {
            (format!("{told}:"), &server.problems)
        }
        state => match state.detail() {
            Some(detail) => return vec![render::one_line(&format!("{told}: {detail}"))],
            None => return vec![told],
        },
    };
    let each = each
        .iter()
        .map(|one| render::one_line(&format!("         {one}")));
    std::iter::once(told).chain(each).collect()
}

/// The first sentence of a description; a tool says the most important first.
fn summary(description: &str) -> &str {
    let line = description.trim_start().lines().next().unwrap_or_default();
    match line.find(". ") {
        Some(at) => line.get(..=at).unwrap_or(line),
        None => line,
    }
}
