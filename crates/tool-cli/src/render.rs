//! Text for people and JSON for programs.

use std::error::Error;
use std::io::{self, IsTerminal as _, Write as _};

use serde::Serialize;
use tool_runtime::core::ErrorChain;

use crate::error::CliError;

/// Prints one JSON document: over several lines for a person, on one line in a pipe.
pub(crate) fn json(document: &impl Serialize) -> Result<(), CliError> {
    let mut out = io::stdout().lock();
    // Encoded first, so that a reader who has gone is not mistaken for what cannot be encoded.
    let mut text = if out.is_terminal() {
        serde_json::to_vec_pretty(document)?
    } else {
        serde_json::to_vec(document)?
    };
    text.push(b'\n');
    out.write_all(&text)?;
    out.flush()?;
    Ok(())
}

/// Prints an error and its causes on one line of standard error.
pub(crate) fn error(error: &dyn Error) {
    note(&format!("error: {}", ErrorChain::of(error)));
}

/// Prints a line on standard error.
pub(crate) fn note(line: &str) {
    // A closed standard error leaves nobody to tell.
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// This program, as whoever started it wrote it.
pub(crate) fn program() -> String {
    std::env::args().next().unwrap_or_else(|| "tool".to_owned())
}

/// Makes text safe to print on a terminal: what could move the cursor or change colours is shown
/// escaped. Into a pipe it goes as it is.
pub(crate) fn printable(text: &str, terminal: bool) -> String {
    if !terminal {
        return text.to_owned();
    }
    text.chars()
        .flat_map(|c| {
            let keep = matches!(c, '\n' | '\t') || !c.is_control();
            let escaped = (!keep).then(|| c.escape_default()).into_iter().flatten();
            escaped.chain(keep.then_some(c))
        })
        .collect()
}

/// A size as people read it.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    let mut size = bytes as f64;
    let mut shown = None;
    for unit in UNITS {
        if size < 1024.0 {
            break;
        }
        size /= 1024.0;
        shown = Some(unit);
    }
    match shown {
        None => format!("{bytes} B"),
        Some(unit) => format!("{size:.1} {unit}"),
    }
}
