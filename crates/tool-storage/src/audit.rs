//! One line for each call, for whoever has to answer for them.

mod check;
mod draft;
mod files;
mod folded;
mod folder_id;
mod index;
mod ledger;
mod line;
mod measure;
mod names;
mod note;
mod options;
mod scribe;
mod segment;
mod segments;
mod survey;
mod writer;

pub use check::{AuditCheck, AuditFinding};
pub use files::AuditFiles;
pub use index::AuditIndex;
pub use options::{AuditFailure, AuditOptions};
pub use segment::{AuditSegment, AuditSegmentState};

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use foldhash::HashMap;
use tool_core::{
    BeforeHook, BoxFuture, Event, EventKind, EventSink, Facts, HookError, Incoming, Stage,
    StoreError,
};

use self::draft::Draft;
use self::writer::Writer;
use crate::faults::Faults;
use crate::folder::Folder;

/// The audit log: one JSON object on one line for each call, also for one that was refused, that
/// waits, that was cancelled or dropped.
///
/// A line holds when (`time_ms`, in milliseconds since 1970-01-01 UTC) and by whom the tool of which server was called, digests of its definition and
/// of the arguments, what policy decided by which rule, what was asked, who answered what (`by`; `client` is the principal's own client), the
/// outcome, sizes, and the ids of retained output. It holds neither arguments nor results. All of it
/// is ASCII, with everything else escaped, so that no name or text can begin a line of its own or act
/// on a terminal.
///
/// `seq` counts the lines of one log from 1, over all its files. Lines that could not be written
/// leave a gap, and the next that can be written says in `lost` how many there were.
///
/// Files are private from creation. Each process writes files of its own, so that several may share
/// a folder; a full one is followed by the next, and the oldest of all go. Clones write to one log.
/// Writing happens on a thread of its own, some milliseconds after a call has ended, and dropping the
/// last clone waits for it. A process that is killed by force loses the lines of these milliseconds.
/// Lines are not forced to the disk: a machine that loses its power loses what its system had not
/// written yet.
/// No event waits for the disk. As a hook, a call waits only where lines could not be written and
/// calls are refused then: one finds out whether they can be again, for 100 ms at the most, and is
/// refused where there is no answer; until there is one, all others are refused at once. It waits on
/// the thread that runs it, so that a runtime of one worker stands still meanwhile, once for every
/// question that the disk leaves open.
///
/// An [`AuditIndex`] tells all gateways of one state which files there are, and whether any was
/// changed or is gone.
///
/// Give it to a registry as its [`EventSink`], and as a [`BeforeHook`] as well where calls are to be
/// refused while nothing can be written ([`AuditFailure::Refuse`]).
#[derive(Clone)]
pub struct AuditLog(Arc<Inner>);

struct Inner {
    /// By the numbers of their calls, which nobody chooses.
    drafts: Mutex<HashMap<u64, Draft>>,
    writer: Writer,
    failure: AuditFailure,
    files: AuditFiles,
}

/// What a model reads of a call that is refused as it could not be put on record.
const REFUSED: &str = "calls cannot be put on record now; nothing is run until they can";

impl AuditLog {
    /// Opens a log in a folder, and creates it where it is missing. It blocks.
    ///
    /// # Errors
    /// [`StoreError`] when the folder cannot be opened or the first file cannot be created.
    pub fn open(folder: impl AsRef<Path>, options: AuditOptions) -> Result<Self, StoreError> {
        Self::open_with(folder.as_ref(), Faults::default(), options)
    }

    pub(crate) fn open_with(
        folder: &Path,
        faults: Faults,
        options: AuditOptions,
    ) -> Result<Self, StoreError> {
        let folder = Arc::new(Folder::open(folder, faults)?);
        let (failure, changed) = (options.failure, Arc::default());
        Ok(Self(Arc::new(Inner {
            drafts: Mutex::default(),
            writer: Writer::start(&folder, options, Arc::clone(&changed))?,
            failure,
            files: AuditFiles { folder, changed },
        })))
    }

    /// Waits until everything that was told so far is written, as far as it can be. It blocks.
    pub fn flush(&self) {
        self.0.writer.flush();
    }

    /// The files of this log, for an [`AuditIndex`] to follow.
    #[must_use]
    pub fn files(&self) -> AuditFiles {
        self.0.files.clone()
    }

    /// Ends the file that is written, once everything that was told so far is in it, so that an
    /// index can be told what it has become. The next line begins another. Dropping the last clone
    /// does the same.
    ///
    /// # Cancel safety
    /// Dropping the future ends the file all the same.
    pub async fn end_file(&self) {
        self.0.writer.end_file().await;
    }

    /// Whether the last line could be written.
    #[must_use]
    pub fn is_writing(&self) -> bool {
        self.0.writer.is_writing()
    }

    /// How many lines could not be written.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.0.writer.lost()
    }
}

impl EventSink for AuditLog {
    fn emit(&self, event: &Event<'_>) {
        let last = matches!(event.kind, EventKind::Settled(_) | EventKind::Dropped);
        let Some(number) = event.number else {
            // Cleanups are no calls; a call that was never started has this event alone.
            if last {
                let now = SystemTime::now();
                let mut draft = Draft::begin(now);
                draft.take(event);
                self.0.writer.write(draft.finish(event, now));
            }
            return;
        };
        // From there on whatever comes last tells the name of the tool as well.
        if let EventKind::Stage(stage) = event.kind
            && !matches!(stage, Stage::Before | Stage::Resolve)
        {
            return;
        }
        let finished = {
            let drafts = self.0.drafts.lock();
            let mut drafts = drafts.unwrap_or_else(PoisonError::into_inner);
            let begin = || Draft::begin(SystemTime::now());
            let draft = drafts.entry(number).or_insert_with(begin);
            draft.take(event);
            last.then(|| drafts.remove(&number)).flatten()
        };
        if let Some(draft) = finished {
            self.0.writer.write(draft.finish(event, SystemTime::now()));
        }
    }
}

impl BeforeHook for AuditLog {
    fn before<'a>(
        &'a self,
        _: &'a mut Incoming,
        _: &'a Facts,
    ) -> BoxFuture<'a, Result<(), HookError>> {
        let refused = self.0.failure == AuditFailure::Refuse && !self.0.writer.retry();
        Box::pin(std::future::ready(if refused {
            Err(HookError::rejected(REFUSED))
        } else {
            Ok(())
        }))
    }
}

impl fmt::Debug for AuditLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuditLog")
            .field("failure", &self.0.failure)
            .field("lost", &self.lost())
            .finish_non_exhaustive()
    }
}

/// What nobody else has.
fn random() -> std::io::Result<u64> {
    let mut random = [0; 8];
    getrandom::fill(&mut random).map_err(std::io::Error::other)?;
    Ok(u64::from_be_bytes(random))
}
