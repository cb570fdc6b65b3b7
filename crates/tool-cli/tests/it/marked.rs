//! Processes that are told by a variable of their environment.

use std::fs;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::deadline::{until, within};

/// A value that only the processes of one test have in their environment.
pub(crate) struct Mark(String);

impl Mark {
    pub(crate) const VARIABLE: &str = "TOOL_TEST_MARK";

    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self(format!("mark-{}-{number}-end", std::process::id()))
    }

    pub(crate) fn value(&self) -> &str {
        &self.0
    }

    /// A line for the shell that leaves marked processes everywhere: in the group, in the
    /// background, in a session of their own. It makes the file `started` once they run, and does
    /// not end by itself.
    pub(crate) fn line(&self) -> String {
        format!(
            "export {}={}; sleep 600 & setsid sleep 600 & (setsid sleep 600 &); \
             bash -c 'touch started; sleep 600; true'",
            Self::VARIABLE,
            self.0
        )
    }

    /// How many processes bear it.
    pub(crate) fn alive(&self) -> usize {
        let needle = format!("{}={}\0", Self::VARIABLE, self.0);
        let bears = |environment: &Vec<u8>| {
            let mut variables = environment.split_inclusive(|byte| *byte == 0);
            variables.any(|variable| variable == needle.as_bytes())
        };
        let processes = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
        processes
            .filter(|entry| entry.file_name().to_string_lossy().parse::<u32>().is_ok())
            .filter_map(|entry| fs::read(entry.path().join("environ")).ok())
            .filter(bears)
            .count()
    }

    /// Waits until at least so many run.
    #[track_caller]
    pub(crate) fn wait_for(&self, least: usize) {
        until("marked processes", || (self.alive() >= least).then_some(()));
    }

    /// Checks that none is left, soon.
    #[track_caller]
    pub(crate) fn assert_gone(&self) {
        let gone = within(Duration::from_secs(20), || {
            (self.alive() == 0).then_some(())
        });
        assert!(gone.is_some(), "{} processes are left", self.alive());
    }
}

/// Whether a process is there and is no mere remainder that nobody has collected.
pub(crate) fn is_alive(pid: u32) -> bool {
    stat(pid).is_some_and(|(state, _)| !matches!(state, 'Z' | 'X'))
}

/// The processes that have this one as their parent.
pub(crate) fn children(pid: u32) -> Vec<u32> {
    let processes = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    processes
        .filter_map(|entry| entry.file_name().to_string_lossy().parse().ok())
        .filter(|child| stat(*child).is_some_and(|(_, parent)| parent == pid))
        .collect()
}

/// The state of a process and its parent.
fn stat(pid: u32) -> Option<(char, u32)> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name before them is in parentheses and may hold anything.
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?.chars().next()?;
    Some((state, fields.next()?.parse().ok()?))
}
