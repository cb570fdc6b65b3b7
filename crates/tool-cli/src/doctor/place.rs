//! The state, the audit log, and who is served.

use std::path::Path;

use tool_runtime::Settings;
use tool_runtime::core::ErrorChain;
use tool_runtime::mcp::BearerToken;

use super::finding::Findings;
use super::{explained, places};
use crate::args::Common;
use crate::{render, serve, setup};

/// Whether state can be kept, by whom it can be read, and how much room there is.
pub(crate) async fn state(common: &Common, settings: Option<&Settings>, findings: &mut Findings) {
    let place = match places(common) {
        Ok(place) => place,
        Err(error) => {
            findings.problem("state", explained(&error), "name a folder with --state");
            return;
        }
    };
    let about = format!("state {place}");
    let fix = "make it a folder that you own, or name another one with --state";
    let limits = match setup::limits(settings) {
        Ok(limits) => limits,
        Err(error) => {
            findings.problem(about, explained(&error), "put the settings right");
            return;
        }
    };
    let outputs = match setup::store(common).await {
        Ok(outputs) => outputs,
        Err(error) => {
            findings.problem(about, explained(&error), fix);
            return;
        }
    };
    match outputs.list().await {
        Ok(list) => {
            let used: u64 = list.iter().map(|output| output.bytes).sum();
            let (used, most) = (render::size(used), render::size(limits.total_bytes()));
            findings.ok(&about, format!("{} outputs, {used} of {most}", list.len()));
        }
        Err(error) => findings.problem(&about, ErrorChain::of(&error).to_string(), fix),
    }
    if let Some(folder) = place.folder() {
        if let Err(error) = tempfile::tempfile_in(folder) {
            findings.problem(&about, format!("cannot be written: {error}"), fix);
        }
        private(folder, &about, findings);
        room(folder, limits.output_bytes(), &about, findings);
    }
}

/// Whether others may look into the folder.
#[cfg(unix)]
fn private(folder: &Path, about: &str, findings: &mut Findings) {
    use std::os::unix::fs::MetadataExt as _;

    const OTHERS: u32 = 0o077;
    let mode = std::fs::metadata(folder).map(|found| found.mode());
    if let Ok(mode) = mode
        && mode & OTHERS != 0
    {
        let text = format!("others may look into it: its mode is {:04o}", mode & 0o7777);
        findings.problem(about, text, format!("chmod 700 {}", folder.display()));
    }
}

#[cfg(not(unix))]
fn private(_folder: &Path, _about: &str, _findings: &mut Findings) {}

/// Whether there is room for one more output at least.
#[cfg(target_os = "linux")]
fn room(folder: &Path, output: u64, about: &str, findings: &mut Findings) {
    let Ok(found) = rustix::fs::statvfs(folder) else {
        return;
    };
    let free = found.f_bavail.saturating_mul(found.f_frsize);
    if free < output {
        let text = format!(
            "{} are free on its disk, and one output may take {}",
            render::size(free),
            render::size(output)
        );
        let fix = "make room, or name a folder on another disk with --state";
        findings.problem(about, text, fix);
    }
}

#[cfg(not(target_os = "linux"))]
fn room(_folder: &Path, _output: u64, _about: &str, _findings: &mut Findings) {}

/// Whether calls can be put on record.
pub(crate) fn audit(common: &Common, findings: &mut Findings) {
    match setup::audit(common) {
        Ok(_log) => findings.ok("audit log", "can be written"),
        Err(error) => {
            let fix = "name a folder that can be written as [audit] dir in the settings";
            findings.problem("audit log", explained(&error), fix);
        }
    }
}

/// By which tokens clients over HTTP are served.
pub(crate) async fn tokens(common: &Common, findings: &mut Findings) {
    let about = "clients over HTTP";
    let kept = match setup::tokens(common).await {
        Ok(tokens) => tokens.list().await.map_err(Into::into),
        Err(error) => Err(error),
    };
    let kept = match kept {
        Ok(kept) => kept.len(),
        Err(error) => {
            let fix = "nobody is served by a kept token until the state can be read";
            findings.problem(about, explained(&error), fix);
            return;
        }
    };
    let given = std::env::var(serve::TOKEN).unwrap_or_default();
    match BearerToken::new(&given) {
        _ if given.is_empty() => findings.ok(
            about,
            match kept {
                0 => "no token is kept; one is made up for each start of `serve --http`".to_owned(),
                kept => format!("{kept} tokens are kept"),
            },
        ),
        Ok(_) => findings.ok(
            about,
            format!("{kept} tokens are kept, and {} holds one", serve::TOKEN),
        ),
        Err(error) => {
            let text = format!("{}: {error}", serve::TOKEN);
            findings.problem(about, text, "unset it, or use `tool token add NAME`");
        }
    }
}
