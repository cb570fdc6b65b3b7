//! `tool audit`.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value, json};
use tool_runtime::storage::{AuditCheck, AuditFiles, AuditFinding, AuditIndex, AuditSegment};

use crate::args::{Audit, Common};
use crate::error::CliError;
use crate::{render, setup};

/// Lists the files of the record of calls, or holds them against their index.
pub(crate) async fn run(common: &Common, command: Audit) -> Result<ExitCode, CliError> {
    let (folder, index) = setup::audit_index(common).await?;
    match command {
        Audit::List => list(common, &index).await,
        Audit::Verify => {
            let files = AuditFiles::in_folder(&folder);
            let is_there = std::fs::symlink_metadata(&folder).is_ok();
            let files = files.map_err(|source| match is_there {
                true => CliError::AuditIndex { source },
                false => CliError::NoAudit { folder, source },
            })?;
            verify(common, &index, &files).await
        }
    }
}

async fn list(common: &Common, index: &AuditIndex) -> Result<ExitCode, CliError> {
    let listed = index.list().await;
    let listed = listed.map_err(|source| CliError::AuditIndex { source })?;
    if common.json {
        let listed: Vec<Value> = listed.iter().map(|it| document(it).into()).collect();
        render::json(&json!({"files": listed}))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut out = io::stdout().lock();
    let terminal = out.is_terminal();
    for segment in &listed {
        let row = row(segment.state.as_str(), &segment.name, Some(segment));
        writeln!(out, "{}", render::printable(&row, terminal))?;
    }
    out.flush()?;
    if listed.is_empty() {
        render::note(
            "no call was put on record with this state; `tool call` and `tool serve` record each",
        );
    }
    Ok(ExitCode::SUCCESS)
}

async fn verify(
    common: &Common,
    index: &AuditIndex,
    files: &AuditFiles,
) -> Result<ExitCode, CliError> {
    let checked = index.check(files).await;
    let checked = checked.map_err(|source| CliError::AuditIndex { source })?;
    let problems = checked.iter().filter(|it| it.finding.is_problem()).count();
    if common.json {
        let checked = checked.iter().map(|check| {
            let mut document = check.segment.as_ref().map(document).unwrap_or_default();
            let name = match check.finding {
                AuditFinding::Cut => "folder",
                _ => "name",
            };
            document.insert(name.to_owned(), check.name.as_str().into());
            document.insert("finding".to_owned(), check.finding.as_str().into());
            Value::from(document)
        });
        let checked: Vec<Value> = checked.collect();
        render::json(&json!({"ok": problems == 0, "files": checked}))?;
    } else {
        let mut out = io::stdout().lock();
        let terminal = out.is_terminal();
        for AuditCheck {
            finding,
            name,
            segment,
            ..
        } in &checked
        {
            let row = row(finding.as_str(), name, segment.as_ref());
            writeln!(out, "{}", render::printable(&row, terminal))?;
        }
        out.flush()?;
        render::note(&summary(&checked, problems));
    }
    Ok(match problems {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    })
}

/// How many files are whole, and what is to be said of the others.
fn summary(checked: &[AuditCheck], problems: usize) -> String {
    let files = checked.iter().filter(|it| it.finding != AuditFinding::Cut);
    let files = files.count();
    let whole = checked
        .iter()
        .filter(|it| it.finding == AuditFinding::Whole);
    let whole = match (whole.count(), files) {
        (_, 0) if problems == 0 => return "no call was put on record".to_owned(),
        (1, 1) => "1 file is whole".to_owned(),
        (whole, files) if whole == files => format!("{files} files are whole"),
        (whole, 1) => format!("{whole} of 1 file is whole"),
        (whole, files) => format!("{whole} of {files} files are whole"),
    };
    let mut others = BTreeMap::new();
    for finding in checked.iter().map(|it| it.finding) {
        if finding != AuditFinding::Whole && !finding.is_problem() {
            *others.entry(finding.as_str()).or_insert(0_usize) += 1;
        }
    }
    let others = others.iter().map(|(word, count)| format!("{count} {word}"));
    let problems = match problems {
        0 => None,
        1 => Some("1 was changed or is gone".to_owned()),
        problems => Some(format!("{problems} were changed or are gone")),
    };
    let others: Vec<String> = problems.into_iter().chain(others).collect();
    match others.is_empty() {
        true => whole,
        false => format!("{whole}; {}", others.join(", ")),
    }
}

/// A line of a table: which file, what is said of it, how much and of when it is, by which gateway.
fn row(said: &str, name: &str, segment: Option<&AuditSegment>) -> String {
    let number = segment.map(|it| it.number.to_string());
    let lines = segment.and_then(|it| it.lines).map(|it| match it {
        1 => "1 line ".to_owned(),
        lines => format!("{lines} lines"),
    });
    let size = segment.and_then(|it| it.bytes).map(render::size);
    let of = segment.map(|it| render::time(millis(it.calls.map_or(it.opened, |(first, _)| first))));
    let folder = segment.map(|it| it.folder.as_str());
    let of = of.unwrap_or_default();
    format!(
        "{:>6}  {said:<10}  {:>14}  {:>10}  {of:<23}  {:<16}  {name}",
        number.unwrap_or_default(),
        lines.unwrap_or_default(),
        size.unwrap_or_default(),
        folder.unwrap_or_default(),
    )
}

fn document(segment: &AuditSegment) -> Map<String, Value> {
    let document = json!({
        "number": segment.number,
        "folder": segment.folder,
        "name": segment.name,
        "state": segment.state.as_str(),
        "openedMs": millis(segment.opened),
        "firstMs": segment.calls.map(|(first, _)| millis(first)),
        "lastMs": segment.calls.map(|(_, last)| millis(last)),
        "lines": segment.lines,
        "bytes": segment.bytes,
        "digest": segment.digest,
        "before": segment.before,
    });
    match document {
        Value::Object(document) => document,
        _ => Map::new(),
    }
}

fn millis(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
