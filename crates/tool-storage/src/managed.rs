//! What an operator does with a store, wherever it keeps what it keeps.

use std::fmt::Debug;
use std::time::SystemTime;

use tool_core::{
    ArtifactError, ArtifactStore, BoxFuture, Facts, OutputStore, SessionId, StoreError,
    SweptArtifact,
};

use crate::dir_artifacts::DirArtifacts;
use crate::dir_store::DirStore;
use crate::pin::SessionPin;
use crate::summary::OutputSummary;
use crate::sweep::Swept;
use crate::verify::verify;

/// An output store that is looked after: listed, swept, removed from.
///
/// A directory's futures block the thread for as long as the disk takes, a bucket's wait for it.
/// Each method is that of the store of the same name.
pub trait ManagedOutputs: OutputStore + Debug {
    /// The outputs that can be read, the oldest first. See [`DirStore::list`].
    fn list(&self) -> BoxFuture<'_, Result<Vec<OutputSummary>, StoreError>>;

    /// Removes an output. See [`DirStore::remove`].
    fn remove<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Removes the outputs of a caller whose session has ended. See [`DirStore::remove_all`].
    fn remove_all<'a>(&'a self, facts: &'a Facts) -> BoxFuture<'a, Result<usize, StoreError>>;

    /// Keeps a session's outputs for as long as it is held. See [`DirStore::pin_session`].
    fn pin_session(&self, session: SessionId) -> SessionPin;

    /// Removes what has had its time, and more. See [`DirStore::sweep`].
    fn sweep(&self, now: SystemTime) -> BoxFuture<'_, Result<Swept, StoreError>>;

    /// Reads an output, whole, and holds it against the checksum that was taken as it was stored,
    /// which says whether the disk gives back what it was given.
    ///
    /// # Errors
    /// [`NotFound`](tool_core::StoreErrorKind::NotFound) when there is no such output;
    /// [`Io`](tool_core::StoreErrorKind::Io) when it is damaged, cannot be read, or has a checksum
    /// that this version does not know.
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing.
    fn verify<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<OutputSummary, StoreError>> {
        Box::pin(verify(self, id))
    }
}

/// An artifact store that is looked after.
///
/// A directory's futures block the thread for as long as the disk takes, a bucket's wait for it.
pub trait ManagedArtifacts: ArtifactStore + Debug {
    /// Removes what has had its time, and more. See [`DirArtifacts::sweep`].
    fn sweep(&self) -> BoxFuture<'_, Result<Vec<SweptArtifact>, ArtifactError>>;

    /// Removes the artifacts of a caller whose session has ended. See
    /// [`DirArtifacts::remove_all`].
    fn remove_all<'a>(&'a self, facts: &'a Facts) -> BoxFuture<'a, Result<usize, ArtifactError>>;
}

impl ManagedOutputs for DirStore {
    fn list(&self) -> BoxFuture<'_, Result<Vec<OutputSummary>, StoreError>> {
        Box::pin(async { Self::list(self) })
    }

    fn remove<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move { Self::remove(self, id) })
    }

    fn remove_all<'a>(&'a self, facts: &'a Facts) -> BoxFuture<'a, Result<usize, StoreError>> {
        Box::pin(async move { Self::remove_all(self, facts) })
    }

    fn pin_session(&self, session: SessionId) -> SessionPin {
        Self::pin_session(self, session)
    }

    fn sweep(&self, now: SystemTime) -> BoxFuture<'_, Result<Swept, StoreError>> {
        Box::pin(async move { Self::sweep(self, now) })
    }
}

impl ManagedArtifacts for DirArtifacts {
    fn sweep(&self) -> BoxFuture<'_, Result<Vec<SweptArtifact>, ArtifactError>> {
        Box::pin(async { Self::sweep(self) })
    }

    fn remove_all<'a>(&'a self, facts: &'a Facts) -> BoxFuture<'a, Result<usize, ArtifactError>> {
        Box::pin(self.remove_all_aside(facts))
    }
}

#[cfg(feature = "object-store")]
impl ManagedOutputs for crate::BucketOutputs {
    fn list(&self) -> BoxFuture<'_, Result<Vec<OutputSummary>, StoreError>> {
        Box::pin(Self::list(self))
    }

    fn remove<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(Self::remove(self, id))
    }

    fn remove_all<'a>(&'a self, facts: &'a Facts) -> BoxFuture<'a, Result<usize, StoreError>> {
        Box::pin(Self::remove_all(self, facts))
    }

    fn pin_session(&self, session: SessionId) -> SessionPin {
        Self::pin_session(self, session)
    }

    fn sweep(&self, now: SystemTime) -> BoxFuture<'_, Result<Swept, StoreError>> {
        Box::pin(Self::sweep(self, now))
    }
}

#[cfg(feature = "object-store")]
impl ManagedArtifacts for crate::BucketArtifacts {
    fn sweep(&self) -> BoxFuture<'_, Result<Vec<SweptArtifact>, ArtifactError>> {
        Box::pin(Self::sweep(self))
    }

    fn remove_all<'a>(&'a self, facts: &'a Facts) -> BoxFuture<'a, Result<usize, ArtifactError>> {
        Box::pin(Self::remove_all(self, facts))
    }
}
