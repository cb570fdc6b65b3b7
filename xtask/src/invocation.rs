//! A program to run, shown before it runs.

use std::ffi::OsString;
use std::fmt;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::{Error, Workspace, say};

/// A program with its arguments. Running it shows it first, so that a reader can repeat it.
#[derive(Clone, Debug)]
pub struct Invocation {
    program: PathBuf,
    shown: String,
    silent: bool,
    args: Vec<OsString>,
    variables: Vec<(String, OsString)>,
    folder: PathBuf,
}

impl Invocation {
    /// A program in a folder.
    pub fn new(program: impl Into<PathBuf>, folder: impl Into<PathBuf>) -> Self {
        let program = program.into();
        Self {
            shown: program.display().to_string(),
            program,
            silent: false,
            args: Vec::new(),
            variables: Vec::new(),
            folder: folder.into(),
        }
    }

    /// The cargo that runs this program, with arguments that blanks separate.
    #[must_use]
    pub fn cargo(folder: &Path, args: &str) -> Self {
        let mut cargo = Self::new(Workspace::cargo(), folder).args(args.split_whitespace());
        "cargo".clone_into(&mut cargo.shown);
        cargo
    }

    /// Does not show it when it runs, as what it prints is for programs.
    #[must_use]
    pub fn unshown(mut self) -> Self {
        self.silent = true;
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Sets a variable of the program's environment.
    #[must_use]
    pub fn variable(mut self, name: impl Into<String>, value: impl Into<OsString>) -> Self {
        self.variables.push((name.into(), value.into()));
        self
    }

    /// Runs the program to its end. Whether it succeeded is the value.
    ///
    /// # Errors
    /// When it could not be started.
    pub fn run(&self) -> Result<bool, Error> {
        if !self.silent {
            say(format!("$ {self}"));
        }
        let status = self.command().status();
        Ok(status.map_err(|error| self.not_started(error))?.success())
    }

    /// Runs the program to its end, shows what it prints, and hands over every line of it.
    ///
    /// # Errors
    /// When it could not be started or its output could not be read.
    pub fn run_reading(&self, mut line: impl FnMut(&str)) -> Result<bool, Error> {
        say(format!("$ {self}"));
        let mut child = self
            .command()
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| self.not_started(error))?;
        if let Some(output) = child.stdout.take() {
            for bytes in BufReader::new(output).split(b'\n') {
                let bytes = bytes.map_err(|error| Error::because("output was lost", error))?;
                let text = String::from_utf8_lossy(&bytes);
                say(&text);
                line(&text);
            }
        }
        let status = child.wait();
        Ok(status.map_err(|error| self.not_started(error))?.success())
    }

    /// Runs the program silently; its output when it succeeds.
    #[must_use]
    pub fn answer(&self) -> Option<String> {
        let output = self.command().stderr(Stdio::null()).output().ok()?;
        output
            .status
            .success()
            .then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(&self.args)
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .current_dir(&self.folder)
            .stdin(Stdio::null());
        command
    }

    fn not_started(&self, error: std::io::Error) -> Error {
        Error::because(format!("{} could not be run", self.shown), error)
    }
}

impl fmt::Display for Invocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, value) in &self.variables {
            write!(f, "{name}={} ", quoted(&value.to_string_lossy()))?;
        }
        f.write_str(&quoted(&self.shown))?;
        for argument in &self.args {
            write!(f, " {}", quoted(&argument.to_string_lossy()))?;
        }
        Ok(())
    }
}

/// The word as a shell takes it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./:=,@+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests;
