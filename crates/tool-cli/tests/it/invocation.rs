//! One run of a program from its start to its end.

use std::ffi::{OsStr, OsString};
use std::io::{Read, Write as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};

use serde_json::Value;

use crate::deadline::{PATIENCE, within};
use crate::workbench::Workbench;

/// Variables that would change what is printed or where it goes.
const STRAY: [&str; 10] = [
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "COLUMNS",
    "NO_COLOR",
    "TOOL_CONFIG",
    "TOOL_LOG",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
];

/// A program that is about to be started in a workbench.
pub(crate) struct Invocation {
    command: Command,
    stdin: Option<String>,
}

/// A program that has ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl Invocation {
    /// The program under test.
    pub(crate) fn of_tool(bench: &Workbench) -> Self {
        Self::new(env!("CARGO_BIN_EXE_tool"), bench)
    }

    /// Any program, with the workbench as its current folder and its home in there.
    pub(crate) fn new(program: impl AsRef<OsStr>, bench: &Workbench) -> Self {
        let mut command = Command::new(program);
        command
            .current_dir(bench.path())
            .env("HOME", bench.path().join("home"));
        for name in STRAY {
            command.env_remove(name);
        }
        Self {
            command,
            stdin: None,
        }
    }

    pub(crate) fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.command.args(args.into_iter().map(Into::into));
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// What the program reads. Without it, there is nothing to read.
    pub(crate) fn stdin(mut self, text: impl Into<String>) -> Self {
        self.stdin = Some(text.into());
        self
    }

    /// The command itself, for whoever stays in touch while it runs.
    pub(crate) fn into_command(self) -> Command {
        self.command
    }

    /// The program and its arguments as words of a line for a shell.
    pub(crate) fn line(&self) -> String {
        let words = [self.command.get_program()]
            .into_iter()
            .chain(self.command.get_args());
        let quoted =
            words.map(|word| format!("'{}'", word.to_str().unwrap().replace('\'', r"'\''")));
        quoted.collect::<Vec<_>>().join(" ")
    }

    /// Runs it to its end.
    #[track_caller]
    pub(crate) fn end(mut self) -> Ended {
        self.command
            .stdin(if self.stdin.is_some() {
                Stdio::piped()
            } else {
                Stdio::null()
            })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = self.command.spawn().unwrap();
        let stdout = drain(child.stdout.take().unwrap());
        let stderr = drain(child.stderr.take().unwrap());
        if let (Some(text), Some(mut stdin)) = (self.stdin, child.stdin.take()) {
            // Who does not read what it is given has its reasons.
            let _ = stdin.write_all(text.as_bytes());
        }
        let status = wait(&mut child);
        let stdout = stdout.join().unwrap();
        let stderr = String::from_utf8(stderr.join().unwrap()).unwrap();
        match status {
            Some(status) => Ended {
                status,
                stdout,
                stderr,
            },
            None => panic!("{:?} did not end; stderr: {stderr}", self.command),
        }
    }
}

impl Ended {
    #[track_caller]
    pub(crate) fn succeeded(self) -> Self {
        self.with_code(0)
    }

    #[track_caller]
    pub(crate) fn with_code(self, code: i32) -> Self {
        assert_eq!(self.status.code(), Some(code), "{self:#?}");
        self
    }

    #[track_caller]
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.stdout).unwrap()
    }

    /// The one document on standard output.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.stdout)
            .unwrap_or_else(|error| panic!("no JSON: {error}: {self:#?}"))
    }

    /// Checks that standard error says all of this.
    #[track_caller]
    pub(crate) fn says(self, wanted: &[&str]) -> Self {
        for wanted in wanted {
            assert!(
                self.stderr.contains(wanted),
                "\"{wanted}\" is missing: {self:#?}"
            );
        }
        self
    }
}

/// Reads to the end, aside, so that no pipe ever fills up.
pub(crate) fn drain(mut source: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = source.read_to_end(&mut bytes);
        bytes
    })
}

/// The status of a program that ended in time; one that did not is killed.
pub(crate) fn wait(child: &mut Child) -> Option<ExitStatus> {
    let status = within(PATIENCE, || child.try_wait().unwrap());
    if status.is_none() {
        let _ = child.kill();
        let _ = child.wait();
    }
    status
}
