//! `tool doctor`.

mod files;
mod finding;
mod launcher;
mod place;
mod servers;

use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;

use serde_json::{Value, json};

use self::finding::{Finding, Findings, Level};
use crate::args::Common;
use crate::error::CliError;
use crate::{render, setup, signals};

/// Looks at everything that the command line leads to, and says by object what is wrong and the
/// way out.
pub(crate) async fn run(common: &Common) -> Result<ExitCode, CliError> {
    let mut findings = Findings::default();
    let settings = files::settings(common, &mut findings);
    files::policies(common, settings.as_ref(), &mut findings);
    let servers = files::servers(common, &mut findings);
    if settings.is_ok() {
        place::state(
            common,
            settings.as_ref().ok().and_then(Option::as_ref),
            &mut findings,
        )
        .await;
        place::audit(common, &mut findings);
        place::tokens(common, &mut findings).await;
    } else {
        let text = "not looked at, as the settings cannot be read";
        findings.problem("state", text, "put the settings right first");
    }
    let looking = servers::look(common, servers, &mut findings);
    let reports = tokio::select! {
        reports = looking => reports,
        status = signals::told_to_end() => return Ok(status),
    };
    let all = findings.all();
    let healthy = all.iter().all(|finding| finding.level == Level::Ok);
    if common.json {
        let findings: Vec<Value> = all.iter().map(Finding::document).collect();
        render::json(&json!({"ok": healthy, "findings": findings, "servers": reports}))?;
    } else {
        print(all)?;
    }
    Ok(match healthy {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

fn print(findings: &[Finding]) -> Result<(), CliError> {
    let mut out = io::stdout().lock();
    let terminal = out.is_terminal();
    for finding in findings {
        let line = format!(
            "{:<8} {}: {}",
            finding.level.as_str(),
            finding.about,
            finding.says
        );
        writeln!(out, "{}", render::printable(&line, terminal))?;
        if let Some(fix) = &finding.fix {
            writeln!(out, "         {}", render::printable(fix, terminal))?;
        }
    }
    out.flush()?;
    Ok(())
}

/// The state, as a note for whoever has none.
fn explained(error: &CliError) -> String {
    tool_runtime::core::ErrorChain::of(error).to_string()
}

/// Everything that the settings say of the state, where they can be read.
fn places(common: &Common) -> Result<tool_runtime::Place, CliError> {
    setup::places(common).map(|(_, state)| state)
}
