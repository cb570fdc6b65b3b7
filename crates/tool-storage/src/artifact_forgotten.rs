//! Artifacts of a directory of which nobody will learn.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tool_core::{ArtifactRef, ArtifactScope, Facts};

use crate::artifact_files::ArtifactFiles;
use crate::artifact_record::file_name;
use crate::artifact_room::Room;

/// Artifacts whose files are gone and which are still to be taken off their shelves, by scope.
#[derive(Default)]
pub(crate) struct Forgotten(Mutex<HashMap<ArtifactScope, Vec<ArtifactRef>>>);

impl Forgotten {
    pub(crate) fn take(&self, scope: &ArtifactScope) -> Vec<ArtifactRef> {
        self.scopes().remove(scope).unwrap_or_default()
    }

    fn add(&self, scope: ArtifactScope, reference: ArtifactRef) {
        self.scopes().entry(scope).or_default().push(reference);
    }

    fn scopes(&self) -> MutexGuard<'_, HashMap<ArtifactScope, Vec<ArtifactRef>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ArtifactFiles {
    /// Removes the file of an artifact, and waits for nobody who has the lock of its scope: who
    /// comes to the scope next takes it off the shelf.
    pub(crate) fn forget(&self, facts: &Facts, reference: &str) {
        let Some(reference) = ArtifactRef::parse(reference) else {
            return;
        };
        let scope = ArtifactScope::of(facts);
        let removed = match self.folder.child(&scope.key()) {
            Ok(Some(folder)) => folder.remove(&file_name(&reference)).map(|_| ()),
            Ok(None) => return,
            Err(error) => Err(error),
        };
        if let Err(error) = removed {
            tracing::warn!(%error, "could not remove an artifact yet");
        }
        self.forgotten.add(scope, reference);
    }

    /// Takes what was forgotten off the shelf of a scope. What cannot be removed is left for the
    /// next time.
    pub(crate) fn leave_out_forgotten(&self, scope: &ArtifactScope, room: &mut Room) {
        for reference in self.forgotten.take(scope) {
            if let Err(error) = room.remove(&reference) {
                tracing::warn!(%error, "could not remove an artifact");
                self.forgotten.add(scope.clone(), reference);
            }
        }
    }
}
