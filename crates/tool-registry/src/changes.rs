//! How others learn that what is registered has changed.

use tokio::sync::watch;

/// Tells when what is registered has changed. Many changes between two looks count as one.
#[derive(Clone, Debug)]
pub struct Changes {
    version: watch::Receiver<u64>,
}

impl Changes {
    pub(crate) fn new(version: watch::Receiver<u64>) -> Self {
        Self { version }
    }

    /// Waits for a change since the last look, or since these changes were asked for. Returns
    /// `false` when the registry is gone and nothing will change any more.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing: the change is seen by the next wait.
    pub async fn changed(&mut self) -> bool {
        self.version.changed().await.is_ok()
    }
}
