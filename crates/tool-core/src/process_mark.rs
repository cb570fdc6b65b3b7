//! What tells the processes that one started from all others.

use std::ffi::{OsStr, OsString};
use std::io;

/// A mark that nobody can guess, for the environment of a process: whatever that starts inherits it.
#[derive(Debug)]
pub struct ProcessMark(String);

impl ProcessMark {
    /// The variable that holds the marks of all that a process belongs to, innermost last.
    pub const VARIABLE: &str = "TOOL_CALL_MARK";

    /// Another mark each time.
    ///
    /// # Errors
    /// The system's, where it has no randomness.
    pub fn new() -> io::Result<Self> {
        let mut bytes = [0_u8; 16];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        Ok(Self(format!("{:032x}", u128::from_be_bytes(bytes))))
    }

    /// The value of the variable. What is started inside of another marked process belongs to both,
    /// so that `outer` is what the variable is here.
    #[must_use]
    pub fn value(&self, outer: Option<&OsStr>) -> OsString {
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
    pub(crate) fn is_in(&self, environment: &[u8]) -> bool {
        memchr::memmem::find(environment, self.0.as_bytes()).is_some()
    }
}
