//! `tool pin`.

use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;

use serde_json::{Value, json};
use tool_runtime::core::Namespace;
use tool_runtime::mcp::{Change, Pins};

use crate::args::{Common, Pin};
use crate::error::CliError;
use crate::{render, setup};

/// Shows what is trusted and what waits, or approves.
pub(crate) async fn run(common: &Common, command: Pin) -> Result<ExitCode, CliError> {
    let pins = setup::pins(common).await?;
    match command {
        Pin::Status => status(common, &pins).await,
        Pin::Diff { server, tool } => diff(common, &pins, &server, tool.as_deref()).await,
        Pin::Approve { server, code } => approve(common, &pins, &server, &code).await,
        Pin::Forget { what } => forget(common, &pins, &what).await,
    }
}

async fn status(common: &Common, pins: &Pins) -> Result<ExitCode, CliError> {
    let mut servers = Vec::new();
    for server in pins.servers().await? {
        let Some((launch, tools)) = pins.trusted(&server).await? else {
            continue;
        };
        servers.push((pins.changes(&server).await?, server, launch, tools));
    }
    if common.json {
        let servers = servers.iter().map(|(changes, server, launch, tools)| {
            let waiting: Vec<Value> = changes.iter().map(|change| json!(change.tool)).collect();
            json!({
                "server": server.as_str(),
                "launch": launch,
                "tools": tools,
                "waiting": waiting,
            })
        });
        render::json(&json!({"servers": servers.collect::<Vec<_>>()}))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut out = io::stdout().lock();
    for (changes, server, launch, tools) in &servers {
        let launch = launch.as_ref().map(ToString::to_string);
        let launch = launch.unwrap_or_else(|| "not trusted to be started".to_owned());
        let waiting = match changes.len() {
            0 => String::new(),
            waiting => format!(", {waiting} waiting: tool pin diff {server}"),
        };
        let tools = render::counted(*tools, "tool");
        writeln!(out, "{server}: {launch}\n  {tools} trusted{waiting}")?;
    }
    out.flush()?;
    if servers.is_empty() {
        render::note("no server was ever started");
    }
    Ok(ExitCode::SUCCESS)
}

async fn diff(
    common: &Common,
    pins: &Pins,
    server: &str,
    tool: Option<&str>,
) -> Result<ExitCode, CliError> {
    let server = known(pins, server).await?;
    let mut changes = pins.changes(&server).await?;
    if let Some(tool) = tool {
        changes.retain(|change| change.tool.as_deref() == Some(tool));
    }
    if common.json {
        let all = (!changes.is_empty()).then(|| Change::code_of(&changes));
        let changes: Vec<_> = changes.iter().map(document).collect();
        render::json(&json!({"server": server.as_str(), "changes": changes, "code": all}))?;
    } else {
        let mut out = io::stdout().lock();
        for change in &changes {
            writeln!(
                out,
                "{change}\n  approve it: tool pin approve {server} {}\n",
                change.code()
            )?;
        }
        if changes.len() > 1 && tool.is_none() {
            let code = Change::code_of(&changes);
            writeln!(out, "approve all of it: tool pin approve {server} {code}")?;
        }
        out.flush()?;
        if changes.is_empty() {
            render::note("nothing waits: all is as it was trusted");
        }
    }
    // As `diff` has it: 0 where the two are the same.
    Ok(ExitCode::from(u8::from(!changes.is_empty())))
}

async fn approve(
    common: &Common,
    pins: &Pins,
    server: &str,
    code: &str,
) -> Result<ExitCode, CliError> {
    let server = known(pins, server).await?;
    let approved = pins.approve(&server, code).await?;
    if approved.is_empty() {
        return Err(CliError::NoChange {
            server: server.to_string(),
            code: code.to_owned(),
        });
    }
    if common.json {
        let approved: Vec<_> = approved.iter().map(document).collect();
        render::json(&json!({"server": server.as_str(), "approved": approved}))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut out = io::stdout().lock();
    for change in &approved {
        writeln!(out, "approved: {change}")?;
    }
    out.flush()?;
    if io::stderr().is_terminal() {
        render::note("gateways that run take it in within seconds");
    }
    Ok(ExitCode::SUCCESS)
}

async fn forget(common: &Common, pins: &Pins, what: &str) -> Result<ExitCode, CliError> {
    // A server may have a slash in its name, and so may a tool.
    let (server, tool) = match (known(pins, what).await, what.split_once('/')) {
        (Err(CliError::NoServer { .. }), Some((server, tool))) => {
            (known(pins, server).await?, Some(tool))
        }
        (server, _) => (server?, None),
    };
    if !pins.forget(&server, tool).await? {
        return Err(CliError::NoTool {
            server: server.to_string(),
            tool: tool.unwrap_or_default().to_owned(),
        });
    }
    if common.json {
        render::json(&json!({"forgotten": {"server": server.as_str(), "tool": tool}}))?;
        return Ok(ExitCode::SUCCESS);
    }
    render::note(match tool {
        None => {
            "forgotten; the next time that it is reached the server is new: trusted as it is, or \
             not started before it is approved where its overlay says so"
        }
        Some(_) => "forgotten; the tool waits for approval when its server lists it the next time",
    });
    Ok(ExitCode::SUCCESS)
}

async fn known(pins: &Pins, server: &str) -> Result<Namespace, CliError> {
    let wrong = || CliError::NoServer {
        server: server.to_owned(),
    };
    let name = Namespace::new(server).map_err(|_| wrong())?;
    match pins.trusted(&name).await? {
        Some(_) => Ok(name),
        None => Err(wrong()),
    }
}

fn document(change: &Change) -> Value {
    let differences = change.differences();
    let differences = differences.iter().map(|difference| {
        json!({
            "pointer": difference.pointer,
            "trusted": difference.trusted,
            "seen": difference.seen,
        })
    });
    json!({
        "tool": change.tool,
        "differences": differences.collect::<Vec<_>>(),
        "code": change.code(),
    })
}
