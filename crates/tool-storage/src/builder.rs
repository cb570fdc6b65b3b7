//! How a directory store is set up.

use std::path::PathBuf;
use std::time::SystemTime;

use tool_core::StoreError;

use crate::clock::Clock;
use crate::dir_store::DirStore;
use crate::faults::Faults;
use crate::limits::Limits;
use crate::marker::ReadingHint;

/// Sets a [`DirStore`] up.
#[derive(Clone, Debug)]
#[must_use]
pub struct DirStoreBuilder {
    pub(crate) root: PathBuf,
    pub(crate) limits: Limits,
    pub(crate) hint: ReadingHint,
    pub(crate) durability: Durability,
    pub(crate) clock: Clock,
    pub(crate) faults: Faults,
}

/// What a retained output survives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Durability {
    /// The end of the process, however it comes. The default.
    ///
    /// After a power cut the last outputs may be missing or damaged; damaged ones are told by
    /// their records, never read as if they were whole.
    #[default]
    Process,
    /// A power cut too: the file and its name are synced before an output is reported as retained.
    /// That blocks the thread for as long as the disk takes.
    Power,
}

impl DirStoreBuilder {
    pub(crate) fn new(root: PathBuf) -> Self {
        Self {
            root,
            limits: Limits::DEFAULT,
            hint: ReadingHint::default(),
            durability: Durability::default(),
            clock: Clock::default(),
            faults: Faults::default(),
        }
    }

    /// Sets how much is kept and for how long. Defaults to [`Limits::DEFAULT`].
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets what markers say about reading on. Defaults to [`ReadingHint::default`].
    pub fn reading_hint(mut self, hint: ReadingHint) -> Self {
        self.hint = hint;
        self
    }

    /// Sets what outputs survive. Defaults to [`Durability::Process`].
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// Sets where the time comes from. Defaults to [`SystemTime::now`].
    pub fn clock(mut self, now: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        self.clock = Clock::new(now);
        self
    }

    /// Opens the store, and creates its directory (mode 0700) where it is missing.
    ///
    /// What a crash left unfinished, what has expired and what is over the quota is removed first.
    /// Reads the record of every output once, blocking the thread; in async code it belongs ahead
    /// of serving or on a thread for blocking work.
    ///
    /// # Errors
    /// [`StoreErrorKind::Io`](tool_core::StoreErrorKind::Io) when the directory is a symbolic
    /// link or no directory, when others may enter it and it is not empty (an empty one is made
    /// private), or when it cannot be created or read.
    pub fn open(self) -> Result<DirStore, StoreError> {
        DirStore::open(self)
    }
}
