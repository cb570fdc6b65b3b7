//! `tool list --profile`.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::Path;
use std::process::ExitCode;

use tool_runtime::ServerState;
use tool_runtime::core::Definition;
use tool_runtime::provider::{Effect, Loss, Profile};

use crate::args::Common;
use crate::error::CliError;
use crate::tool_list_file::Document;
use crate::{approve, render, setup, signals};

/// Prints what a provider is sent, and tells beside what was given up and who is left out.
pub(crate) async fn run(
    common: &Common,
    profile: Profile,
    from: Option<&Path>,
) -> Result<ExitCode, CliError> {
    if let Some(path) = from {
        let Document::Tools(list) = Document::read(path)? else {
            return Err(CliError::NoToolList {
                path: path.to_owned(),
                problem: "names servers; give it with --mcp-config to list their tools",
            });
        };
        let (definitions, hopeless) = list.definitions();
        for problem in hopeless {
            note(&problem);
        }
        print(profile, &definitions)?;
        return Ok(ExitCode::SUCCESS);
    }
    let runtime = setup::runtime(common, approve::nobody()).await?;
    tokio::select! {
        () = runtime.servers_settled() => {}
        status = signals::told_to_end() => {
            runtime.shutdown().await;
            return Ok(status);
        }
    }
    for server in runtime.servers() {
        let whole =
            matches!(&server.state, ServerState::Ready { refused, .. } if refused.is_empty());
        if !whole {
            let detail = server.state.detail().unwrap_or_default();
            note(&format!(
                "server {}: {}: {detail}",
                server.name,
                server.state.as_str()
            ));
        }
    }
    let snapshot = runtime.snapshot();
    let definitions: Vec<Definition> = snapshot.definitions().cloned().collect();
    let printed = print(profile, &definitions);
    runtime.shutdown().await;
    printed.map(|()| ExitCode::SUCCESS)
}

fn print(profile: Profile, definitions: &[Definition]) -> Result<(), CliError> {
    let list = profile.tools(definitions);
    let mut out = io::stdout().lock();
    writeln!(out, "{}", list.as_json())?;
    out.flush()?;
    for tool in list.tools() {
        if let Some(because) = tool.fell_back() {
            let line = format!(
                "{}: not strict{}: {}",
                tool.name(),
                at(because),
                because.note
            );
            note(&line);
        }
        for loss in tool
            .losses()
            .iter()
            .filter(|it| it.effect != Effect::Rewritten)
        {
            let word = match loss.effect {
                Effect::Narrowed => "narrowed",
                _ => "given up",
            };
            note(&format!(
                "{}: {word}{}: {}",
                tool.name(),
                at(loss),
                loss.note
            ));
        }
    }
    for quarantined in list.quarantined() {
        note(&quarantined.to_string());
    }
    Ok(())
}

fn at(loss: &Loss) -> String {
    match (loss.keyword.as_str(), loss.path.as_str()) {
        ("", "") => String::new(),
        ("", path) => format!(" at {path}"),
        (keyword, "") => format!(" {keyword} at the root"),
        (keyword, path) => format!(" {keyword} at {path}"),
    }
}

fn note(line: &str) {
    render::note(&render::printable(line, io::stderr().is_terminal()));
}
