//! Artifacts in a local directory.

use std::fmt;
use std::io::{self, Seek as _, SeekFrom};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use tool_core::{
    Artifact, ArtifactDraft, ArtifactError, ArtifactErrorKind, ArtifactMeta, ArtifactPage,
    ArtifactQuery, ArtifactRef, ArtifactScope, ArtifactStore, BoxFuture, ByteStream, Facts, Kept,
    Payload, StreamingArtifacts, SweepReason, SweptArtifact,
};

use crate::artifact_draft::check_payload;
use crate::artifact_files::ArtifactFiles;
use crate::artifact_forgotten::Forgotten;
use crate::artifact_limits::ArtifactLimits;
use crate::artifact_record::{Shape, is_file_name};
use crate::artifact_room::Room;
use crate::builder::Durability;
use crate::clock::Clock;
use crate::faults::Faults;
use crate::folder::Folder;
use crate::pieces::{OfBytes, OfFile};

/// An [`ArtifactStore`] in a local directory, which several processes may share. Clones are the
/// same store.
///
/// # What is stored
/// A directory for each scope, a file for each artifact: the bytes, then the record. Names are
/// digests; neither a session nor a reference can be read off them. A file is written aside, under
/// a lock, and renamed when it is whole, so that what is seen is whole. Modes and symbolic links
/// are as with [`DirStore`](crate::DirStore).
///
/// # Limits
/// [`ArtifactLimits`] hold for each scope, across processes: parents are proven, room is made and
/// the file is shown under the lock of the scope. What was got the longest ago leaves first, as far
/// as file times tell. What has had its time is not read any more; it leaves with the next put into
/// its scope that finds it, or the next [sweep](Self::sweep).
///
/// # Blocking
/// As [`DirStore`](crate::DirStore) it works on the calling thread and pauses after each 128 KiB.
/// The lock of a scope, which nobody holds while bytes come in, is waited for on a thread of its own
/// by the futures, and for ten seconds at the most.
#[derive(Clone)]
pub struct DirArtifacts {
    pub(crate) shared: Arc<ArtifactFiles>,
}

/// Sets a [`DirArtifacts`] up.
#[derive(Clone, Debug)]
#[must_use]
pub struct DirArtifactsBuilder {
    root: PathBuf,
    pub(crate) limits: ArtifactLimits,
    pub(crate) durability: Durability,
    pub(crate) clock: Clock,
    pub(crate) faults: Faults,
}

impl DirArtifactsBuilder {
    /// Sets how much is kept and for how long. Defaults to [`ArtifactLimits::DISK`].
    pub fn limits(mut self, limits: ArtifactLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets what artifacts survive. Defaults to [`Durability::Process`].
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// Sets where the time comes from. Defaults to [`SystemTime::now`].
    pub fn clock(mut self, now: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        self.clock = Clock::new(now);
        self
    }

    /// Opens the store, and creates its directory (mode 0700) where it is missing. What crashes
    /// left and what has had its time is removed first. It blocks.
    ///
    /// # Errors
    /// [`ArtifactErrorKind::Io`] when the directory cannot be used.
    pub fn open(self) -> Result<DirArtifacts, ArtifactError> {
        let folder = Folder::open(&self.root, self.faults.clone()).map_err(|error| {
            ArtifactError::of(ArtifactErrorKind::Io, "artifact store could not be opened")
                .because(error)
        })?;
        let store = DirArtifacts {
            shared: Arc::new(ArtifactFiles {
                folder,
                setup: self,
                rooms: Mutex::default(),
                forgotten: Forgotten::default(),
            }),
        };
        store.sweep()?;
        Ok(store)
    }
}

impl DirArtifacts {
    /// A store in that directory, to be set up.
    pub fn builder(root: impl Into<PathBuf>) -> DirArtifactsBuilder {
        DirArtifactsBuilder {
            root: root.into(),
            limits: ArtifactLimits::DISK,
            durability: Durability::default(),
            clock: Clock::default(),
            faults: Faults::default(),
        }
    }

    /// Removes what has had its time, and what dead processes left unfinished. A host calls this
    /// once an hour. It blocks.
    ///
    /// A scope that cannot be read or written is passed over and traced as a warning, and so is
    /// what has the name of a scope and is none.
    ///
    /// # Errors
    /// [`ArtifactErrorKind::Io`] when the directory cannot be read.
    pub fn sweep(&self) -> Result<Vec<SweptArtifact>, ArtifactError> {
        let shared = &*self.shared;
        let names = shared.folder.names();
        let mut names = names.map_err(|cause| shared.failed("could not be read", cause))?;
        // Of a scope whose directory another took away nothing is left to be remembered.
        names.extend(shared.forgotten.keys());
        names.sort_unstable();
        names.dedup();
        let mut swept = Vec::new();
        for key in names.iter().filter(|name| is_file_name(name)) {
            let Some(scope) = ArtifactScope::from_key(key) else {
                continue;
            };
            let now_us = shared.setup.clock.now_us();
            let done = shared.within_here(&scope, false, |room| {
                for reference in room.shelf.expired(now_us) {
                    swept.extend(room.shelf.swept(&reference, SweepReason::Expired));
                    room.remove(&reference)?;
                }
                // Of a damaged one nothing is known but when it was written.
                for (name, modified_us) in std::mem::take(&mut room.damaged) {
                    if shared
                        .setup
                        .limits
                        .end(modified_us, None)
                        .is_some_and(|at| at <= now_us)
                    {
                        room.about_to_change()?;
                        room.folder.remove(&name)?;
                    }
                }
                Ok(())
            });
            if let Err(error) = done {
                let error: &dyn std::error::Error = &error;
                tracing::warn!(error, "could not sweep the artifacts of a scope");
            }
        }
        Ok(swept)
    }

    /// Removes all artifacts of a caller whose session has ended, or whose run where it has no
    /// session. Returns how many they were. A caller with neither has nothing that ends.
    ///
    /// # Errors
    /// [`ArtifactErrorKind::Io`] when the directory cannot be read or written.
    pub fn remove_all(&self, facts: &Facts) -> Result<usize, ArtifactError> {
        if facts.session_id().is_none() && facts.run_id().is_none() {
            return Ok(0);
        }
        let scope = ArtifactScope::of(facts);
        let removed = self.shared.within_here(&scope, false, remove_all)?;
        Ok(removed.unwrap_or_default())
    }

    /// The same, which waits for other processes on a thread of its own.
    pub(crate) async fn remove_all_aside(&self, facts: &Facts) -> Result<usize, ArtifactError> {
        if facts.session_id().is_none() && facts.run_id().is_none() {
            return Ok(0);
        }
        let scope = ArtifactScope::of(facts);
        let removed = self.shared.within(&scope, false, remove_all).await?;
        Ok(removed.unwrap_or_default())
    }
}

fn remove_all(room: &mut Room) -> io::Result<usize> {
    let references: Vec<ArtifactRef> = room.shelf.references().cloned().collect();
    for reference in &references {
        room.remove(reference)?;
    }
    Ok(references.len())
}

impl ArtifactStore for DirArtifacts {
    fn get<'a>(
        &'a self,
        facts: &'a Facts,
        reference: &'a str,
    ) -> BoxFuture<'a, Result<Option<Artifact>, ArtifactError>> {
        Box::pin(async move { self.shared.read(facts, reference) })
    }

    fn head<'a>(
        &'a self,
        facts: &'a Facts,
        reference: &'a str,
    ) -> BoxFuture<'a, Result<Option<ArtifactMeta>, ArtifactError>> {
        Box::pin(async move {
            let found = self.shared.open(facts, reference)?;
            Ok(found.map(|(_, meta, _)| meta))
        })
    }

    fn put<'a>(
        &'a self,
        facts: &'a Facts,
        draft: ArtifactDraft,
        payload: Payload,
    ) -> BoxFuture<'a, Result<Kept, ArtifactError>> {
        Box::pin(async move {
            check_payload(&payload)?;
            let shape = (Shape::of(&payload), payload.media_type());
            let bytes = payload.to_bytes();
            let len = bytes.len() as u64;
            let stream: ByteStream<'_> = Box::pin(OfBytes(bytes));
            self.shared.keep(facts, draft, shape, len, stream).await
        })
    }

    fn delete<'a>(
        &'a self,
        facts: &'a Facts,
        reference: &'a str,
    ) -> BoxFuture<'a, Result<(), ArtifactError>> {
        Box::pin(self.shared.drop_one(facts, reference))
    }

    /// The file is removed at once. Other processes may list the artifact until this one comes to
    /// its scope again, at the latest with the next [sweep](Self::sweep), or, if it ends before that,
    /// until anybody changes the scope. A file that cannot be removed is not read here any more, and
    /// is tried again whenever this process comes to its scope.
    fn forget(&self, facts: &Facts, reference: &str) {
        self.shared.forget(facts, reference);
    }

    fn list<'a>(
        &'a self,
        facts: &'a Facts,
        query: ArtifactQuery,
    ) -> BoxFuture<'a, Result<ArtifactPage, ArtifactError>> {
        Box::pin(async move { self.shared.page(facts, &query).await })
    }

    fn streams(&self) -> Option<&dyn StreamingArtifacts> {
        Some(self)
    }
}

impl StreamingArtifacts for DirArtifacts {
    fn put_stream<'a>(
        &'a self,
        facts: &'a Facts,
        draft: ArtifactDraft,
        bytes: u64,
        stream: ByteStream<'a>,
    ) -> BoxFuture<'a, Result<Kept, ArtifactError>> {
        let shape = (Shape::Binary, "application/octet-stream");
        Box::pin(self.shared.keep(facts, draft, shape, bytes, stream))
    }

    fn get_stream<'a>(
        &'a self,
        facts: &'a Facts,
        reference: &'a str,
    ) -> BoxFuture<'a, Result<Option<(ArtifactMeta, ByteStream<'static>)>, ArtifactError>> {
        Box::pin(async move {
            let Some((mut file, meta, _)) = self.shared.open(facts, reference)? else {
                return Ok(None);
            };
            file.seek(SeekFrom::Start(0))
                .map_err(|cause| self.shared.failed("could not read an artifact", cause))?;
            self.shared.touch(facts, &meta.reference, &file);
            let stream = OfFile::stream(file, meta.bytes);
            Ok(Some((meta, stream)))
        })
    }
}

impl fmt::Debug for DirArtifacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DirArtifacts")
            .field("root", &self.shared.setup.root)
            .field("limits", &self.shared.setup.limits)
            .finish_non_exhaustive()
    }
}
