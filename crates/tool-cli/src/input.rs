//! What commands read: files, and standard input.

use std::io::{self, Read as _};
use std::path::Path;

use crate::error::CliError;

/// The text of a file.
pub(crate) fn file(path: &Path) -> Result<String, CliError> {
    std::fs::read_to_string(path).map_err(|source| CliError::Read {
        path: path.to_owned(),
        source,
    })
}

/// The whole of standard input.
pub(crate) fn standard() -> Result<String, CliError> {
    let mut text = String::new();
    let read = io::stdin().lock().read_to_string(&mut text);
    read.map_err(|source| CliError::ReadInput { source })?;
    Ok(text)
}

/// Reads the cases of a file, or of standard input where it is named `-`, one on each line that is not blank; lines are counted from 1. A file
/// without a case is a mistake, as it would pass whatever it was meant to try.
pub(crate) fn cases<T>(
    path: &Path,
    mut read: impl FnMut(usize, &str) -> Result<T, CliError>,
) -> Result<Vec<T>, CliError> {
    let text = match path.as_os_str() == "-" {
        true => standard()?,
        false => file(path)?,
    };
    let lines = text.lines().enumerate();
    let cases: Vec<T> = lines
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(at, line)| read(at + 1, line))
        .collect::<Result<_, _>>()?;
    if cases.is_empty() {
        return Err(CliError::NoCase {
            path: path.to_owned(),
        });
    }
    Ok(cases)
}
