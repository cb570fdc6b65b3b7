//! Artifacts in a bucket.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use futures_util::TryStreamExt as _;
use object_store::{GetOptions, ObjectStore as _};
use tool_core::{
    Artifact, ArtifactDraft, ArtifactError, ArtifactErrorKind, ArtifactMeta, ArtifactPage,
    ArtifactQuery, ArtifactRef, ArtifactScope, ArtifactStore, BoxFuture, ByteStream, Facts, Kept,
    Payload, StreamingArtifacts, SweepReason, SweptArtifact,
};

use crate::artifact_draft::check_payload;
use crate::artifact_limits::ArtifactLimits;
use crate::artifact_record::{Shape, damaged};
use crate::bucket::abandoned::Undone;
use crate::bucket::room::{FOLDER, Room, folder, object, read, short_name};
use crate::bucket::tail::Tail;
use crate::bucket::{Bucket, Cause};
use crate::clock::{Clock, micros};
use crate::pieces::OfBytes;
use crate::shelf::Shelf;

/// An [`ArtifactStore`] in a [`Bucket`], which several gateways may share. Clones are the same
/// store.
///
/// # What is stored
/// An object for each artifact: the bytes, then the record. Names are digests; neither a session nor
/// a reference can be read off them. An object is seen when it is whole.
///
/// # Limits
/// [`ArtifactLimits`] hold for each scope. Puts of one process into a scope take turns; another
/// gateway's are seen when a parent is unknown, when room has to be made, and when it is listed from
/// the beginning, so that together they may exceed the limits until then. What was got the longest ago leaves first,
/// as far as this process knows, and after that the oldest. What has had its time is not read any
/// more; it leaves with the next put into its scope that finds it, or the next
/// [sweep](Self::sweep).
///
/// ```
/// use tool_core::{ArtifactDraft, ArtifactKind, ArtifactStore as _, Facts};
/// use tool_storage::{Bucket, BucketArtifacts};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let store = BucketArtifacts::new(Bucket::from_url("memory:///")?);
/// let facts = Facts::new().session("s1");
/// let draft = ArtifactDraft::new(ArtifactKind::new("note").ok_or("a blank kind")?);
/// let kept = store.put(&facts, draft, "text".into()).await?;
/// assert!(store.get(&facts, kept.meta.reference.as_str()).await?.is_some());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct BucketArtifacts {
    pub(crate) bucket: Bucket,
    pub(crate) limits: ArtifactLimits,
    pub(crate) clock: Clock,
    rooms: Arc<Mutex<HashMap<ArtifactScope, SharedRoom>>>,
}

type SharedRoom = Arc<tokio::sync::Mutex<Room>>;

impl BucketArtifacts {
    /// A store in that bucket with [`ArtifactLimits::DISK`]. Nothing is asked of it yet.
    #[must_use]
    pub fn new(bucket: Bucket) -> Self {
        Self {
            bucket,
            limits: ArtifactLimits::DISK,
            clock: Clock::default(),
            rooms: Arc::default(),
        }
    }

    /// Sets how much is kept and for how long. Call it before the store is used.
    #[must_use]
    pub fn limits(mut self, limits: ArtifactLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets where the time comes from. Defaults to [`SystemTime::now`].
    #[must_use]
    pub fn clock(mut self, now: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        self.clock = Clock::new(now);
        self
    }

    /// Removes what has had its time, and what dead processes left unfinished a day ago. A host
    /// calls this when it starts and once an hour.
    ///
    /// # Errors
    /// [`ArtifactErrorKind::Io`] when the bucket cannot be read or written.
    ///
    /// # Cancel safety
    /// Dropping the future leaves what is left to the next sweep.
    pub async fn sweep(&self) -> Result<Vec<SweptArtifact>, ArtifactError> {
        let failed = |cause| self.failed("could not be swept", cause);
        let now_us = self.clock.now_us();
        self.bucket.settle().await;
        self.bucket.sweep_uploads(now_us).await.map_err(failed)?;
        let listed = self.bucket.list(FOLDER).await.map_err(failed)?;
        let keys: BTreeSet<&str> = listed
            .iter()
            .filter_map(|it| it.name.split('/').next())
            .collect();
        let mut swept = Vec::new();
        for scope in keys.into_iter().filter_map(ArtifactScope::from_key) {
            let room = self.room(&scope);
            let mut room = room.lock().await;
            room.follow(&self.bucket).await.map_err(failed)?;
            for reference in room.shelf.expired(now_us) {
                swept.extend(room.shelf.swept(&reference, SweepReason::Expired));
                let removed = room.remove(&self.bucket, &reference).await;
                removed.map_err(failed)?;
            }
            // Of a damaged one nothing is known but when it was put.
            for (name, put_us) in std::mem::take(&mut room.damaged) {
                let end = self.limits.end(put_us, None);
                if end.is_some_and(|at| at <= now_us) {
                    let name = format!("{}/{name}", folder(&scope));
                    self.bucket.delete(&name).await.map_err(failed)?;
                }
            }
        }
        Ok(swept)
    }

    /// Removes all artifacts of a caller whose session has ended, or whose run where it has no
    /// session. Returns how many they were. A caller with neither has nothing that ends.
    ///
    /// # Errors
    /// [`ArtifactErrorKind::Io`] when the bucket cannot be read or written.
    ///
    /// # Cancel safety
    /// When the future is dropped some of them may be gone.
    pub async fn remove_all(&self, facts: &Facts) -> Result<usize, ArtifactError> {
        if facts.session_id().is_none() && facts.run_id().is_none() {
            return Ok(0);
        }
        let failed = |cause| self.failed("could not be changed", cause);
        let room = self.room(&ArtifactScope::of(facts));
        let mut room = room.lock().await;
        room.follow(&self.bucket).await.map_err(failed)?;
        let references: Vec<ArtifactRef> = room.shelf.references().cloned().collect();
        for reference in &references {
            let removed = room.remove(&self.bucket, reference).await;
            removed.map_err(failed)?;
        }
        Ok(references.len())
    }

    /// What is known of an artifact that is there and has not had its time.
    async fn known(
        &self,
        facts: &Facts,
        reference: &str,
    ) -> Result<Option<ArtifactMeta>, ArtifactError> {
        let Some((reference, scope, name)) = self.place(facts, reference) else {
            return Ok(None);
        };
        let failed = |cause| self.failed("could not read an artifact", cause);
        let Some(len) = self.bucket.len(&name).await.map_err(failed)? else {
            return Ok(None);
        };
        let tail = Tail::of(&self.bucket, &name, len).await.map_err(failed)?;
        Ok(match tail {
            None => None,
            Some(mut tail) => self
                .live(&mut tail, &reference, &scope)?
                .map(|(meta, _)| meta),
        })
    }

    async fn found(
        &self,
        facts: &Facts,
        reference: &str,
    ) -> Result<Option<Artifact>, ArtifactError> {
        let Some((reference, scope, name)) = self.place(facts, reference) else {
            return Ok(None);
        };
        let got = self.bucket.get(&name).await;
        let got = got.map_err(|cause| self.failed("could not read an artifact", cause))?;
        let Some(mut bytes) = got else {
            return Ok(None);
        };
        let mut tail = Tail::whole(bytes.clone());
        let Some((meta, shape)) = self.live(&mut tail, &reference, &scope)? else {
            return Ok(None);
        };
        bytes.truncate(usize::try_from(meta.bytes).unwrap_or(usize::MAX));
        let payload = shape.payload(bytes, &meta)?;
        self.touch(&scope, &reference).await;
        Ok(Some(Artifact::new(meta.kind, payload)))
    }

    async fn stream(
        &self,
        facts: &Facts,
        reference: &str,
    ) -> Result<Option<(ArtifactMeta, ByteStream<'static>)>, ArtifactError> {
        let Some(meta) = self.known(facts, reference).await? else {
            return Ok(None);
        };
        let scope = ArtifactScope::of(facts);
        let stream: ByteStream<'static> = if meta.bytes == 0 {
            Box::pin(OfBytes(bytes::Bytes::new()))
        } else {
            let path = self.bucket.path(&object(&scope, &meta.reference));
            let options = GetOptions::default().with_range(Some(0..meta.bytes));
            match self.bucket.objects().get_opts(&path, options).await {
                Ok(got) => Box::pin(got.into_stream().map_err(|error| Cause(error).into())),
                Err(object_store::Error::NotFound { .. }) => return Ok(None),
                Err(cause) => return Err(self.failed("could not read an artifact", cause)),
            }
        };
        self.touch(&scope, &meta.reference).await;
        Ok(Some((meta, stream)))
    }

    /// Where an artifact is, if it is one that is not to be removed.
    fn place(
        &self,
        facts: &Facts,
        reference: &str,
    ) -> Option<(ArtifactRef, ArtifactScope, String)> {
        let reference = ArtifactRef::parse(reference)?;
        let scope = ArtifactScope::of(facts);
        let name = object(&scope, &reference);
        (!self.bucket.abandoned().holds(&name)).then_some((reference, scope, name))
    }

    fn live(
        &self,
        tail: &mut Tail,
        reference: &ArtifactRef,
        scope: &ArtifactScope,
    ) -> Result<Option<(ArtifactMeta, Shape)>, ArtifactError> {
        let (meta, shape) = read(tail, &short_name(reference), scope)
            .map_err(|damage| damaged(reference).because(damage))?;
        let now_us = self.clock.now_us();
        let is_live = meta.expires.is_none_or(|at| micros(at) > now_us);
        Ok(is_live.then_some((meta, shape)))
    }

    /// Takes note that an artifact was got, so that it leaves later than others.
    async fn touch(&self, scope: &ArtifactScope, reference: &ArtifactRef) {
        let room = self.room(scope);
        let mut room = room.lock().await;
        room.shelf.touch(reference, self.clock.now_us());
    }

    pub(crate) fn room(&self, scope: &ArtifactScope) -> SharedRoom {
        let mut rooms = self.rooms.lock().unwrap_or_else(PoisonError::into_inner);
        if rooms.len() >= MOST_ROOMS && !rooms.contains_key(scope) {
            // They are read again when they are needed. Those in use stay, as turns are taken there.
            rooms.retain(|_, room| Arc::strong_count(room) > 1);
        }
        let room = rooms.entry(scope.clone());
        let new = || Arc::new(tokio::sync::Mutex::new(Room::new(scope.clone())));
        Arc::clone(room.or_insert_with(new))
    }

    pub(crate) fn failed(&self, what: &str, cause: object_store::Error) -> ArtifactError {
        let detail = format!("artifact store {} {what}", self.bucket);
        ArtifactError::of(ArtifactErrorKind::Io, detail).because(Cause(cause))
    }
}

impl ArtifactStore for BucketArtifacts {
    fn get<'a>(
        &'a self,
        facts: &'a Facts,
        reference: &'a str,
    ) -> BoxFuture<'a, Result<Option<Artifact>, ArtifactError>> {
        Box::pin(self.found(facts, reference))
    }

    fn head<'a>(
        &'a self,
        facts: &'a Facts,
        reference: &'a str,
    ) -> BoxFuture<'a, Result<Option<ArtifactMeta>, ArtifactError>> {
        Box::pin(self.known(facts, reference))
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
            self.keep(facts, draft, shape, len, stream).await
        })
    }

    fn delete<'a>(
        &'a self,
        facts: &'a Facts,
        reference: &'a str,
    ) -> BoxFuture<'a, Result<(), ArtifactError>> {
        Box::pin(async move {
            let Some(reference) = ArtifactRef::parse(reference) else {
                return Ok(());
            };
            let room = self.room(&ArtifactScope::of(facts));
            let mut room = room.lock().await;
            let removed = room.remove(&self.bucket, &reference).await;
            removed.map_err(|cause| self.failed("could not be changed", cause))
        })
    }

    /// The artifact is not read any more, and is removed with the next write or sweep.
    fn forget(&self, facts: &Facts, reference: &str) {
        if let Some((reference, scope, name)) = self.place(facts, reference) {
            self.bucket.abandoned().add(Undone::Object(name));
            // Whoever has the room finds out when the bucket is read again.
            if let Ok(mut room) = self.room(&scope).try_lock() {
                room.shelf.remove(&reference);
            }
        }
    }

    fn list<'a>(
        &'a self,
        facts: &'a Facts,
        query: ArtifactQuery,
    ) -> BoxFuture<'a, Result<ArtifactPage, ArtifactError>> {
        Box::pin(async move {
            let now_us = self.clock.now_us();
            // A cursor that is none is refused before anything is asked of the bucket.
            Shelf::<()>::default().page(&query, now_us)?;
            let room = self.room(&ArtifactScope::of(facts));
            let mut room = room.lock().await;
            // A list has all names. Whoever goes on needs none where all that is older is known: what
            // came since is newer, and stands before it.
            let after = query.after.as_deref();
            if !after.is_some_and(|after| room.knows_what_follows(after)) {
                let followed = room.follow(&self.bucket).await;
                followed.map_err(|cause| self.failed("could not be read", cause))?;
            }
            room.shelf.page(&query, now_us)
        })
    }

    fn streams(&self) -> Option<&dyn StreamingArtifacts> {
        Some(self)
    }
}

impl StreamingArtifacts for BucketArtifacts {
    fn put_stream<'a>(
        &'a self,
        facts: &'a Facts,
        draft: ArtifactDraft,
        bytes: u64,
        stream: ByteStream<'a>,
    ) -> BoxFuture<'a, Result<Kept, ArtifactError>> {
        let shape = (Shape::Binary, "application/octet-stream");
        Box::pin(self.keep(facts, draft, shape, bytes, stream))
    }

    fn get_stream<'a>(
        &'a self,
        facts: &'a Facts,
        reference: &'a str,
    ) -> BoxFuture<'a, Result<Option<(ArtifactMeta, ByteStream<'static>)>, ArtifactError>> {
        Box::pin(self.stream(facts, reference))
    }
}

impl fmt::Debug for BucketArtifacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BucketArtifacts")
            .field("bucket", &self.bucket)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

/// How many scopes are remembered between two uses.
const MOST_ROOMS: usize = 256;
