//! `tool audit`.

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
            let files = files.map_err(|source| CliError::NoAudit { folder, source })?;
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
        render::note("no call was put on record");
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
        render::note(&match (checked.len(), problems) {
            (0, _) => "no call was put on record".to_owned(),
            (1, 0) => "1 file, and nothing was changed or is gone".to_owned(),
            (files, 0) => format!("{files} files, and nothing was changed or is gone"),
            (_, 1) => "1 file was changed or is gone".to_owned(),
            (_, problems) => format!("{problems} files were changed or are gone"),
        });
    }
    Ok(match problems {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    })
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
