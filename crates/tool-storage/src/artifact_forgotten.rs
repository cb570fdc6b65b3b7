//! Artifacts of a directory of which nobody will learn.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tool_core::{ArtifactRef, ArtifactScope, Facts};

use crate::artifact_files::ArtifactFiles;
use crate::artifact_record::file_name;
use crate::artifact_room::Room;

/// Artifacts that are still to be taken off their shelves, by scope. Their files are gone, or could
/// not be removed yet.
#[derive(Default)]
pub(crate) struct Forgotten(Mutex<HashMap<ArtifactScope, Vec<ArtifactRef>>>);

impl Forgotten {
    /// Ends all of a scope, which has no directory.
    pub(crate) fn leave(&self, scope: &ArtifactScope) {
        self.scopes().remove(scope);
    }

    /// Whether an artifact is not to be read any more.
    pub(crate) fn holds(&self, scope: &ArtifactScope, reference: &ArtifactRef) -> bool {
        let scopes = self.scopes();
        let of_scope = scopes.get(scope);
        of_scope.is_some_and(|forgotten| forgotten.contains(reference))
    }

    /// The names of the directories of the scopes.
    pub(crate) fn keys(&self) -> Vec<String> {
        self.scopes().keys().map(ArtifactScope::key).collect()
    }

    fn of(&self, scope: &ArtifactScope) -> Vec<ArtifactRef> {
        self.scopes().get(scope).cloned().unwrap_or_default()
    }

    fn add(&self, scope: ArtifactScope, reference: ArtifactRef) {
        self.scopes().entry(scope).or_default().push(reference);
    }

    fn done(&self, scope: &ArtifactScope, reference: &ArtifactRef) {
        let mut scopes = self.scopes();
        if let Some(forgotten) = scopes.get_mut(scope) {
            forgotten.retain(|it| it != reference);
            if forgotten.is_empty() {
                scopes.remove(scope);
            }
        }
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
        let folder = match self.folder.child(&scope.key()) {
            Ok(None) => return,
            folder => folder,
        };
        let name = file_name(&reference);
        // Before its file is gone, so that nobody reads it where that cannot be removed.
        self.forgotten.add(scope, reference);
        let removed = folder.and_then(|folder| folder.map(|it| it.remove(&name)).transpose());
        if let Err(error) = removed {
            tracing::warn!(%error, "could not remove an artifact yet");
        }
    }

    /// Takes what was forgotten off the shelf of a scope. A file that cannot be removed is left for
    /// the next time, when the shelf may have it again.
    pub(crate) fn leave_out_forgotten(&self, scope: &ArtifactScope, room: &mut Room) {
        for reference in self.forgotten.of(scope) {
            match room.remove(&reference) {
                Ok(()) => self.forgotten.done(scope, &reference),
                Err(error) => {
                    tracing::warn!(%error, "could not remove an artifact");
                    room.shelf.remove(&reference);
                }
            }
        }
    }
}
