//! The directory of one scope.

use std::collections::HashSet;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use tool_core::{ArtifactRef, ArtifactScope};

use crate::artifact_record::{ArtifactRecord, file_name, is_file_name};
use crate::clock::micros;
use crate::folder::{Folder, is_linked};
use crate::pin::remove_unlocked;
use crate::shelf::{Row, Shelf};
use crate::staged::aside;
use crate::store_file::StoreFile;
use crate::turn;
use crate::watch::{Waits, Watch};

/// The directory of one scope and what is in it.
///
/// Who changes it holds the lock of the file `.lock`, which dies with its process. The file counts
/// the changes, so that who finds the count as it left it need not read the directory.
#[derive(Debug)]
pub(crate) struct Room {
    pub(crate) folder: Arc<Folder>,
    pub(crate) shelf: Shelf<()>,
    /// Files with the name of an artifact that do not read, and when they were written.
    pub(crate) damaged: Vec<(String, u64)>,
    scope: ArtifactScope,
    lock: Arc<StoreFile>,
    seen: Option<u64>,
    watch: Option<Arc<Watch>>,
}

/// The lock of a room. Nothing awaits while it is held.
pub(crate) struct Locked(Arc<StoreFile>);

/// What became of somebody who came to a room.
pub(crate) enum Entered<T> {
    Done(T),
    /// Another has the lock, and nothing was done.
    Busy,
    /// The directory is no longer that of the scope, and nothing was done.
    Gone,
}

impl Room {
    /// Opens the directory of a scope; `None` when it is not there and not to be created.
    pub(crate) fn open(
        store: &Folder,
        scope: &ArtifactScope,
        create: bool,
    ) -> io::Result<Option<Self>> {
        let key = scope.key();
        let folder = if create {
            store.child_or_create(&key)?
        } else {
            match store.child(&key)? {
                Some(folder) => folder,
                None => return Ok(None),
            }
        };
        let lock = folder.open_or_create(LOCK)?;
        Ok(Some(Self {
            folder: Arc::new(folder),
            shelf: Shelf::default(),
            damaged: Vec::new(),
            scope: scope.clone(),
            lock: Arc::new(lock),
            seen: None,
            watch: None,
        }))
    }

    /// Does something under the lock, with the shelf as the directory is: under one that was taken
    /// before, or if nobody has it.
    pub(crate) fn enter<T>(
        room: &Mutex<Self>,
        taken: Option<Locked>,
        work: impl FnOnce(&mut Self) -> T,
    ) -> io::Result<Entered<T>> {
        let mut room = room.lock().unwrap_or_else(PoisonError::into_inner);
        let locked = match taken {
            Some(taken) => taken,
            None if turn::try_take(&room.lock)? => Locked(Arc::clone(&room.lock)),
            None => return Ok(Entered::Busy),
        };
        if !is_linked(&locked.0)? || !is_linked(&room.lock)? {
            return Ok(Entered::Gone);
        }
        room.follow()?;
        let done = work(&mut room);
        drop(locked);
        Ok(Entered::Done(done))
    }

    /// Waits until the lock was free for a moment, and takes it not: whoever is not polled any more
    /// must not have it.
    pub(crate) fn watch(room: &Mutex<Self>, deadline: Instant) -> io::Result<Waits> {
        let mut room = room.lock().unwrap_or_else(PoisonError::into_inner);
        let room = &mut *room;
        // As another that opens it: a file that is opened twice has two locks.
        let lock = || room.folder.open_or_create(LOCK);
        Watch::join(&mut room.watch, lock, deadline)
    }

    /// Waits for the lock, and takes it. It blocks.
    pub(crate) fn wait(room: &Mutex<Self>, deadline: Instant) -> io::Result<Locked> {
        let folder = {
            let room = room.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(&room.folder)
        };
        let lock = folder.open_or_create(LOCK)?;
        turn::take(&lock, deadline.saturating_duration_since(Instant::now()))?;
        Ok(Locked(Arc::new(lock)))
    }

    /// Says that something is about to change. Others then read the directory again, for nothing
    /// where this process dies before it changes anything.
    pub(crate) fn about_to_change(&mut self) -> io::Result<()> {
        let next = self.seen.unwrap_or_default().wrapping_add(1);
        let mut file = &*self.lock;
        file.seek(SeekFrom::Start(0))?;
        file.write_all(&next.to_be_bytes())?;
        self.seen = Some(next);
        Ok(())
    }

    /// Removes an artifact's file and forgets it.
    pub(crate) fn remove(&mut self, reference: &ArtifactRef) -> io::Result<()> {
        self.about_to_change()?;
        self.folder.remove(&file_name(reference))?;
        self.shelf.remove(reference);
        Ok(())
    }

    /// Takes the directory away where nothing is in it. Call it last under the lock.
    pub(crate) fn leave_if_empty(&mut self, store: &Folder) -> io::Result<bool> {
        if !self.shelf.is_empty() || self.folder.names()?.iter().any(|name| name != LOCK) {
            return Ok(false);
        }
        self.folder.remove(LOCK)?;
        // Whoever has begun a file in between keeps the directory and makes a new lock.
        store.remove_child(&self.scope.key())
    }

    fn follow(&mut self) -> io::Result<()> {
        let count = self.count()?;
        if self.seen == Some(count) {
            return Ok(());
        }
        let names = self.folder.names()?;
        if self.seen.is_none() {
            for name in names.iter().filter(|name| aside(name).is_some()) {
                if let Err(error) = remove_unlocked(&self.folder, name) {
                    tracing::warn!(%error, "could not remove an unfinished artifact");
                }
            }
        }
        let present: HashSet<&str> = names
            .iter()
            .map(String::as_str)
            .filter(|name| is_file_name(name))
            .collect();
        let mut known = HashSet::new();
        let mut gone = Vec::new();
        for reference in self.shelf.references() {
            let name = file_name(reference);
            if present.contains(&*name) {
                known.insert(name);
            } else {
                gone.push(reference.clone());
            }
        }
        for reference in gone {
            self.shelf.remove(&reference);
        }
        self.damaged.clear();
        for name in present.into_iter().filter(|name| !known.contains(*name)) {
            self.load(name);
        }
        self.seen = Some(count);
        Ok(())
    }

    fn load(&mut self, name: &str) {
        let mut file = match self.folder.read(name) {
            Ok(Some(file)) => file,
            Ok(None) => return,
            Err(error) => {
                tracing::warn!(%error, "passed over a file with the name of an artifact");
                return;
            }
        };
        let modified = file.metadata().and_then(|metadata| metadata.modified());
        let modified_us = modified.map_or(0, micros);
        match ArtifactRecord::read(&mut file, |it| file_name(it) == name, &self.scope) {
            Ok((meta, _)) => {
                let used_us = modified_us.max(micros(meta.created));
                self.shelf.insert(Row {
                    meta,
                    used_us,
                    body: (),
                });
            }
            Err(error) => {
                let error: &dyn std::error::Error = &error;
                tracing::warn!(error, "an artifact is damaged");
                self.damaged.push((name.to_owned(), modified_us));
            }
        }
    }

    fn count(&self) -> io::Result<u64> {
        let mut file = &*self.lock;
        file.seek(SeekFrom::Start(0))?;
        let mut bytes = Vec::with_capacity(8);
        file.take(8).read_to_end(&mut bytes)?;
        // A lock that was never written has counted nothing.
        Ok(bytes.try_into().map_or(0, u64::from_be_bytes))
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        if let Err(error) = self.0.unlock()
            && error.kind() != io::ErrorKind::Unsupported
        {
            tracing::warn!(%error, "could not give up the lock of a scope");
        }
    }
}

const LOCK: &str = ".lock";
