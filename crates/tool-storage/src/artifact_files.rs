//! The files of an artifact store.

use std::collections::HashMap;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tool_core::{
    Artifact, ArtifactDraft, ArtifactError, ArtifactErrorKind, ArtifactMeta, ArtifactPage,
    ArtifactQuery, ArtifactRef, ArtifactScope, ByteStream, Facts, Kept,
};

use crate::artifact_draft::{check, invalid, mint};
use crate::artifact_forgotten::Forgotten;
use crate::artifact_intake::{Intake, take_in};
use crate::artifact_record::{ArtifactRecord, Shape, damaged, file_name};
use crate::artifact_room::{Entered, Locked, Room};
use crate::builder::Durability;
use crate::clock::{micros, time};
use crate::dir_artifacts::DirArtifactsBuilder;
use crate::folder::Folder;
use crate::footer::RecordError;
use crate::gauge::Hash;
use crate::shelf::{Row, Shelf};
use crate::staged::Staged;
use crate::store_file::StoreFile;
use crate::turn;

/// The directory of a store, a directory in it for each scope, and the rooms of those that are in
/// use.
pub(crate) struct ArtifactFiles {
    pub(crate) folder: Folder,
    pub(crate) setup: DirArtifactsBuilder,
    pub(crate) rooms: Mutex<HashMap<ArtifactScope, Arc<Mutex<Room>>>>,
    pub(crate) forgotten: Forgotten,
}

impl ArtifactFiles {
    /// Does something under the lock of a scope, which one thread waits for on behalf of all who do.
    /// `None` when the scope has nothing and is not to be created.
    pub(crate) async fn within<T>(
        &self,
        scope: &ArtifactScope,
        create: bool,
        work: impl FnOnce(&mut Room) -> io::Result<T>,
    ) -> Result<Option<T>, ArtifactError> {
        let mut visit = Visit::new(work);
        let deadline = Instant::now() + turn::PATIENCE;
        loop {
            match self.visit(scope, create, &mut visit)? {
                Visited::Left(done) => return Ok(done),
                // It is taken by whoever comes first then.
                Visited::Waits(room) if Instant::now() < deadline => {
                    let waited = match Room::watch(&room, deadline) {
                        Ok(waits) => waits.await,
                        Err(error) => Err(error),
                    };
                    self.waited(scope, waited)?;
                }
                Visited::Waits(_) => return Err(self.unchanged(turn::too_long())),
            }
        }
    }

    /// The same, where waiting may block.
    pub(crate) fn within_here<T>(
        &self,
        scope: &ArtifactScope,
        create: bool,
        work: impl FnOnce(&mut Room) -> io::Result<T>,
    ) -> Result<Option<T>, ArtifactError> {
        let mut visit = Visit::new(work);
        let deadline = Instant::now() + turn::PATIENCE;
        loop {
            match self.visit(scope, create, &mut visit)? {
                Visited::Left(done) => return Ok(done),
                Visited::Waits(room) => {
                    visit.taken = self.waited(scope, Room::wait(&room, deadline))?;
                }
            }
        }
    }

    /// Comes to the room of a scope, and waits for nobody.
    fn visit<T, W: FnOnce(&mut Room) -> io::Result<T>>(
        &self,
        scope: &ArtifactScope,
        create: bool,
        visit: &mut Visit<W>,
    ) -> Result<Visited<T>, ArtifactError> {
        for _ in 0..ATTEMPTS {
            let Some(room) = self.room(scope, create)? else {
                self.forgotten.leave(scope);
                return Ok(Visited::Left(None));
            };
            let (taken, work) = (visit.taken.take(), &mut visit.work);
            let entered = Room::enter(&room, taken, |room| {
                self.leave_out_forgotten(scope, room);
                let done = work.take().map(|work| work(room)).transpose();
                let left = room.leave_if_empty(&self.folder);
                Ok::<_, io::Error>((done?, left?))
            });
            match entered.map_err(|cause| self.unchanged(cause))? {
                Entered::Done(done) => {
                    let (done, has_left) = done.map_err(|cause| self.unchanged(cause))?;
                    if has_left {
                        self.rooms().remove(scope);
                    }
                    return Ok(Visited::Left(done));
                }
                Entered::Busy => return Ok(Visited::Waits(room)),
                // A sweep took the directory away in between.
                Entered::Gone => {
                    self.rooms().remove(scope);
                }
            }
        }
        let cause = io::Error::other("the directory of a scope was removed again and again");
        Err(self.unchanged(cause))
    }

    /// What was waited for; nothing where the directory was removed meanwhile.
    fn waited<T>(
        &self,
        scope: &ArtifactScope,
        waited: io::Result<T>,
    ) -> Result<Option<T>, ArtifactError> {
        match waited {
            Ok(waited) => Ok(Some(waited)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.rooms().remove(scope);
                Ok(None)
            }
            Err(cause) => Err(self.unchanged(cause)),
        }
    }

    fn unchanged(&self, cause: io::Error) -> ArtifactError {
        self.failed("could not be changed", cause)
    }

    fn room(
        &self,
        scope: &ArtifactScope,
        create: bool,
    ) -> Result<Option<Arc<Mutex<Room>>>, ArtifactError> {
        let mut rooms = self.rooms();
        if let Some(room) = rooms.get(scope) {
            return Ok(Some(Arc::clone(room)));
        }
        let opened = Room::open(&self.folder, scope, create);
        let opened = opened.map_err(|cause| self.failed("could not open a scope", cause))?;
        let Some(room) = opened else {
            return Ok(None);
        };
        if rooms.len() >= MOST_ROOMS {
            // They are read again when they are needed.
            rooms.clear();
        }
        let room = Arc::new(Mutex::new(room));
        rooms.insert(scope.clone(), Arc::clone(&room));
        Ok(Some(room))
    }

    /// Begins a file in the directory of a scope.
    fn stage(
        &self,
        scope: &ArtifactScope,
        name: &str,
        digest: bool,
    ) -> Result<Staged, ArtifactError> {
        for _ in 0..ATTEMPTS {
            let Some(room) = self.room(scope, true)? else {
                break;
            };
            let folder = {
                let room = room.lock().unwrap_or_else(PoisonError::into_inner);
                Arc::clone(&room.folder)
            };
            match Staged::create(&folder, name, Hash::digest_if(digest)) {
                Ok(staged) => return Ok(staged),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    self.rooms().remove(scope);
                }
                Err(cause) => return Err(self.failed("could not create an artifact", cause)),
            }
        }
        let cause = io::Error::other("the directory of a scope was removed again and again");
        Err(self.failed("could not create an artifact", cause))
    }

    pub(crate) async fn keep(
        &self,
        facts: &Facts,
        draft: ArtifactDraft,
        (shape, media_type): (Shape, &str),
        bytes: u64,
        stream: ByteStream<'_>,
    ) -> Result<Kept, ArtifactError> {
        let limits = &self.setup.limits;
        check(&draft, bytes, limits, self.setup.clock.now_us())?;
        let scope = ArtifactScope::of(facts);
        let reference = mint()?;
        let name = file_name(&reference);
        let mut staged = self.stage(&scope, &name, draft.digest)?;
        take_in(stream, bytes, &mut (self, &mut staged)).await?;

        // From here on nothing awaits but the lock: a dropped future has either shown nothing or is
        // done.
        let now_us = self.setup.clock.now_us();
        let end = limits.end(now_us, draft.expires.map(micros));
        let digest = staged.gauge().hash();
        let syncs = self.setup.durability == Durability::Power;
        let (files, scope) = (self, &scope);
        let kept = files.within(scope, true, move |room| {
            let swept = match room.shelf.plan(bytes, &draft.parents, limits, now_us) {
                Ok(swept) => swept,
                Err(refused) => return Ok(Err(refused)),
            };
            let created = time(room.shelf.next_created_us(now_us));
            let mut meta = ArtifactMeta::of_draft(draft, reference, media_type, bytes, created);
            meta.digest = digest;
            meta.expires = end.map(time);
            let record = ArtifactRecord::new(&meta, scope, shape).encode()?;
            staged.finish(&record, syncs)?;
            room.about_to_change()?;
            staged.publish()?;
            if syncs && let Err(error) = room.folder.sync().and_then(|()| files.folder.sync()) {
                room.folder.remove(&name)?;
                return Err(error);
            }
            room.shelf.insert(Row {
                meta: meta.clone(),
                used_us: micros(created),
                body: (),
            });
            let mut left = Vec::new();
            for gone in swept {
                match room.remove(&gone.reference) {
                    Ok(()) => left.push(gone),
                    Err(error) => tracing::warn!(%error, "could not remove an artifact"),
                }
            }
            Ok(Ok(Kept::new(meta, left)))
        });
        let kept = kept.await?;
        kept.unwrap_or_else(|| Err(invalid("an artifact has no scope")))
    }

    /// The file of an artifact that has not had its time, and what is known of it.
    pub(crate) fn open(
        &self,
        facts: &Facts,
        reference: &str,
    ) -> Result<Option<(StoreFile, ArtifactMeta, Shape)>, ArtifactError> {
        let Some(reference) = ArtifactRef::parse(reference) else {
            return Ok(None);
        };
        let scope = ArtifactScope::of(facts);
        if self.forgotten.holds(&scope, &reference) {
            return Ok(None);
        }
        let name = file_name(&reference);
        let failed = |cause| self.failed("could not read an artifact", cause);
        let Some(folder) = self.folder.child(&scope.key()).map_err(failed)? else {
            return Ok(None);
        };
        let Some(mut file) = folder.read(&name).map_err(failed)? else {
            return Ok(None);
        };
        let (meta, shape) = ArtifactRecord::read(&mut file, |it| file_name(it) == name, &scope)
            .map_err(|error| match error {
                RecordError::Read(cause) => failed(cause),
                damage => damaged(&reference).because(damage),
            })?;
        let now_us = self.setup.clock.now_us();
        let is_live = meta.expires.is_none_or(|at| micros(at) > now_us);
        Ok(is_live.then_some((file, meta, shape)))
    }

    pub(crate) fn read(
        &self,
        facts: &Facts,
        reference: &str,
    ) -> Result<Option<Artifact>, ArtifactError> {
        let Some((mut file, meta, shape)) = self.open(facts, reference)? else {
            return Ok(None);
        };
        let failed = |cause| self.failed("could not read an artifact", cause);
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(0)).map_err(failed)?;
        file.by_ref()
            .take(meta.bytes)
            .read_to_end(&mut bytes)
            .map_err(failed)?;
        let payload = shape.payload(bytes.into(), &meta)?;
        self.touch(facts, &meta.reference, &file);
        Ok(Some(Artifact::new(meta.kind, payload)))
    }

    /// Takes note that an artifact was got, so that it leaves later than others.
    pub(crate) fn touch(&self, facts: &Facts, reference: &ArtifactRef, file: &StoreFile) {
        let now_us = self.setup.clock.now_us();
        if let Err(error) = file.set_modified(time(now_us)) {
            tracing::debug!(%error, "could not take note that an artifact was got");
        }
        let room = self.rooms().get(&ArtifactScope::of(facts)).cloned();
        if let Some(room) = room {
            let mut room = room.lock().unwrap_or_else(PoisonError::into_inner);
            room.shelf.touch(reference, now_us);
        }
    }

    pub(crate) async fn page(
        &self,
        facts: &Facts,
        query: &ArtifactQuery,
    ) -> Result<ArtifactPage, ArtifactError> {
        let now_us = self.setup.clock.now_us();
        let scope = ArtifactScope::of(facts);
        let page = self.within(&scope, false, |room| Ok(room.shelf.page(query, now_us)));
        let page = page.await?;
        // A cursor that is none is refused here too.
        page.unwrap_or_else(|| Shelf::<()>::default().page(query, now_us))
    }

    pub(crate) async fn drop_one(
        &self,
        facts: &Facts,
        reference: &str,
    ) -> Result<(), ArtifactError> {
        let Some(reference) = ArtifactRef::parse(reference) else {
            return Ok(());
        };
        let scope = ArtifactScope::of(facts);
        let dropped = self.within(&scope, false, |room| room.remove(&reference));
        dropped.await.map(|_| ())
    }

    fn rooms(&self) -> MutexGuard<'_, HashMap<ArtifactScope, Arc<Mutex<Room>>>> {
        self.rooms.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn failed(&self, what: &str, cause: io::Error) -> ArtifactError {
        let detail = format!("artifact store {} {what}", self.folder.root().display());
        ArtifactError::of(ArtifactErrorKind::Io, detail).because(cause)
    }
}

/// Somebody who has something to do in a room, and may have taken its lock already.
struct Visit<W> {
    work: Option<W>,
    taken: Option<Locked>,
}

/// What came of a visit.
enum Visited<T> {
    Left(Option<T>),
    /// Another has the lock of this room.
    Waits(Arc<Mutex<Room>>),
}

impl<W> Visit<W> {
    fn new(work: W) -> Self {
        Self {
            work: Some(work),
            taken: None,
        }
    }
}

impl Intake for (&ArtifactFiles, &mut Staged) {
    fn bytes(&self) -> u64 {
        self.1.bytes()
    }

    async fn write(&mut self, piece: &[u8]) -> Result<(), ArtifactError> {
        let (files, staged) = self;
        let written = staged.write(piece).await;
        written.map_err(|cause| files.failed("could not write an artifact", cause))
    }
}

/// How many scopes are remembered between two uses.
const MOST_ROOMS: usize = 256;
const ATTEMPTS: usize = 8;
