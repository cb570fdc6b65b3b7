//! What is cleaned up after a call, a run, a session or at the end.

use std::fmt;

use thiserror::Error;

use crate::{BoxFuture, Digest};

/// After what a cleanup runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a further scope must break every door's table"
)]
pub enum TeardownScope {
    /// After the call that registered it, whether it succeeded or not, but not while it waits.
    Call,
    /// After the run that the call belongs to, across suspensions.
    Run,
    /// After the session that the call belongs to.
    Session,
    /// When the runtime shuts down.
    Shutdown,
}

/// What became of one cleanup. The key is named by its digest only.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TeardownReport {
    /// The wire name of the tool that registered it.
    pub tool: String,
    /// The first 12 hexadecimal digits of the digest of its key.
    pub key_digest: String,
    /// How it ended.
    pub end: TeardownEnd,
}

/// How a cleanup ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TeardownEnd {
    /// It ran to its end.
    Done,
    /// It took longer than five seconds and was dropped.
    Abandoned,
    /// It panicked.
    Panicked,
    /// It was dropped without having run: too many calls were dropped, and nobody asked for the
    /// cleanups that they left.
    Discarded,
}

impl TeardownReport {
    /// A report on the cleanup of a tool.
    #[must_use]
    pub fn new(tool: impl Into<String>, key: Digest, end: TeardownEnd) -> Self {
        Self {
            tool: tool.into(),
            key_digest: key.hex().chars().take(12).collect(),
            end,
        }
    }
}

/// A cleanup to be run once.
pub type Cleanup = Box<dyn FnOnce() -> BoxFuture<'static, ()> + Send>;

/// Takes cleanups.
pub trait Teardown: Send + Sync {
    /// The scopes that are honoured for this call.
    fn scopes(&self) -> &[TeardownScope];

    /// Registers a cleanup under a key. Of several with one key in one scope the first is kept.
    ///
    /// # Errors
    /// [`TeardownError`] when the scope is not honoured, or the call lacks the fact that it is
    /// about.
    fn register(
        &self,
        scope: TeardownScope,
        key: &str,
        cleanup: Cleanup,
    ) -> Result<Registered, TeardownError>;
}

/// What became of a cleanup that was registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Registered {
    /// It will run.
    New,
    /// Another of that key will run in its place.
    Reused {
        /// How often the key was registered, this time included.
        times: usize,
    },
}

/// A cleanup that cannot be promised.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TeardownError {
    /// The way by which the call came does not honour the scope.
    #[error("teardown scope \"{scope}\" is not honoured here; honoured are: {}", list(.honoured))]
    NotHonoured {
        /// The scope.
        scope: TeardownScope,
        /// The scopes that are.
        honoured: Vec<TeardownScope>,
    },
    /// The call has ended, and so has what comes after it.
    #[error("teardown scope \"{scope}\" has ended already")]
    Ended {
        /// The scope.
        scope: TeardownScope,
    },
    /// The call does not say which run or session it belongs to.
    #[error("teardown scope \"{scope}\" needs a call that says which {scope} it belongs to")]
    NoKey {
        /// The scope.
        scope: TeardownScope,
    },
}

fn list(scopes: &[TeardownScope]) -> String {
    if scopes.is_empty() {
        return "none".to_owned();
    }
    scopes
        .iter()
        .map(TeardownScope::to_string)
        .collect::<Vec<_>>()
        .join(", ")
}

impl fmt::Display for TeardownScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Call => "call",
            Self::Run => "run",
            Self::Session => "session",
            Self::Shutdown => "shutdown",
        })
    }
}
