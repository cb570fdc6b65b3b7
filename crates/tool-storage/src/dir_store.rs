//! Output kept in a local directory.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use tool_core::{
    Bounded, BoxFuture, Content, Facts, OutputPage, OutputSink, OutputStore, PageRequest, Retained,
    Retention, SessionId, StoreError,
};

use crate::builder::DirStoreBuilder;
use crate::folder::Folder;
use crate::gone::{Gone, Left};
use crate::id::Id;
use crate::incoming::Incoming;
use crate::index::{Entry, Index};
use crate::joined::Joined;
use crate::marker::{Marker, ReadingHint};
use crate::pin::{Pins, SessionPin};
use crate::preview::preview;
use crate::reading::not_an_id;
use crate::staged::pause;
use crate::truncated::truncated;

/// An [`OutputStore`] in a local directory. Clones are the same store.
///
/// # What is stored
/// The texts of an output in their order, byte for byte. Empty texts count for nothing, and a
/// newline goes before each further text when the bytes so far do not end in one; a single text is
/// exactly its own bytes. Session, identity, call, tool, time, size and digest stand in a record at
/// the end of the same file and not in its name, which is the output's id and cannot be guessed.
///
/// An output is written aside, under a lock, and renamed when it is whole. So what is seen is
/// whole, a call that is dropped or killed leaves nothing to be seen, and the space of what it had
/// written comes back at the latest with the next sweep. A write that fails for whatever reason,
/// a full disk among them, is an error and leaves nothing.
///
/// # Who may read
/// The session and identity that an output was retained with, an absent one being absent: what was
/// retained without a session is for callers without one. A request without facts is an
/// operator's and reads everything.
///
/// # Limits
/// [`Limits`](crate::Limits) hold for the whole directory. An output that has had its time is not
/// read any more, and is removed then or by the next [sweep](Self::sweep);
/// [opening](DirStoreBuilder::open) sweeps too. An output that would not fit takes the place of the
/// oldest ones; if they are not enough, nothing is removed and it is refused. Outputs of a
/// [pinned](Self::pin_session) session are neither too old nor in the way.
///
/// # Concurrency
/// A directory may be used by several stores and processes at once. Each checks the quota against
/// what it knows, so that together they may exceed it until one of them looks at the directory
/// again: when it has to make room, sweeps, lists or opens.
///
/// # Blocking
/// Files are written and read on the calling thread, as this crate never spawns. Storing yields to
/// the executor after every 128 KiB written and hashed, and reading a page takes
/// three short reads whatever its offset. The price is that a disk that stalls stalls its thread;
/// a host that cannot have that puts the store behind a thread of its own. All other methods do
/// not yield and take time in proportion to the number of outputs.
#[derive(Clone)]
pub struct DirStore {
    pub(crate) shared: Arc<Shared>,
}

pub(crate) struct Shared {
    pub(crate) folder: Arc<Folder>,
    pub(crate) pins: Arc<Pins>,
    pub(crate) gone: Gone,
    pub(crate) setup: DirStoreBuilder,
    index: Mutex<Index>,
    /// Outputs that nobody will ask for and that could not be removed at once.
    forgotten: Mutex<Vec<(Id, String)>>,
}

impl DirStore {
    /// A store in that directory, to be set up.
    ///
    /// ```
    /// use tool_storage::{DirStore, Durability};
    ///
    /// # let dir = tempfile::tempdir()?;
    /// # let root = dir.path().join("outputs");
    /// let store = DirStore::builder(root).durability(Durability::Power).open()?;
    /// assert!(store.list()?.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn builder(root: impl Into<PathBuf>) -> DirStoreBuilder {
        DirStoreBuilder::new(root.into())
    }

    pub(crate) fn open(setup: DirStoreBuilder) -> Result<Self, StoreError> {
        let folder = Arc::new(Folder::open(&setup.root, setup.faults.clone())?);
        let store = Self {
            shared: Arc::new(Shared {
                pins: Arc::new(Pins::new(Arc::clone(&folder))),
                gone: Gone::new(Arc::clone(&folder)),
                folder,
                index: Mutex::default(),
                forgotten: Mutex::default(),
                setup,
            }),
        };
        store.shared.sweep(store.shared.setup.clock.now_us())?;
        Ok(store)
    }

    /// Keeps the outputs of a session until the guard is dropped.
    ///
    /// Never fails: where other processes cannot be told, a warning is traced and the pin holds in
    /// this one.
    pub fn pin_session(&self, session: impl Into<SessionId>) -> SessionPin {
        Arc::clone(&self.shared.pins).pin(session.into())
    }

    /// Removes an output, a damaged one and one of a pinned session too.
    ///
    /// # Errors
    /// [`NotFound`](tool_core::StoreErrorKind::NotFound) when there is none;
    /// [`Io`](tool_core::StoreErrorKind::Io) when the directory cannot be written.
    pub fn remove(&self, id: &str) -> Result<(), StoreError> {
        let known = Id::parse(id).ok_or_else(not_an_id)?;
        let mut index = self.shared.index();
        let was_there = self
            .shared
            .folder
            .remove(&known.to_string())
            .map_err(|cause| {
                self.shared
                    .folder
                    .failed("could not remove an output", cause)
            })?;
        index.remove(known);
        if was_there {
            self.shared.gone.note(known, Left::Removed);
            Ok(())
        } else {
            Err(self.shared.unknown(known))
        }
    }

    /// Removes the outputs of a caller whose session has ended, a pinned one's too. Returns how
    /// many they were. A caller without a session has none that ends.
    ///
    /// # Errors
    /// [`Io`](tool_core::StoreErrorKind::Io) when the directory cannot be read or written.
    pub fn remove_all(&self, facts: &Facts) -> Result<usize, StoreError> {
        if facts.session_id().is_none() {
            return Ok(0);
        }
        let shared = &*self.shared;
        let mut index = shared.index();
        shared.follow(&mut index)?;
        let of_caller = |entry: &Entry| match entry {
            Entry::Whole(record) => record.is_readable_by(facts),
            Entry::Damaged { .. } => false,
        };
        let ids: Vec<Id> = index
            .oldest_first()
            .filter(|(_, entry)| of_caller(entry))
            .map(|(id, _)| id)
            .collect();
        for id in &ids {
            shared
                .discard(&mut index, *id, Some(Left::Ended))
                .map_err(|cause| shared.folder.failed("could not remove an output", cause))?;
        }
        Ok(ids.len())
    }

    async fn retain(&self, retention: Retention<'_>) -> Result<Bounded, StoreError> {
        let joined = Joined::new(&retention.content);
        let mut incoming = Incoming::begin(&self.shared, retention.facts, joined.len() as u64)?;
        for piece in joined.pieces() {
            incoming.write(piece).await?;
        }
        pause().await;

        // From here on nothing awaits: a dropped future has either shown nothing or is done.
        let id = incoming.id().to_string();
        let retained = incoming.show(retention.facts, retention.call, retention.tool)?;
        let marker = Marker::new(&id, self.hint()).loss(retention.loss);
        let content = preview(retention.content, retention.bound, &marker);
        Ok(Bounded::new(content, retained))
    }

    pub(crate) fn hint(&self) -> &ReadingHint {
        &self.shared.setup.hint
    }
}

impl Shared {
    pub(crate) fn index(&self) -> MutexGuard<'_, Index> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shared {
    /// Removes an output that nobody will ask for. Returns whether nothing is left to do.
    fn forget(&self, id: Id, digest: &str) -> bool {
        let mut index = match self.index.try_lock() {
            Ok(index) => index,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            // Whoever holds it may be reading the whole directory.
            Err(TryLockError::WouldBlock) => return false,
        };
        match index.get(id) {
            Some(entry) if !entry.has_digest(digest) => true,
            Some(_) => self
                .discard(&mut index, id, None)
                .inspect_err(|error| {
                    tracing::warn!(%id, %error, "could not remove an output");
                })
                .is_ok(),
            // It is gone, or of a store that this one has not looked at yet.
            None => false,
        }
    }

    pub(crate) fn forgotten(&self) -> MutexGuard<'_, Vec<(Id, String)>> {
        self.forgotten
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl OutputStore for DirStore {
    fn bound<'a>(&'a self, retention: Retention<'a>) -> BoxFuture<'a, Result<Bounded, StoreError>> {
        Box::pin(self.retain(retention))
    }

    fn stream(&self, retention: Retention<'_>) -> Result<Option<Box<dyn OutputSink>>, StoreError> {
        let writer = self.begin(retention.facts, retention.tool, retention.bound)?;
        Ok(Some(Box::new(writer.call(retention.call.cloned()))))
    }

    fn truncate(&self, retention: Retention<'_>) -> Vec<Content> {
        truncated(retention)
    }

    /// Removes the output at once, of a pinned session too. One that is busy or cannot be removed
    /// goes with the next [sweep](Self::sweep); one that is gone already is none.
    fn forget(&self, retained: &Retained) {
        if let Some(id) = Id::parse(&retained.id)
            && !self.shared.forget(id, &retained.digest)
        {
            let digest = retained.digest.clone();
            self.shared.forgotten().push((id, digest));
        }
    }

    fn page<'a>(
        &'a self,
        request: PageRequest<'a>,
    ) -> BoxFuture<'a, Result<OutputPage, StoreError>> {
        Box::pin(async move { self.read(&request) })
    }
}

impl fmt::Debug for DirStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DirStore")
            .field("root", &self.shared.setup.root)
            .field("limits", &self.shared.setup.limits)
            .finish_non_exhaustive()
    }
}
