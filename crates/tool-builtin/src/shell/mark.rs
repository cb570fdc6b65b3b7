//! What tells the processes of one call from all others.

use std::ffi::{OsStr, OsString};
use std::io;

/// A mark that nobody can guess, in the environment of every process that a call starts.
#[derive(Debug)]
pub(super) struct Mark(String);

impl Mark {
    /// The variable that holds the marks of all calls that a process belongs to, innermost last.
    pub(super) const VARIABLE: &str = "TOOL_CALL_MARK";

    pub(super) fn new() -> io::Result<Self> {
        let mut bytes = [0_u8; 16];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        Ok(Self(format!("{:032x}", u128::from_be_bytes(bytes))))
    }

    /// The value of the variable: a call inside another call's process belongs to both.
    pub(super) fn value(&self, outer: Option<&OsStr>) -> OsString {
        let mut value = outer.map_or_else(OsString::new, |outer| {
            let mut outer = outer.to_owned();
            outer.push(":");
            outer
        });
        value.push(&self.0);
        value
    }

    /// Whether an environment holds the mark.
    #[cfg(target_os = "linux")]
    pub(super) fn is_in(&self, environment: &[u8]) -> bool {
        memchr::memmem::find(environment, self.0.as_bytes()).is_some()
    }
}
