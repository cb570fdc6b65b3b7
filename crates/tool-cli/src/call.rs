//! `tool call`.

use std::io::{self, IsTerminal as _, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use serde_json::{Value, json};
use tool_runtime::core::{Call, Content, Facts, Outcome, Progress, Settlement};

use crate::args::{self, Common};
use crate::error::CliError;
use crate::progress::Line;
use crate::{approve, render, setup};

/// Calls one tool and prints what came of it: the content on standard output, and why it did not
/// succeed on standard error.
pub(crate) async fn run(common: &Common, call: args::Call) -> Result<ExitCode, CliError> {
    let arguments = arguments(&call.arguments)?;
    let line = Line::new(&call.name);
    let runtime = setup::runtime(common, approve::terminal(common.json, line.clone())).await?;
    runtime.servers_settled().await;

    let shown = line.clone();
    let mut settling = runtime
        .snapshot()
        .settle(Call::new(call.name, arguments), &Facts::new())
        .progress(move |progress: Progress| shown.show(&progress));
    if let Some(seconds) = call.timeout {
        settling = settling.timeout(Duration::from_secs(seconds));
    }
    let settled = tokio::select! {
        settled = settling.into_future() => Some(settled),
        // Dropping the call is what cancels it.
        _ = tokio::signal::ctrl_c() => None,
    };
    line.clear();
    runtime.shutdown().await;

    let Some(settlement) = settled else {
        render::note("cancelled");
        return Ok(ExitCode::from(130));
    };
    if common.json {
        render::json(&document(&settlement))?;
    } else {
        print(&settlement)?;
    }
    Ok(if settlement.is_error() {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

/// The arguments as text: given, from a file, or from standard input.
fn arguments(given: &str) -> Result<String, CliError> {
    if given == "-" {
        let mut text = String::new();
        io::stdin()
            .lock()
            .read_to_string(&mut text)
            .map_err(|source| CliError::ReadInput { source })?;
        return Ok(text);
    }
    match given.strip_prefix('@') {
        Some(path) => std::fs::read_to_string(Path::new(path)).map_err(|source| CliError::Read {
            path: PathBuf::from(path),
            source,
        }),
        None => Ok(given.to_owned()),
    }
}

fn print(settlement: &Settlement) -> Result<(), CliError> {
    if let Outcome::Completed = settlement.outcome {
        let mut out = io::stdout().lock();
        let terminal = out.is_terminal();
        for content in &settlement.content {
            let text = match content {
                Content::Text(text) => render::printable(&text.text, terminal),
                other => describe(other),
            };
            out.write_all(text.as_bytes())?;
            if !text.ends_with('\n') {
                out.write_all(b"\n")?;
            }
        }
        out.flush()?;
        return Ok(());
    }
    let terminal = io::stderr().is_terminal();
    let outcome = settlement.outcome.as_str();
    let text = match &settlement.outcome {
        // The person at the keyboard is the operator.
        Outcome::Refused(refusal) => refusal.operator(),
        Outcome::Defect(defect) => chain(defect),
        _ => settlement.text(),
    };
    render::note(&render::printable(
        &format!("{outcome}: {}: {text}", settlement.tool),
        terminal,
    ));
    Ok(())
}

/// What stands on a terminal for content that is no text.
fn describe(content: &Content) -> String {
    match content {
        Content::Media(media) => {
            format!(
                "[{} of {}]",
                media.mime,
                render::size(media.data.len() as u64)
            )
        }
        Content::Embedded(resource) => format!("[resource {}]", resource.uri),
        Content::Link(link) => format!("[link {} {}]", link.name, link.uri),
        _ => "[content of another kind]".to_owned(),
    }
}

/// The settlement as one document.
fn document(settlement: &Settlement) -> Value {
    let content: Vec<Value> = settlement
        .content
        .iter()
        .map(|content| match content {
            Content::Text(text) => json!({"type": "text", "text": text.text}),
            Content::Media(media) => {
                json!({"type": "media", "mime": media.mime, "bytes": media.data.len()})
            }
            Content::Embedded(resource) => json!({"type": "resource", "uri": resource.uri}),
            Content::Link(link) => json!({"type": "link", "uri": link.uri, "name": link.name}),
            _ => json!({"type": "other"}),
        })
        .collect();
    let reason = match &settlement.outcome {
        Outcome::Refused(refusal) => {
            Some(json!({"kind": refusal.kind().as_str(), "operator": refusal.operator()}))
        }
        Outcome::Defect(defect) => Some(json!({"operator": chain(defect)})),
        _ => None,
    };
    json!({
        "tool": settlement.tool,
        "outcome": settlement.outcome.as_str(),
        "isError": settlement.is_error(),
        "reason": reason,
        "content": content,
        "structured": settlement.structured,
        "retained": settlement.retained,
        "repairs": settlement.repairs.iter()
            .map(|repair| json!({"path": repair.path, "rule": repair.rule}))
            .collect::<Vec<_>>(),
    })
}

fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}
