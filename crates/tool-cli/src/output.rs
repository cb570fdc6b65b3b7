//! `tool output`.

use std::io::{self, IsTerminal as _, Write as _};
use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::time::UNIX_EPOCH;

use serde_json::json;
use tool_runtime::core::{PageRequest, StoreError, StoreErrorKind};

use crate::args::{self, Common};
use crate::error::CliError;
use crate::{output_parts, render, setup};

/// Lists or reads what was retained.
pub(crate) async fn run(common: &Common, command: args::Output) -> Result<ExitCode, CliError> {
    match command {
        args::Output::List => list(common).await,
        args::Output::Search { id, text, most } => {
            output_parts::search(common, &id, &text, most.get()).await
        }
        args::Output::Prune { ids } => prune(common, &ids).await,
        args::Output::Read {
            id,
            lines: Some(lines),
            bytes,
            ..
        } => output_parts::lines(common, &id, lines, page_size(bytes)).await,
        args::Output::Read {
            id,
            pointer: Some(pointer),
            bytes,
            ..
        } => output_parts::pointer(common, &id, &pointer, page_size(bytes)).await,
        args::Output::Read {
            id,
            all,
            offset,
            bytes,
            ..
        } => {
            read(
                common,
                &id,
                offset,
                if all { None } else { Some(page_size(bytes)) },
            )
            .await
        }
    }
}

fn page_size(bytes: Option<NonZeroUsize>) -> usize {
    bytes.map_or(PageRequest::DEFAULT_BYTES, NonZeroUsize::get)
}

/// Opening a store has swept it already; what is named goes too.
async fn prune(common: &Common, ids: &[String]) -> Result<ExitCode, CliError> {
    let store = setup::store(common).await?;
    for id in ids {
        store
            .remove(id)
            .await
            .map_err(|source| unreadable(id, source))?;
    }
    let outputs = store
        .list()
        .await
        .map_err(|source| CliError::Outputs { source })?;
    let bytes: u64 = outputs.iter().map(|output| output.bytes).sum();
    if common.json {
        render::json(&json!({"removed": ids, "kept": outputs.len(), "bytes": bytes}))?;
    } else {
        render::note(&format!(
            "{} outputs are kept, {} together",
            outputs.len(),
            render::size(bytes)
        ));
    }
    Ok(ExitCode::SUCCESS)
}

async fn list(common: &Common) -> Result<ExitCode, CliError> {
    let store = setup::store(common).await?;
    let mut outputs = store
        .list()
        .await
        .map_err(|source| CliError::Outputs { source })?;
    // What was just shown is what is looked for.
    outputs.reverse();
    if common.json {
        let outputs: Vec<_> = outputs
            .iter()
            .map(|output| {
                let created = output
                    .created
                    .duration_since(UNIX_EPOCH)
                    .unwrap_or_default();
                json!({
                    "id": output.id,
                    "tool": output.tool,
                    "call": output.call,
                    "session": output.session,
                    "createdMs": u64::try_from(created.as_millis()).unwrap_or(u64::MAX),
                    "bytes": output.bytes,
                    "lines": output.lines,
                    "digest": output.digest,
                })
            })
            .collect();
        render::json(&json!({"outputs": outputs}))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut out = io::stdout().lock();
    for output in &outputs {
        writeln!(
            out,
            "{}  {:>10}  {:>8} lines  {}",
            output.id,
            render::size(output.bytes),
            output.lines,
            render::printable(&output.tool, out.is_terminal()),
        )?;
    }
    out.flush()?;
    if outputs.is_empty() {
        render::note("nothing is retained");
    }
    Ok(ExitCode::SUCCESS)
}

/// Reads from an offset on: one page of so many bytes, or all pages.
async fn read(
    common: &Common,
    id: &str,
    offset: u64,
    one_page_of: Option<usize>,
) -> Result<ExitCode, CliError> {
    let store = setup::store(common).await?;
    let mut out = io::stdout();
    let terminal = out.is_terminal();
    let mut next = Some(offset);
    let mut text = String::new();
    while let Some(offset) = next {
        let request = PageRequest::new(id, None)
            .offset(offset)
            .max_bytes(one_page_of.unwrap_or(PageRequest::DEFAULT_BYTES));
        let page = store
            .page(request)
            .await
            .map_err(|source| unreadable(id, source))?;
        next = page.next;
        if common.json {
            text.push_str(&String::from_utf8_lossy(&page.bytes));
        } else if terminal {
            let text = String::from_utf8_lossy(&page.bytes);
            out.write_all(render::printable(&text, true).as_bytes())?;
        } else {
            out.write_all(&page.bytes)?;
        }
        if one_page_of.is_some() {
            if common.json {
                render::json(&json!({
                    "id": id, "offset": page.offset, "next": page.next, "total": page.total, "text": text,
                }))?;
            } else if let Some(next) = page.next {
                out.flush()?;
                render::note(&format!(
                    "{} of {} bytes; go on with --offset {next}, or read it whole with --all",
                    page.bytes.len(),
                    page.total
                ));
            } else if page.bytes.is_empty() {
                render::note(&format!(
                    "nothing to read from byte {offset} on; the output has {} bytes",
                    page.total
                ));
            }
            return Ok(ExitCode::SUCCESS);
        }
    }
    if common.json {
        render::json(&json!({"id": id, "offset": offset, "next": null, "text": text}))?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn unreadable(id: &str, source: StoreError) -> CliError {
    let id = id.to_owned();
    match source.kind() {
        StoreErrorKind::NotFound => {
            // Whoever runs this is an operator, and may know what became of it.
            let said = source.to_string();
            let became = said.strip_prefix(&format!("output {id} "));
            let became = became.filter(|became| !became.starts_with("is unknown"));
            let became = became.map_or_else(String::new, |became| format!("; it {became}"));
            CliError::NoOutput { id, became }
        }
        _ => CliError::Output { id, source },
    }
}
