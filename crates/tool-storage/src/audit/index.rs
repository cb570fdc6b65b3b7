//! Which files audit logs have, for all gateways of one state.

use std::fmt;
use std::sync::Arc;

use tool_core::{ErrorChain, State, StateReading, StateVersion, StoreError, StoreErrorKind};

use super::AuditLog;
use super::check::{AuditCheck, check};
use super::files::AuditFiles;
use super::folder_id::own_folder_id;
use super::ledger::Ledger;
use super::segment::AuditSegment;
use super::survey::Survey;
use crate::aside::aside;

/// Which files the audit logs of all gateways with one [`State`] have, and what was in them.
///
/// Lines are written to files of the gateway's own and to nothing else; the index follows them. It
/// knows of each file by what gateway, when it was begun, and from its end on how many lines it has,
/// of when, and the digest of its content. Entries of one gateway are chained, each by the seal of
/// the one before, so that a file or an entry that was changed or is gone is
/// [seen](Self::check). An entry leaves with its file, when that makes room.
///
/// That shows accidents, and changes by whoever can write the files and not the state, or does not
/// know how both are kept. It is no proof: seals have no key, so that who can write the state can
/// make them anew, or take out all that there is of a folder; and who can write into a folder can
/// leave a note that a file was removed to make room. Keep a copy of [`list`](Self::list) where
/// neither reaches, if that is to be seen.
///
/// Entries are numbered, and two gateways never have the same number: the index is one value, which
/// is written under the condition that nobody was faster.
///
/// ```
/// use std::sync::Arc;
///
/// use tool_core::{Event, EventKind, EventSink as _, Facts};
/// use tool_storage::{AuditIndex, AuditLog, AuditOptions, AuditSegmentState, DirState};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir()?;
/// let index = AuditIndex::kept_in(Arc::new(DirState::open(dir.path().join("state"))?));
/// let log = AuditLog::open(dir.path().join("audit"), AuditOptions::DEFAULT)?;
/// log.emit(&Event::new(None, "tool", &Facts::new(), EventKind::Dropped));
/// log.end_file().await;
/// index.catch_up(&log.files()).await?;
/// let listed = index.list().await?;
/// assert_eq!((listed[0].state, listed[0].lines), (AuditSegmentState::Closed, Some(1)));
/// assert!(index.check(&log.files()).await?.iter().all(|it| !it.finding.is_problem()));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct AuditIndex(Arc<dyn State>);

/// The key of the index, of which there is one in a state.
const KEY: &str = "audit/index";
/// How often others may be faster before it is left to the next time.
const ATTEMPTS: usize = 100;

impl AuditIndex {
    /// The index that is kept in a state.
    #[must_use]
    pub fn kept_in(state: Arc<dyn State>) -> Self {
        Self(state)
    }

    /// The files of all gateways, in the order in which they were entered.
    ///
    /// # Errors
    /// [`StoreError`] when the state cannot be read, or holds an index of a later version.
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing.
    pub async fn list(&self) -> Result<Vec<AuditSegment>, StoreError> {
        let (ledger, _) = self.read().await?;
        Ok(ledger.entries().iter().map(AuditSegment::from).collect())
    }

    /// Brings the index up to what the files of a log are: those that are new, those that were
    /// closed, those whose writer was killed, which are closed with what is there, and those that
    /// were removed to make room. What cannot be told now is told the next time.
    ///
    /// The disk is worked on by a thread of its own; no call waits for any of it.
    ///
    /// # Errors
    /// [`StoreError`] when the files or the state cannot be read or written. Nothing is lost then.
    ///
    /// # Cancel safety
    /// Dropping the future leaves the rest to the next time.
    pub async fn catch_up(&self, files: &AuditFiles) -> Result<(), StoreError> {
        let failed = |cause| files.folder.failed("could not be indexed", cause);
        let folder = Arc::clone(&files.folder);
        // First, as from then on notes are left for whenever the state can be reached.
        let id = aside(move || own_folder_id(&folder)).await;
        let id = id.and_then(|id| id).map_err(failed)?;
        for _ in 0..ATTEMPTS {
            let (ledger, version) = self.read().await?;
            let (folder, id) = (Arc::clone(&files.folder), id.clone());
            let surveyed = aside(move || (Survey::of(&folder, id, &ledger), ledger)).await;
            let (survey, mut ledger) = surveyed.map_err(failed)?;
            let survey = survey.map_err(failed)?;
            let is_news = ledger.take(&survey.folder, &survey.found);
            // A file that was removed is no news where the index never had it. Another may be about
            // to enter it who looked before: that one is not to be the first to write, looks again,
            // and does not find it.
            let is_due = is_news || survey.has_removed();
            if !is_due || self.write(&ledger, version.as_ref()).await? {
                if survey.noted.is_empty() {
                    return Ok(());
                }
                let folder = Arc::clone(&files.folder);
                let told = aside(move || survey.told(&folder)).await;
                return told.and_then(|told| told).map_err(failed);
            }
            // Another gateway was faster, and may have removed files that were there.
        }
        Err(unusable("is changed by others all the time"))
    }

    /// Catches up now and whenever something has changed, for ever. What cannot be told is said once
    /// in the logs, and tried again with the next change, or when the files are to be
    /// [looked at again](AuditFiles::look_again).
    ///
    /// # Cancel safety
    /// Dropping the future ends it, and leaves the rest to the next time.
    pub async fn follow(&self, files: &AuditFiles) {
        let mut is_behind = false;
        loop {
            let caught_up = self.catch_up(files).await;
            match &caught_up {
                Ok(()) if is_behind => tracing::warn!("the index of audit logs has caught up"),
                Ok(()) => {}
                Err(error) if !is_behind => behind(error),
                Err(error) => tracing::debug!(%error, "the index of audit logs is yet behind"),
            }
            is_behind = caught_up.is_err();
            files.changed().await;
        }
    }

    /// Ends the file that a log writes and tells the index what it has become, as far as it can be
    /// told now. A host does so where it ends.
    ///
    /// # Cancel safety
    /// Dropping the future leaves the rest to the next start in the folder of the log.
    pub async fn finish(&self, log: &AuditLog) {
        log.end_file().await;
        if let Err(error) = self.catch_up(&log.files()).await {
            behind(&error);
        }
    }

    /// Holds the files of a log against the index, all entries of the index among them: what is as
    /// it was, what was changed, what is gone.
    ///
    /// # Errors
    /// [`StoreError`] when the files or the state cannot be read.
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing.
    pub async fn check(&self, files: &AuditFiles) -> Result<Vec<AuditCheck>, StoreError> {
        let failed = |cause| {
            let what = "could not be held against its index";
            files.folder.failed(what, cause)
        };
        let (mut ledger, mut version) = self.read().await?;
        loop {
            let folder = Arc::clone(&files.folder);
            let checked = aside(move || check(&folder, &ledger)).await;
            let checked = checked.and_then(|checked| checked).map_err(failed)?;
            if !checked.iter().any(|it| it.finding.is_problem()) {
                return Ok(checked);
            }
            // A gateway that runs may have removed a file and said so meanwhile.
            let before = version;
            (ledger, version) = self.read().await?;
            if version == before {
                return Ok(checked);
            }
        }
    }

    async fn read(&self) -> Result<(Ledger, Option<StateVersion>), StoreError> {
        let read = self.0.read(KEY, None).await;
        let read = read.map_err(|cause| unusable("could not be read").because(cause))?;
        Ok(match read {
            StateReading::Value(value, version) => {
                let ledger = Ledger::parse(&value);
                let ledger = ledger.ok_or_else(|| {
                    unusable("does not read; a later version of this program may have written it")
                })?;
                (ledger, Some(version))
            }
            StateReading::Absent | StateReading::Unchanged => (Ledger::new(), None),
        })
    }

    /// Whether it was written, and nobody was faster.
    async fn write(
        &self,
        ledger: &Ledger,
        version: Option<&StateVersion>,
    ) -> Result<bool, StoreError> {
        let failed = || unusable("could not be written");
        let bytes = ledger.to_bytes();
        let bytes = bytes.map_err(|cause| failed().because(cause))?;
        let written = self.0.write(KEY, version, &bytes).await;
        Ok(written.map_err(|cause| failed().because(cause))?.is_some())
    }
}

fn behind(error: &StoreError) {
    let error = ErrorChain::of(error);
    tracing::warn!(%error, "the index of audit logs is behind, and catches up later");
}

fn unusable(what: &str) -> StoreError {
    StoreError::new(
        StoreErrorKind::Io,
        format!("the index of audit logs {what}"),
    )
}

impl fmt::Debug for AuditIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AuditIndex(..)")
    }
}
