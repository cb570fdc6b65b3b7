//! What the folder of a log has that its index does not know.

use std::collections::{HashMap, HashSet};
use std::io;

use super::ledger::{Entry, Found, Ledger, What};
use super::measure::Measure;
use super::names;
use super::note;
use crate::folder::{Folder, of_file};
use crate::pin::{Unlocked, remove_unlocked};

/// What a folder has that its index does not know.
#[derive(Debug)]
pub(super) struct Survey {
    /// The id of the folder.
    pub(super) folder: String,
    pub(super) found: Vec<Found>,
    /// The notes that have been told once the index has this.
    pub(super) noted: Vec<String>,
}

impl Survey {
    /// Looks at a folder, and reads the files whose writers are gone. It blocks.
    pub(super) fn of(folder: &Folder, id: String, ledger: &Ledger) -> io::Result<Self> {
        let mut names = folder.names()?;
        // They sort by when they were begun.
        names.sort_unstable();
        let known = ledger.of_folder(&id);
        let mut writers = Writers::default();
        let (mut found, mut noted) = (Vec::new(), Vec::new());
        let mut ended = HashSet::new();
        for name in &names {
            if let Some(segment) = names::of_removed(name) {
                if !folder.is_foreign(name)? {
                    noted.push(name.clone());
                    found.push(Found::of(segment, What::Removed));
                }
            } else if names::is_segment(name) && !ledger.has_left(&id, name) {
                let known = known.get(name.as_str()).copied();
                let what = writers.look(folder, name, known);
                let what = what.map_err(|error| of_file(name, error))?;
                if matches!(what, Some(What::Closed(_) | What::Abandoned(_))) {
                    ended.insert(name.as_str());
                }
                found.extend(what.map(|what| Found::of(name, what)));
            }
        }
        for name in &names {
            let Some(segment) = names::of_closed(name) else {
                continue;
            };
            // A note may be written at this moment: it has done what it is for once its file is
            // closed here too, or is gone.
            let known = known.get(segment).and_then(|entry| entry.sealed.as_ref());
            let has_left = known.is_some() || ledger.has_left(&id, segment);
            let is_told = has_left || ended.contains(segment) || folder.bytes(segment)? == 0;
            if is_told && !folder.is_foreign(name)? {
                noted.push(name.clone());
            }
        }
        Ok(Self {
            folder: id,
            found,
            noted,
        })
    }

    /// Whether any file was removed to make room.
    pub(super) fn has_removed(&self) -> bool {
        let mut found = self.found.iter();
        found.any(|found| matches!(found.what, What::Removed))
    }

    /// Removes the notes that were told. It blocks.
    pub(super) fn told(&self, folder: &Folder) -> io::Result<()> {
        for note in &self.noted {
            let removed = folder.remove(note);
            removed.map_err(|error| of_file(note, error))?;
        }
        Ok(())
    }
}

impl Found {
    fn of(name: &str, what: What) -> Self {
        let name = name.to_owned();
        Self { name, what }
    }
}

/// Which processes live that write into a folder.
#[derive(Default)]
pub(super) struct Writers(HashMap<String, bool>);

impl Writers {
    /// What is to be told of a file that is there; `None` for nothing.
    fn look(
        &mut self,
        folder: &Folder,
        name: &str,
        known: Option<&Entry>,
    ) -> io::Result<Option<What>> {
        if known.is_some_and(|entry| entry.sealed.is_some()) {
            return Ok(None);
        }
        // What is no file has no lines; a check finds it where there was one.
        if folder.bytes(name)? == 0 || folder.is_foreign(name)? {
            return Ok(None);
        }
        if let Some(contents) = note::read_closed(folder, name)? {
            return Ok(Some(What::Closed(contents)));
        }
        if self.lives(folder, name) {
            return Ok(known.is_none().then_some(What::Open));
        }
        // It may have closed the file and gone since its note was looked for.
        if let Some(contents) = note::read_closed(folder, name)? {
            return Ok(Some(What::Closed(contents)));
        }
        match folder.read(name)? {
            // Another has made room.
            None => Ok(None),
            Some(file) => Measure::of(file).map(|contents| Some(What::Abandoned(contents))),
        }
    }

    /// Whether the process that writes a file, or wrote it, is there. In doubt it is. The lock of
    /// one that is gone is removed.
    pub(super) fn lives(&mut self, folder: &Folder, segment: &str) -> bool {
        let Some((_, lock)) = names::parts(segment) else {
            return false;
        };
        let looked = |lock: &String| match remove_unlocked(folder, lock) {
            Ok(unlocked) => unlocked == Unlocked::InUse,
            Err(error) => {
                tracing::debug!(%error, "could not tell whether an audit log is written");
                true
            }
        };
        *self.0.entry(lock).or_insert_with_key(looked)
    }
}
