//! The files of an audit log, for its index.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use tool_core::StoreError;

use crate::faults::Faults;
use crate::folder::Folder;
use crate::signal::Signal;

/// The files of an [`AuditLog`](super::AuditLog), for its index. It keeps no log open. Clones are
/// the same files.
#[derive(Clone)]
pub struct AuditFiles {
    pub(super) folder: Arc<Folder>,
    pub(super) changed: Arc<Signal>,
}

impl AuditFiles {
    /// The files of a folder in which nothing is written from here. It blocks.
    ///
    /// # Errors
    /// [`StoreError`] when there is no such folder, or it cannot be opened.
    pub fn in_folder(folder: impl AsRef<Path>) -> Result<Self, StoreError> {
        Ok(Self {
            folder: Arc::new(Folder::find(folder.as_ref(), Faults::default())?),
            changed: Arc::default(),
        })
    }

    /// Has whoever waits for a change look again, as where a state could not be reached before.
    pub fn look_again(&self) {
        self.changed.raise();
    }

    /// Waits until the log of this process has begun, closed or removed a file since it was waited
    /// for last, or until it is to [look again](Self::look_again). One waits at a time.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing.
    pub async fn changed(&self) {
        self.changed.raised().await;
    }
}

impl fmt::Debug for AuditFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AuditFiles")
            .field(&self.folder.root())
            .finish()
    }
}
