//! What the store holds, in memory.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Bound;
use std::time::SystemTime;

use tool_core::{SessionId, StoreError, StoreErrorKind};

use crate::id::Id;
use crate::record::Record;

/// The outputs by id and by age, and what they weigh, so that neither storing nor evicting reads
/// the directory. The directory is the truth; this follows it.
#[derive(Debug, Default)]
pub(crate) struct Index {
    entries: HashMap<Id, Entry>,
    by_age: BTreeSet<(u64, Id)>,
    by_session: HashMap<SessionId, u64>,
    stored: u64,
    /// Outputs that came since the directory was read last.
    since_read: usize,
    /// When the directory had changed last, as it was read last.
    read_as_of: Option<SystemTime>,
    /// Bytes that are promised to outputs on their way in.
    reserved: u64,
}

/// An output, or a file with the name of one that does not read.
#[derive(Debug)]
pub(crate) enum Entry {
    Whole(Record),
    Damaged { created_us: u64, bytes: u64 },
}

impl Entry {
    pub(crate) fn created_us(&self) -> u64 {
        match self {
            Self::Whole(record) => record.created_us,
            Self::Damaged { created_us, .. } => *created_us,
        }
    }

    pub(crate) fn bytes(&self) -> u64 {
        match self {
            Self::Whole(record) => record.bytes,
            Self::Damaged { bytes, .. } => *bytes,
        }
    }

    /// Whether it is the output of that digest. One that does not read may be any.
    pub(crate) fn has_digest(&self, digest: &str) -> bool {
        match self {
            Self::Whole(record) => record.digest == digest,
            Self::Damaged { .. } => true,
        }
    }

    pub(crate) fn session(&self) -> Option<&SessionId> {
        match self {
            Self::Whole(record) => record.session.as_ref(),
            Self::Damaged { .. } => None,
        }
    }
}

impl Index {
    pub(crate) fn contains(&self, id: Id) -> bool {
        self.entries.contains_key(&id)
    }

    pub(crate) fn get(&self, id: Id) -> Option<&Entry> {
        self.entries.get(&id)
    }

    pub(crate) fn insert(&mut self, id: Id, entry: Entry) {
        self.remove(id);
        self.since_read += 1;
        self.by_age.insert((entry.created_us(), id));
        self.stored += entry.bytes();
        if let Some(session) = entry.session() {
            *self.by_session.entry(session.clone()).or_default() += entry.bytes();
        }
        self.entries.insert(id, entry);
    }

    pub(crate) fn remove(&mut self, id: Id) -> Option<Entry> {
        let entry = self.entries.remove(&id)?;
        self.by_age.remove(&(entry.created_us(), id));
        self.stored -= entry.bytes();
        if let Some(session) = entry.session()
            && let Some(held) = self.by_session.get_mut(session)
        {
            *held -= entry.bytes();
            if *held == 0 {
                self.by_session.remove(session);
            }
        }
        Some(entry)
    }

    /// Whether reading the directory again is worth what it costs. It costs as much as there are
    /// outputs, so it is paid for by as many that came.
    pub(crate) fn is_worth_reading(&self) -> bool {
        self.since_read >= (self.entries.len() / 8).max(8)
    }

    pub(crate) fn was_read(&mut self, as_of: Option<SystemTime>) {
        self.since_read = 0;
        self.read_as_of = as_of;
    }

    /// Whether the directory is known to be as it was when it was read.
    pub(crate) fn is_of(&self, changed: Option<SystemTime>) -> bool {
        changed.is_some() && self.read_as_of == changed
    }

    /// Forgets what is no longer there.
    pub(crate) fn retain(&mut self, present: &HashSet<Id>) {
        let gone: Vec<Id> = self
            .entries
            .keys()
            .filter(|id| !present.contains(id))
            .copied()
            .collect();
        for id in gone {
            self.remove(id);
        }
    }

    /// The bytes that a session has stored.
    pub(crate) fn of_session(&self, session: &SessionId) -> u64 {
        self.by_session.get(session).copied().unwrap_or_default()
    }

    pub(crate) fn reserve(&mut self, bytes: u64) {
        self.reserved += bytes;
    }

    pub(crate) fn release(&mut self, bytes: u64) {
        self.reserved -= bytes;
    }

    /// The bytes of all outputs, those on their way in among them.
    pub(crate) fn used(&self) -> u64 {
        self.stored.saturating_add(self.reserved)
    }

    /// The entries that are older than that one, the newest first; all of them without one.
    pub(crate) fn newest_first(
        &self,
        before: Option<(u64, Id)>,
    ) -> impl Iterator<Item = (Id, &Entry)> {
        let below = before.map_or(Bound::Unbounded, Bound::Excluded);
        self.by_age
            .range((Bound::Unbounded, below))
            .rev()
            .filter_map(|(_, id)| Some((*id, self.entries.get(id)?)))
    }

    /// The oldest outputs that may leave and together have so many bytes, and how many they have.
    pub(crate) fn oldest(&self, bytes: u64, may_leave: impl Fn(&Entry) -> bool) -> (Vec<Id>, u64) {
        let mut freed = 0;
        let mut victims = Vec::new();
        let mut outputs = self.oldest_first();
        while freed < bytes
            && let Some((id, entry)) = outputs.next()
        {
            if may_leave(entry) {
                freed += entry.bytes();
                victims.push(id);
            }
        }
        (victims, freed)
    }

    /// The oldest outputs of a session that leave so that so many bytes fit into its share.
    pub(crate) fn over_share(
        &self,
        session: &SessionId,
        bytes: u64,
        most: u64,
    ) -> Result<Vec<Id>, StoreError> {
        if bytes > most {
            return Err(too_large(format!(
                "output of {bytes} bytes is over the {most} bytes that a session may have"
            )));
        }
        let held = self.of_session(session).saturating_add(bytes);
        let of_session = |entry: &Entry| entry.session() == Some(session);
        Ok(self.oldest(held.saturating_sub(most), of_session).0)
    }

    /// How many bytes too many there are with so many more.
    pub(crate) fn excess(&self, bytes: u64, total: u64) -> u64 {
        self.used().saturating_add(bytes).saturating_sub(total)
    }

    /// An output for which no room can be made though so many bytes may leave.
    pub(crate) fn no_room(&self, bytes: u64, total: u64, freed: u64) -> StoreError {
        too_large(format!(
            "output of {bytes} bytes does not fit: {} of {total} bytes are taken by live sessions \
             and by outputs that are being written",
            self.used().saturating_sub(freed)
        ))
    }

    /// The entries, the oldest first.
    pub(crate) fn oldest_first(&self) -> impl Iterator<Item = (Id, &Entry)> {
        self.by_age
            .iter()
            .filter_map(|(_, id)| Some((*id, self.entries.get(id)?)))
    }
}

fn too_large(detail: String) -> StoreError {
    StoreError::new(StoreErrorKind::TooLarge, detail)
}
