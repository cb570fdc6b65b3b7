//! What a host does for its stores while it runs.

use std::sync::Arc;
use std::time::Duration;

use tool_core::Facts;
use tool_storage::{AuditFiles, ManagedArtifacts, ManagedOutputs};

use crate::RuntimeError;

/// The stores in the folder or bucket of a runtime, to be looked after. Clones are the same stores.
///
/// Opening them has swept them already. A host that runs longer [sweeps](Self::sweep) once an hour,
/// or has [that done](Self::look_after), as `tool serve` does. What a session leaves behind is removed when the host
/// [says that it has ended](Self::end_session); an MCP server says so of its clients' sessions.
/// Where the place is a folder the futures of both block for as long as the disk takes, so that
/// they belong on a thread for blocking work.
///
/// Stores that the host has put in place of these are its own to look after.
#[derive(Clone, Debug, Default)]
pub struct Upkeep {
    pub(crate) outputs: Option<Arc<dyn ManagedOutputs>>,
    pub(crate) artifacts: Option<Arc<dyn ManagedArtifacts>>,
    pub(crate) audit: Option<AuditFiles>,
}

/// How often stores are swept.
const HOUR: Duration = Duration::from_secs(60 * 60);

/// What left the stores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Left {
    /// Retained outputs.
    pub outputs: u64,
    /// Artifacts.
    pub artifacts: u64,
}

impl Upkeep {
    /// Sweeps once an hour, for ever, and tells what became of each sweep. The first is an hour from
    /// now, as opening the stores was one. It takes a thread for work that blocks, of a tokio runtime
    /// that has a timer.
    ///
    /// # Cancel safety
    /// Dropping the future ends it; a sweep that has begun goes on to its end.
    pub async fn look_after(self, mut told: impl FnMut(Result<Left, RuntimeError>)) {
        loop {
            tokio::time::sleep(HOUR).await;
            let (upkeep, here) = (self.clone(), tokio::runtime::Handle::current());
            // A folder's sweep blocks.
            let sweep = move || here.block_on(upkeep.sweep());
            // A sweep that panics is tried again like one that fails.
            if let Ok(swept) = tokio::task::spawn_blocking(sweep).await {
                told(swept);
            }
        }
    }

    /// Removes what has had its time, what is over the quota and what crashes left, and has the index
    /// of audit logs catch up where it is behind.
    ///
    /// # Errors
    /// [`RuntimeError::Store`] and [`RuntimeError::Artifacts`] when a store cannot be read. Each
    /// store is tried.
    ///
    /// # Cancel safety
    /// Dropping the future leaves what is left to the next time.
    pub async fn sweep(&self) -> Result<Left, RuntimeError> {
        let now = std::time::SystemTime::now();
        if let Some(files) = &self.audit {
            files.look_again();
        }
        let outputs = match &self.outputs {
            None => None,
            Some(store) => Some(store.sweep(now).await),
        };
        let artifacts = match &self.artifacts {
            None => None,
            Some(store) => Some(store.sweep().await),
        };
        let outputs = outputs.transpose().map_err(RuntimeError::Store)?;
        let artifacts = artifacts.transpose().map_err(RuntimeError::Artifacts)?;
        Ok(Left {
            outputs: outputs.map_or(0, |swept| swept.outputs),
            artifacts: artifacts.map_or(0, |swept| swept.len() as u64),
        })
    }

    /// Removes what a caller whose session has ended leaves behind: outputs of the session, and
    /// artifacts of the session or, without one, of the run.
    ///
    /// The server of `Runtime::mcp_server` calls it for the sessions that it made itself. For all
    /// others the host does, and only where nobody shall read on or take the session up again:
    /// [`Registry::end_session`](tool_registry::Registry::end_session) runs cleanups and removes
    /// nothing. What nobody removes stays until it has had its time or room is needed. `facts` name session and identity as the calls did, as the same session of
    /// another identity is another caller's.
    ///
    /// ```
    /// use tool_runtime::core::{ArtifactDraft, ArtifactKind, ArtifactStore as _, Facts};
    /// use tool_runtime::Runtime;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let dir = tempfile::tempdir()?;
    /// # let state = dir.path().join("state");
    /// let runtime = Runtime::builder().state(state).build().await?;
    /// let facts = Facts::new().session("s1");
    /// if let Some(artifacts) = runtime.artifacts() {
    ///     let draft = ArtifactDraft::new(ArtifactKind::new("note").ok_or("a blank kind")?);
    ///     artifacts.put(&facts, draft, "kept for the session".into()).await?;
    /// }
    /// assert_eq!(runtime.upkeep().end_session(&facts).await?.artifacts, 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`sweep`](Self::sweep).
    ///
    /// # Cancel safety
    /// When the future is dropped some of it may be gone.
    pub async fn end_session(&self, facts: &Facts) -> Result<Left, RuntimeError> {
        let outputs = match &self.outputs {
            None => None,
            Some(store) => Some(store.remove_all(facts).await),
        };
        let artifacts = match &self.artifacts {
            None => None,
            Some(store) => Some(store.remove_all(facts).await),
        };
        let outputs = outputs.transpose().map_err(RuntimeError::Store)?;
        let artifacts = artifacts.transpose().map_err(RuntimeError::Artifacts)?;
        Ok(Left {
            outputs: outputs.unwrap_or_default() as u64,
            artifacts: artifacts.unwrap_or_default() as u64,
        })
    }
}
