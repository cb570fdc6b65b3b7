//! Artifacts that were placed for settlements that nobody has seen yet.

use std::sync::{Arc, Mutex, PoisonError};

use tool_core::{ArtifactRef, ArtifactStore, Facts};

use crate::contained::contained;

/// An artifact that was placed for a settlement that nobody has seen yet. Dropped, it is taken back.
pub(crate) struct Placed(Option<(Arc<dyn ArtifactStore>, Facts, ArtifactRef)>);

impl Placed {
    pub(crate) fn new(
        store: &Arc<dyn ArtifactStore>,
        facts: &Facts,
        reference: &ArtifactRef,
    ) -> Self {
        Self(Some((Arc::clone(store), facts.clone(), reference.clone())))
    }

    /// The settlement is given out, and the artifact with it.
    pub(crate) fn seen(mut self) {
        self.0 = None;
    }
}

impl Drop for Placed {
    fn drop(&mut self) {
        if let Some((store, facts, reference)) = self.0.take() {
            contained(|| store.forget(&facts, reference.as_str()));
        }
    }
}

/// What was placed for settlements that were made and wait to be given out.
#[derive(Default)]
pub(crate) struct Unread(Mutex<Vec<Placed>>);

impl Unread {
    pub(crate) fn hold(&self, placed: Placed) {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        held.push(placed);
    }

    /// The settlements are given out.
    pub(crate) fn seen(&self) {
        self.take().into_iter().for_each(Placed::seen);
    }

    /// Nobody will see them.
    pub(crate) fn forget(&self) {
        // Outside of the lock, as a store is somebody else's.
        drop(self.take());
    }

    fn take(&self) -> Vec<Placed> {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *held)
    }
}

impl std::fmt::Debug for Unread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Unread(..)")
    }
}
