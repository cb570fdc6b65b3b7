//! Something that waits for a person's word.

use std::fmt;

use serde_json::Value;
use tool_core::{Digest, Namespace};

use super::Difference;

/// Something of a server that is not as it was trusted, or that nobody has trusted yet. It cannot
/// be used until it is approved.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Change {
    /// The server, as configured.
    pub server: Namespace,
    /// The tool, by its server's name of it; `None` for how the server is reached.
    pub tool: Option<String>,
    /// What was trusted; `None` for what is new.
    pub trusted: Option<Value>,
    /// What is seen.
    pub seen: Value,
}

/// How many digits of a digest a person copies. A server chooses much of what they stand for, so
/// they are too many for it to find two changes of one code: 128 bits.
const DIGITS: usize = 32;

impl Change {
    /// Where the two are not the same.
    #[must_use]
    pub fn differences(&self) -> Vec<Difference> {
        Difference::between(self.trusted.as_ref(), Some(&self.seen))
    }

    /// What approves exactly this change, 32 hexadecimal digits: it stands for the server, the
    /// tool, what was trusted and what is seen.
    #[must_use]
    pub fn code(&self) -> String {
        Self::code_of(std::slice::from_ref(self))
    }

    /// What approves exactly these changes together.
    #[must_use]
    pub fn code_of(changes: &[Self]) -> String {
        let all = changes.iter().map(|change| {
            serde_json::json!([
                change.server.as_str(),
                change.tool,
                change.trusted,
                change.seen
            ])
        });
        let mut code = Digest::of_json(&all.collect()).hex();
        code.truncate(DIGITS);
        code
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match (&self.tool, &self.trusted) {
            (Some(tool), Some(_)) => format!("tool \"{}\" has changed", tool.escape_debug()),
            (Some(tool), None) => format!("tool \"{}\" is new", tool.escape_debug()),
            (None, Some(_)) => "how it is reached has changed".to_owned(),
            (None, None) => "it is new".to_owned(),
        };
        write!(f, "server {}: {what}", self.server)?;
        for difference in self.differences() {
            for line in difference.to_string().lines() {
                write!(f, "\n  {line}")?;
            }
        }
        Ok(())
    }
}
