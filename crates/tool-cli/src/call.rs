//! `tool call`.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::Path;
use std::pin::pin;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tool_runtime::Runtime;
use tool_runtime::core::{
    Call, Content, ErrorChain, Facts, Outcome, Progress, Refusal, Settlement,
};

use crate::args::{self, Common};
use crate::document::document;
use crate::error::CliError;
use crate::progress::Line;
use crate::{approve, input, render, setup, signals};

/// Calls one tool and prints what came of it: the content on standard output, and why it did not
/// succeed on standard error.
pub(crate) async fn run(common: &Common, call: args::Call) -> Result<ExitCode, CliError> {
    let arguments = arguments(&call.arguments)?;
    let line = Line::new(&call.name);
    let approver = approve::terminal(common.json, line.clone());
    let unanswered = approver.unanswered();
    let runtime = setup::runtime(common, approver).await?;

    let shown = line.clone();
    let settling = async {
        available(&runtime, &call.name).await;
        let mut settling = runtime
            .snapshot()
            .settle(Call::new(call.name, arguments), &Facts::new())
            .progress(move |progress: Progress| shown.show(&progress));
        if let Some(seconds) = call.timeout {
            settling = settling.timeout(Duration::from_secs(seconds));
        }
        settling.await
    };
    let settled = tokio::select! {
        settled = settling => Ok(settled),
        // Dropping the call is what cancels it.
        status = signals::told_to_end() => Err(status),
    };
    line.clear();
    runtime.shutdown().await;

    let settlement = match settled {
        Ok(settlement) => settlement,
        Err(status) => {
            render::note("cancelled");
            return Ok(status);
        }
    };
    if common.json {
        render::json(&document(&settlement))?;
    } else {
        print(&settlement)?;
        hint(&settlement, unanswered.load(Ordering::Relaxed));
    }
    Ok(if settlement.is_error() {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

/// Says on standard error what a person can do next.
fn hint(settlement: &Settlement, unanswered: bool) {
    for retained in &settlement.retained {
        render::note(&format!(
            "the whole output, {}, is kept: {} output read {} --all",
            render::size(retained.bytes),
            render::program(),
            retained.id
        ));
    }
    if unanswered && matches!(settlement.outcome, Outcome::Refused(Refusal::Denied(_))) {
        render::note(
            "call it on a terminal to be asked, or add a rule that allows it, \
             with --policy FILE or in the settings of --config",
        );
    }
}

/// Waits until there is a tool of that name, or until every server has settled without one.
async fn available(runtime: &Runtime, name: &str) {
    let mut changes = runtime.registry().changes();
    let settled = runtime.servers_settled();
    let mut settled = pin!(settled);
    while runtime.snapshot().get(name).is_none() {
        tokio::select! {
            () = &mut settled => return,
            changed = changes.changed() => if !changed { return },
        }
    }
}

/// The arguments as text: given, from a file, or from standard input.
fn arguments(given: &str) -> Result<String, CliError> {
    match given.strip_prefix('@') {
        Some(path) => input::file(Path::new(path)),
        None if given == "-" => input::standard(),
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
        Outcome::Defect(defect) => ErrorChain::of(defect).to_string(),
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
