//! What the shell tool may be told.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tool_core::ProcessMark;

/// What [`shell`](crate::shell) may be told.
///
/// Built with the environment of this process as it is then: of it, only the variables on a list
/// are handed on. They are `PATH`, `HOME`, `USER`, `LOGNAME`, `SHELL`, `LANG`, `LANGUAGE`, every
/// `LC_*`, `TERM`, `TZ` and `TMPDIR`.
///
/// Printing it shows the names of variables, never their values.
#[derive(Clone)]
pub struct ShellOptions {
    program: Option<PathBuf>,
    environment: BTreeMap<OsString, OsString>,
    outer_mark: Option<OsString>,
    timeout: Duration,
    capture_bytes: usize,
}

const INHERITED: [&str; 10] = [
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TERM", "TZ", "TMPDIR",
];

impl ShellOptions {
    /// The default for how much output is kept: what one retained output may hold, 64 MiB, less
    /// 64 KiB for what is said about it.
    pub const DEFAULT_CAPTURE_BYTES: usize = 64 * 1024 * 1024 - 64 * 1024;

    /// The default for how long a line may run: 120 seconds.
    pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(120);

    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the shell, which must take `-c -- LINE`. Defaults to the first `bash` on the `PATH`,
    /// else `/bin/sh`; it is looked for once, when the tool is built.
    #[must_use]
    pub fn program(mut self, program: impl Into<PathBuf>) -> Self {
        self.program = Some(program.into());
        self
    }

    /// Sets a variable for every line.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.environment.insert(name.into(), value.into());
        self
    }

    /// Hands one more variable of this process on, with the value that it has now, if it has one.
    #[must_use]
    pub fn inherit(mut self, name: impl AsRef<OsStr>) -> Self {
        let name = name.as_ref();
        if let Some(value) = std::env::var_os(name) {
            self.environment.insert(name.to_owned(), value);
        }
        self
    }

    /// Hands a variable on no longer.
    #[must_use]
    pub fn remove(mut self, name: impl AsRef<OsStr>) -> Self {
        self.environment.remove(name.as_ref());
        self
    }

    /// Sets how long a line may run where the call does not say. Defaults to
    /// [`DEFAULT_TIMEOUT`](Self::DEFAULT_TIMEOUT).
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets how many bytes the text of an output may have, in which each sequence that is not UTF-8
    /// takes three; the rest is counted. Defaults to
    /// [`DEFAULT_CAPTURE_BYTES`](Self::DEFAULT_CAPTURE_BYTES); 0 keeps nothing. More than the
    /// runtime's store holds makes a defect of every call that prints so much.
    #[must_use]
    pub fn capture_bytes(mut self, bytes: usize) -> Self {
        self.capture_bytes = bytes;
        self
    }

    pub(super) fn find_program(&self) -> PathBuf {
        if let Some(program) = &self.program {
            return program.clone();
        }
        let path = self.environment.get(OsStr::new("PATH"));
        path.into_iter()
            .flat_map(std::env::split_paths)
            .filter(|folder| folder.is_absolute())
            .map(|folder| folder.join("bash"))
            .chain([PathBuf::from("/bin/bash")])
            .find(|program| is_executable(program))
            .unwrap_or_else(|| PathBuf::from("/bin/sh"))
    }

    pub(super) fn environment(&self) -> impl Iterator<Item = (&OsString, &OsString)> {
        self.environment.iter()
    }

    pub(super) fn outer_mark(&self) -> Option<&OsStr> {
        self.outer_mark.as_deref()
    }

    pub(super) fn default_timeout(&self) -> Duration {
        self.timeout
    }

    pub(super) fn most_bytes(&self) -> usize {
        self.capture_bytes
    }
}

impl Default for ShellOptions {
    fn default() -> Self {
        let allowed = |name: &OsStr| {
            INHERITED.iter().any(|allowed| name == *allowed)
                || name.as_encoded_bytes().starts_with(b"LC_")
        };
        Self {
            program: None,
            environment: std::env::vars_os()
                .filter(|(name, _)| allowed(name))
                .collect(),
            outer_mark: std::env::var_os(ProcessMark::VARIABLE),
            timeout: Self::DEFAULT_TIMEOUT,
            capture_bytes: Self::DEFAULT_CAPTURE_BYTES,
        }
    }
}

impl fmt::Debug for ShellOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShellOptions")
            .field("program", &self.program)
            .field("environment", &self.environment.keys())
            .field("timeout", &self.timeout)
            .field("capture_bytes", &self.capture_bytes)
            .finish_non_exhaustive()
    }
}

fn is_executable(program: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(program)
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}
