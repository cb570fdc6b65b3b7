//! The tool that a call is for, and whether it is still the one that was trusted.

use std::sync::Arc;
use std::time::Duration;

use tool_core::Digest;

use super::board::Board;
use super::call_error::CallError;
use super::line::Line;

/// The tool that a call is for. It goes with the request, so that it can be looked at ahead of
/// everything that is sent: a person may have taken minutes since the last time.
pub(crate) struct Target {
    pub(crate) line: Arc<Line>,
    /// The server's own name of it.
    pub(crate) name: String,
    /// What it was when it was registered, where only that may be called.
    pub(crate) digest: Option<Digest>,
}

/// A look at the tool that a call is for, on one connection.
#[derive(Clone, Copy)]
pub(crate) struct Check<'a> {
    pub(crate) target: &'a Target,
    pub(crate) board: &'a Board,
    /// How long it waits until the server's tools were looked at.
    pub(crate) patience: Duration,
}

impl Check<'_> {
    /// Waits until the server's tools were looked at since it last said that they changed, and
    /// tells whether this one is what it was when it was registered.
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing.
    pub(crate) async fn pass(self) -> Result<(), CallError> {
        let Some(digest) = &self.target.digest else {
            return Ok(());
        };
        if !self.board.are_tools_seen() {
            let seen = tokio::time::timeout(self.patience, self.board.tools_seen());
            seen.await.map_err(|_| CallError::Changed)?;
        }
        let Target { line, name, .. } = self.target;
        line.admits(name, digest)
            .then_some(())
            .ok_or(CallError::Changed)
    }
}
