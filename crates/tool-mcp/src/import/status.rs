//! How a server is doing.

use std::fmt;

/// How one server is doing, for operators. Printing it shows the length of what the server wrote
/// to stderr only.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UpstreamStatus {
    /// The name of the server, as configured.
    pub name: String,
    /// What it is at.
    pub state: UpstreamState,
    /// The revision of the protocol that it speaks, once that is known.
    pub protocol: Option<String>,
    /// How often it was connected.
    pub connects: u64,
    /// Lines of its stdout that were no messages and were skipped.
    pub skipped_lines: u64,
    /// Answers and reports of progress that nobody waited for, such as one after a cancellation.
    pub stray_messages: u64,
    /// What the operator should know of its tools though all goes on, one clause each: tools that
    /// the overlay names and that are not listed, and declarations that were left out.
    pub notes: Vec<String>,
    /// What is wrong with its entry in the configuration, one clause each, where it is not started
    /// for that. Its state holds them all in one.
    pub problems: Vec<String>,
    /// The last that it wrote to stderr, as text; bytes that are no UTF-8 are replaced.
    pub stderr: String,
}

/// What a server is at.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UpstreamState {
    /// Its configuration says that it is not to be started.
    Disabled,
    /// It was started and has not listed its tools yet.
    Connecting,
    /// Its tools are registered.
    Ready {
        /// How many.
        tools: usize,
        /// The tools that could not be registered, in the server's order.
        refused: Vec<RefusedTool>,
    },
    /// It ended or failed and will be connected again. Tools that it had are registered, and calls
    /// of them are refused by name.
    Away {
        /// Why, as a clause that follows on the server's name.
        reason: String,
        /// How many attempts in a row have failed.
        attempt: u32,
    },
    /// It is not reached, as how it is reached is not as it was trusted. It is once that is
    /// approved.
    Held {
        /// Why, as a clause that follows on the server's name.
        reason: String,
    },
    /// It is not reached, as nobody is logged in to it, or nobody with enough rights. It is once
    /// somebody is.
    Locked {
        /// Why, as a clause that follows on the server's name.
        reason: String,
    },
    /// It cannot be used, and none of its tools is registered.
    Failed {
        /// Why, as a clause that follows on the server's name.
        reason: String,
    },
    /// It was told to end.
    Stopped,
}

/// A tool that a server lists and that could not be registered.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RefusedTool {
    /// The server's own name of it; empty where it has none.
    pub name: String,
    /// What is wrong, as a clause.
    pub reason: String,
}

impl fmt::Debug for UpstreamStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UpstreamStatus")
            .field("name", &self.name)
            .field("state", &self.state)
            .field("protocol", &self.protocol)
            .field("connects", &self.connects)
            .field("skipped_lines", &self.skipped_lines)
            .field("stray_messages", &self.stray_messages)
            .field("notes", &self.notes)
            .field("problems", &self.problems)
            .field("stderr_bytes", &self.stderr.len())
            .finish()
    }
}

impl UpstreamState {
    /// One word, stable across versions: `disabled`, `connecting`, `ready`, `away`, `held`,
    /// `locked`, `failed` or `stopped`.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Disabled => "disabled",
            Self::Connecting => "connecting",
            Self::Ready { .. } => "ready",
            Self::Away { .. } => "away",
            Self::Held { .. } => "held",
            Self::Locked { .. } => "locked",
            Self::Failed { .. } => "failed",
            Self::Stopped => "stopped",
        }
    }
}
