//! `tool output`, by lines, by a pointer, and searched.

use std::io::{self, IsTerminal as _, Write as _};
use std::ops::RangeInclusive;
use std::process::ExitCode;

use serde_json::json;
use tool_runtime::core::OutputReading;

use crate::args::Common;
use crate::error::CliError;
use crate::output::unreadable;
use crate::{render, setup};

/// Prints lines.
pub(crate) async fn lines(
    common: &Common,
    id: &str,
    lines: RangeInclusive<u64>,
    max_bytes: usize,
) -> Result<ExitCode, CliError> {
    let store = setup::store(common).await?;
    let output = OutputReading::of(&*store, id, None);
    let last = *lines.end();
    let read = output.lines(lines, max_bytes).await;
    let read = read.map_err(|source| unreadable(id, source))?;
    if common.json {
        render::json(&json!({
            "id": id, "offset": read.offset, "next": read.next, "cutAt": read.cut_at,
            "text": read.text,
        }))?;
        return Ok(ExitCode::SUCCESS);
    }
    print(&read.text)?;
    match (read.next, read.cut_at) {
        (Some(next), _) if last == u64::MAX => {
            render::note(&format!("go on with --lines {next}.."));
        }
        (Some(next), _) => render::note(&format!("go on with --lines {next}..{last}")),
        (None, Some(offset)) => {
            render::note(&format!(
                "the line is longer than the page; go on with --offset {offset}"
            ));
        }
        (None, None) if read.text.is_empty() => render::note("the output has fewer lines"),
        (None, None) => {}
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints the JSON under a pointer.
pub(crate) async fn pointer(
    common: &Common,
    id: &str,
    pointer: &str,
    max_bytes: usize,
) -> Result<ExitCode, CliError> {
    let store = setup::store(common).await?;
    let read = OutputReading::of(&*store, id, None)
        .pointer(pointer, max_bytes)
        .await
        .map_err(|source| unreadable(id, source))?;
    let Some(value) = read else {
        return Err(CliError::NoValue {
            id: id.to_owned(),
            pointer: pointer.to_owned(),
        });
    };
    if common.json {
        render::json(&json!({
            "id": id, "pointer": pointer, "bytes": value.bytes, "inside": value.inside,
            "text": value.text,
        }))?;
        return Ok(ExitCode::SUCCESS);
    }
    print(&value.text)?;
    if value.text.len() < value.bytes {
        let inside = value
            .inside
            .map_or_else(String::new, |inside| format!("; it is {inside}"));
        render::note(&format!(
            "{} of {} bytes{inside}",
            value.text.len(),
            value.bytes
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints the lines that hold a text, each with its number.
pub(crate) async fn search(
    common: &Common,
    id: &str,
    text: &str,
    most: usize,
) -> Result<ExitCode, CliError> {
    let store = setup::store(common).await?;
    let found = OutputReading::of(&*store, id, None)
        .search(text, most)
        .await;
    let found = found.map_err(|source| unreadable(id, source))?;
    if common.json {
        let lines: Vec<_> = found
            .found
            .iter()
            .map(|found| json!({"line": found.line, "offset": found.offset, "text": found.text}))
            .collect();
        render::json(&json!({"id": id, "found": lines, "more": found.more}))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut out = io::stdout().lock();
    let terminal = out.is_terminal();
    for found in &found.found {
        writeln!(
            out,
            "{}: {}",
            found.line,
            render::printable(&found.text, terminal)
        )?;
    }
    out.flush()?;
    if found.found.is_empty() {
        render::note("no line holds that");
    } else if found.more {
        render::note("there are more; go on with a larger --most");
    }
    Ok(ExitCode::SUCCESS)
}

fn print(text: &str) -> Result<(), CliError> {
    let mut out = io::stdout().lock();
    let terminal = out.is_terminal();
    out.write_all(render::printable(text, terminal).as_bytes())?;
    if terminal && !text.ends_with('\n') {
        writeln!(out)?;
    }
    out.flush()?;
    Ok(())
}
