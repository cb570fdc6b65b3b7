//! What leaves the store, and when.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::SystemTime;

use tool_core::{SessionId, StoreError};

use crate::clock::micros;
use crate::dir_store::{DirStore, Shared};
use crate::gone::Left;
use crate::id::Id;
use crate::index::{Entry, Index};
use crate::pin::{Unlocked, is_pin_name, remove_unlocked};
use crate::record::Record;
use crate::staged::is_staged_name;

/// What a sweep did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Swept {
    /// Outputs that were removed: for their age, for the quota, or as nobody will ask for them.
    pub outputs: u64,
    /// The bytes of these outputs.
    pub bytes: u64,
    /// Files of writes that never finished, removed.
    pub leftovers: u64,
    /// Files that should have been removed and could not be. Each is traced as a warning.
    pub failed: u64,
}

/// Space that is promised to an output. Dropped, it is free again.
pub(crate) struct Room {
    shared: Arc<Shared>,
    session: Option<SessionId>,
    bytes: u64,
}

impl DirStore {
    /// Removes what has expired at that time, the oldest outputs while the quota is exceeded, and
    /// what dead processes left unfinished.
    ///
    /// Outputs of pinned sessions stay, writes in progress stay, and so does every file that is not
    /// this store's. The age of an output is the time in its record, never its name or its file's;
    /// only an output whose record does not read has the time of its file. A host calls this once
    /// an hour.
    ///
    /// # Errors
    /// [`Io`](tool_core::StoreErrorKind::Io) when the directory cannot be read. A single file that cannot be
    /// removed is counted instead.
    pub fn sweep(&self, now: SystemTime) -> Result<Swept, StoreError> {
        self.shared.sweep(micros(now))
    }
}

impl Shared {
    pub(crate) fn sweep(&self, now_us: u64) -> Result<Swept, StoreError> {
        let mut swept = Swept::default();
        let mut index = self.index();
        let names = self.follow(&mut index)?;

        let forgotten = std::mem::take(&mut *self.forgotten());
        for (id, digest) in forgotten {
            if index.get(id).is_some_and(|entry| entry.has_digest(&digest)) {
                self.sweep_output(&mut index, id, None, &mut swept);
                if index.contains(id) {
                    self.forgotten().push((id, digest));
                }
            }
        }
        let expired: Vec<Id> = index
            .oldest_first()
            .filter(|(_, entry)| self.has_expired(entry, now_us))
            .map(|(id, _)| id)
            .collect();
        for id in expired {
            self.sweep_output(&mut index, id, Some(Left::Expired), &mut swept);
        }
        let excess = index.used().saturating_sub(self.setup.limits.total_bytes());
        for id in self.oldest(&index, excess).0 {
            self.sweep_output(&mut index, id, Some(Left::Evicted), &mut swept);
        }

        if let Err(error) = self.gone.sweep() {
            tracing::debug!(%error, "could not forget why outputs left");
        }
        for name in names {
            if is_staged_name(&name) {
                match remove_unlocked(&self.folder, &name) {
                    Ok(unlocked) => swept.leftovers += u64::from(unlocked == Unlocked::Removed),
                    Err(error) => {
                        tracing::warn!(%error, "could not remove an unfinished output");
                        swept.failed += 1;
                    }
                }
            } else if is_pin_name(&name) {
                self.pins.is_locked(&name);
            }
        }
        Ok(swept)
    }

    /// Refuses an output that is larger than one may be.
    pub(crate) fn check_size(&self, bytes: u64) -> Result<(), StoreError> {
        self.setup.limits.check_size(bytes)
    }

    /// Promises space to an output, and removes the oldest ones where that takes it.
    pub(crate) fn make_room(
        self: &Arc<Self>,
        bytes: u64,
        session: Option<&SessionId>,
    ) -> Result<Room, StoreError> {
        self.make_more_room(bytes, 0, session)
    }

    /// Promises more space to an output that has some already.
    fn make_more_room(
        self: &Arc<Self>,
        bytes: u64,
        held: u64,
        session: Option<&SessionId>,
    ) -> Result<Room, StoreError> {
        let limits = self.setup.limits;
        self.check_size(bytes)?;
        let mut index = self.index();
        if let (Some(session), Some(most)) = (session, limits.session_bytes_limit()) {
            self.make_room_in_session(&mut index, session, bytes.saturating_add(held), most)?;
        }
        let total = limits.total_bytes();
        if index.used().saturating_add(bytes) > total {
            if index.is_worth_reading() {
                self.follow(&mut index)?;
            }
            let excess = |index: &Index| index.excess(bytes, total);
            let (mut victims, mut freed) = self.oldest(&index, excess(&index));
            if freed < excess(&index) {
                self.follow(&mut index)?;
                (victims, freed) = self.oldest(&index, excess(&index));
            }
            if freed < excess(&index) {
                return Err(index.no_room(bytes, total, freed));
            }
            for id in victims {
                let freed = self
                    .discard(&mut index, id, Some(Left::Evicted))
                    .map_err(|cause| self.folder.failed("could not make room", cause))?;
                tracing::debug!(%id, bytes = freed, "evicted an output to make room");
            }
        }
        index.reserve(bytes);
        Ok(Room {
            shared: Arc::clone(self),
            session: session.cloned(),
            bytes,
        })
    }

    /// Removes the oldest outputs of a session while it would be over its share. Its being live
    /// does not matter: it is its own that leave.
    fn make_room_in_session(
        &self,
        index: &mut Index,
        session: &SessionId,
        bytes: u64,
        most: u64,
    ) -> Result<(), StoreError> {
        let victims = index.over_share(session, bytes, most)?;
        for id in victims {
            self.discard(index, id, Some(Left::Evicted))
                .map_err(|cause| self.folder.failed("could not make room", cause))?;
        }
        Ok(())
    }

    /// Brings the index up to what the directory holds. Returns the names that are there.
    pub(crate) fn follow(&self, index: &mut Index) -> Result<Vec<String>, StoreError> {
        // Ahead of reading: what changes meanwhile is read once more.
        let changed = self.folder.changed();
        let names = self
            .folder
            .names()
            .map_err(|cause| self.folder.failed("could not be read", cause))?;
        let present: HashSet<Id> = names.iter().filter_map(|name| Id::parse(name)).collect();
        index.retain(&present);
        for id in present {
            if !index.contains(id)
                && let Some(entry) = self.load(id)
            {
                index.insert(id, entry);
            }
        }
        index.was_read(changed);
        Ok(names)
    }

    /// Brings the index up to what the directory holds, where that may be something else.
    pub(crate) fn catch_up(&self, index: &mut Index) -> Result<(), StoreError> {
        if !index.is_of(self.folder.changed()) {
            self.follow(index)?;
        }
        Ok(())
    }

    /// Whether an output has had its time. A pinned session's has not.
    pub(crate) fn has_expired(&self, entry: &Entry, now_us: u64) -> bool {
        self.setup.limits.has_expired(entry.created_us(), now_us) && !self.is_pinned(entry)
    }

    /// Removes an output. Returns how many bytes it had.
    ///
    /// Why it left is noted where somebody may ask for it yet.
    pub(crate) fn discard(
        &self,
        index: &mut Index,
        id: Id,
        left: Option<Left>,
    ) -> std::io::Result<u64> {
        let was_there = self.folder.remove(&id.to_string())?;
        if let Some(left) = left.filter(|_| was_there) {
            self.gone.note(id, left);
        }
        Ok(index.remove(id).map_or(0, |entry| entry.bytes()))
    }

    fn sweep_output(&self, index: &mut Index, id: Id, left: Option<Left>, swept: &mut Swept) {
        match self.discard(index, id, left) {
            Ok(bytes) => {
                swept.outputs += 1;
                swept.bytes += bytes;
            }
            Err(error) => {
                tracing::warn!(%id, %error, "could not remove an output");
                swept.failed += 1;
            }
        }
    }

    /// The oldest outputs of no pinned session that together have so many bytes, and how many
    /// they have.
    fn oldest(&self, index: &Index, bytes: u64) -> (Vec<Id>, u64) {
        index.oldest(bytes, |entry| !self.is_pinned(entry))
    }

    fn is_pinned(&self, entry: &Entry) -> bool {
        entry
            .session()
            .is_some_and(|session| self.pins.holds(session))
    }

    /// What is under a name that an output has. `None` for what is no file and never was one of
    /// this store's, a symbolic link say.
    fn load(&self, id: Id) -> Option<Entry> {
        let mut file = match self.folder.read(&id.to_string()) {
            Ok(file) => file?,
            Err(error) => {
                tracing::warn!(%id, %error, "passed over a file with the name of an output");
                return None;
            }
        };
        match Record::read(&mut file, id) {
            Ok(record) => Some(Entry::Whole(record)),
            Err(error) => {
                let error: &dyn std::error::Error = &error;
                tracing::warn!(%id, error, "an output is damaged");
                let metadata = file.metadata().ok()?;
                Some(Entry::Damaged {
                    created_us: metadata.modified().map_or(0, micros),
                    bytes: metadata.len(),
                })
            }
        }
    }
}

impl Room {
    /// The bytes that are promised.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Promises more.
    pub(crate) fn grow(&mut self, bytes: u64) -> Result<(), StoreError> {
        let session = self.session.as_ref();
        let more = self.shared.make_more_room(bytes, self.bytes, session)?;
        self.bytes += more.keep();
        Ok(())
    }

    /// Hands the promised bytes to whoever counts them from now on.
    pub(crate) fn keep(mut self) -> u64 {
        std::mem::take(&mut self.bytes)
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        if self.bytes > 0 {
            self.shared.index().release(self.bytes);
        }
    }
}
