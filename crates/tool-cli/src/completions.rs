//! `tool completions`.

use std::io::{self, Write as _};

use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::args::Args;
use crate::error::CliError;

/// Prints the completions of a shell.
pub(crate) fn print(shell: Shell) -> Result<(), CliError> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "tool", &mut script);
    io::stdout().lock().write_all(&script)?;
    Ok(())
}
