//! The index of audit logs, kept while a runtime is there.

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tool_core::State;
use tool_storage::{AuditIndex, AuditLog};

use crate::{Place, RuntimeError};

/// How long a shutdown waits at the most until the index knows how the log ends. What it was not told
/// until then the next start tells it.
const MOST: Duration = Duration::from_secs(1);

/// The index of the audit logs of every [`Runtime`](crate::Runtime) with the same state.
///
/// # Errors
/// [`RuntimeError`] when the folder or the bucket cannot be used.
///
/// # Cancel safety
/// Dropping the future changes nothing.
pub async fn audit_index_in(state: impl Into<Place>) -> Result<AuditIndex, RuntimeError> {
    Ok(AuditIndex::kept_in(state.into().open()?.kept().await?))
}

/// Has an index follow a log until it is dropped.
pub(crate) struct AuditKeeper {
    log: AuditLog,
    index: AuditIndex,
    follows: JoinHandle<()>,
}

impl AuditKeeper {
    /// Begins in the background; nothing waits for it. Without a runtime around it there is nobody
    /// to do it.
    pub(crate) fn start(log: AuditLog, state: Arc<dyn State>) -> Option<Self> {
        let here = Handle::try_current().ok()?;
        let index = AuditIndex::kept_in(state);
        // Whoever follows keeps the files and not the log: the last who writes is the last to go.
        let (follower, files) = (index.clone(), log.files());
        let follows = here.spawn(async move { follower.follow(&files).await });
        Some(Self {
            log,
            index,
            follows,
        })
    }

    /// Tells the index how the log ends.
    pub(crate) async fn end(self) {
        self.follows.abort();
        let _ = tokio::time::timeout(MOST, self.index.finish(&self.log)).await;
    }
}

impl Drop for AuditKeeper {
    fn drop(&mut self) {
        self.follows.abort();
    }
}
