//! Output kept in a bucket.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use bytes::Bytes;
use tool_core::{
    Bounded, BoxFuture, Content, Facts, OutputPage, OutputSink, OutputStore, PageRequest, Retained,
    Retention, SessionId, StoreError, StoreErrorKind,
};

use crate::bucket::Bucket;
use crate::bucket::abandoned::Undone;
use crate::bucket::incoming::Incoming;
use crate::bucket::lives::Lives;
use crate::bucket::setup::BucketOutputsBuilder;
use crate::bucket::tail::Tail;
use crate::clock::micros;
use crate::footer::RecordError;
use crate::gone::Left;
use crate::id::Id;
use crate::index::{Entry, Index};
use crate::joined::Joined;
use crate::marker::{Marker, ReadingHint};
use crate::page::Window;
use crate::pin::SessionPin;
use crate::preview::preview;
use crate::reading::{absent, not_an_id, not_found};
use crate::record::Record;
use crate::staged::pause;
use crate::summary::OutputSummary;
use crate::sweep::Swept;
use crate::truncated::truncated;

/// An [`OutputStore`] in a [`Bucket`]. Clones are the same store.
///
/// What is stored, who may read it and what [`Limits`](crate::Limits) mean is as with
/// [`DirStore`](crate::DirStore): an output is one object, its bytes and then its record. It is seen
/// when it is whole: put in one request, or in parts that are completed.
///
/// # Dropped calls
/// A call that is dropped leaves nothing to be seen. Where its last request was already on the way,
/// the object that may have come of it is unreadable here from then on, and is removed with the next
/// write or sweep; should the process end before that, it lies there, under an id that nobody
/// knows, until it has had its time.
///
/// # Concurrency
/// A bucket may be used by several gateways at once. Each checks the quota against what it knows,
/// so that together they may exceed it until one of them looks at the bucket again: when it sweeps
/// or lists, when it finds no room otherwise, and where it has to make room each time that an eighth
/// as many outputs as it knows have come.
///
/// # Cost
/// An output of up to 5 MiB takes one request, a page one ranged request whatever its offset, or
/// three where another gateway has stored the output. A sweep lists everything and reads what is
/// new to it. Making room costs a list of the sessions that live and the removal of what leaves.
///
/// ```
/// use tool_core::{Bound, Content, Facts, OutputStore, PageRequest, Retention};
/// use tool_storage::{Bucket, BucketOutputs};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let store = BucketOutputs::builder(Bucket::from_url("memory:///")?).open().await?;
/// let facts = Facts::new().session("s1");
/// let content = vec![Content::text("line\n".repeat(100_000))];
/// let bounded = store.bound(Retention::new(content, Bound::DEFAULT, &facts, "shell")).await?;
/// let page = store.page(PageRequest::new(&bounded.retained.id, Some(&facts))).await?;
/// assert_eq!(page.total, 500_000);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct BucketOutputs {
    pub(crate) shared: Arc<Shared>,
}

pub(crate) struct Shared {
    pub(crate) setup: BucketOutputsBuilder,
    pub(crate) lives: Arc<Lives>,
    /// Whoever makes room or sweeps has it, so that two do not free the same bytes.
    pub(crate) turn: tokio::sync::Mutex<()>,
    index: Mutex<Index>,
}

impl BucketOutputs {
    /// A store in that bucket, to be set up.
    pub fn builder(bucket: Bucket) -> BucketOutputsBuilder {
        BucketOutputsBuilder::new(bucket)
    }

    pub(crate) fn new(setup: BucketOutputsBuilder) -> Self {
        Self {
            shared: Arc::new(Shared {
                lives: Arc::new(Lives::new(setup.bucket.clone())),
                turn: tokio::sync::Mutex::default(),
                index: Mutex::default(),
                setup,
            }),
        }
    }

    /// Keeps the outputs of a session until the guard is dropped, in this process at once. Others
    /// are told with the next output of the session and with each sweep, for three hours at a time.
    pub fn pin_session(&self, session: impl Into<SessionId>) -> SessionPin {
        Arc::clone(&self.shared.lives).pin(session.into())
    }

    /// The outputs that can be read, the oldest first.
    ///
    /// An object whose record does not read is left out and traced as a warning.
    ///
    /// # Errors
    /// [`Io`](StoreErrorKind::Io) when the bucket cannot be read.
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing.
    pub async fn list(&self) -> Result<Vec<OutputSummary>, StoreError> {
        let shared = &*self.shared;
        shared.follow().await?;
        let now = shared.setup.clock.now_us();
        let has_expired = |entry: &Entry| shared.setup.limits.has_expired(entry.created_us(), now);
        let expires = shared.index().oldest_first().any(|(_, it)| has_expired(it));
        let live = match expires {
            true => Some(shared.live(now, false).await?),
            false => None,
        };
        let is_live = |entry: &Entry| {
            let session = entry.session();
            session.is_some_and(|it| live.as_ref().is_some_and(|live| live.holds(it)))
        };
        Ok(shared
            .index()
            .oldest_first()
            .filter(|(_, entry)| !has_expired(entry) || is_live(entry))
            .filter_map(|(_, entry)| match entry {
                Entry::Whole(record) => Some(OutputSummary::from(record)),
                Entry::Damaged { .. } => None,
            })
            .collect())
    }

    /// Removes an output, a damaged one and one of a pinned session too.
    ///
    /// # Errors
    /// [`NotFound`](StoreErrorKind::NotFound) when there is none; [`Io`](StoreErrorKind::Io) when
    /// the bucket cannot be written.
    ///
    /// # Cancel safety
    /// When the future is dropped the output may or may not be gone.
    pub async fn remove(&self, id: &str) -> Result<(), StoreError> {
        let shared = &*self.shared;
        let id = Id::parse(id).ok_or_else(not_an_id)?;
        let bucket = &shared.setup.bucket;
        let len = bucket.len(&name_of(id)).await;
        let len = len.map_err(|cause| bucket.failed("could not be read", cause))?;
        if len.is_none() {
            shared.index().remove(id);
            return Err(shared.unknown(id).await);
        }
        shared.discard(id, Some(Left::Removed)).await.map(|_| ())
    }

    /// Removes the outputs of a caller whose session has ended, a pinned one's too. Returns how
    /// many they were. A caller without a session has none that ends.
    ///
    /// # Errors
    /// [`Io`](StoreErrorKind::Io) when the bucket cannot be read or written.
    ///
    /// # Cancel safety
    /// When the future is dropped some of them may be gone.
    pub async fn remove_all(&self, facts: &Facts) -> Result<usize, StoreError> {
        if facts.session_id().is_none() {
            return Ok(0);
        }
        let shared = &*self.shared;
        shared.follow().await?;
        let ids: Vec<Id> = shared
            .index()
            .oldest_first()
            .filter(|(_, entry)| match entry {
                Entry::Whole(record) => record.is_readable_by(facts),
                Entry::Damaged { .. } => false,
            })
            .map(|(id, _)| id)
            .collect();
        for id in &ids {
            shared.discard(*id, Some(Left::Ended)).await?;
        }
        Ok(ids.len())
    }

    /// Removes what has expired at that time, the oldest outputs while the quota is exceeded, and
    /// what dead processes left unfinished a day ago. A host calls this once an hour.
    ///
    /// Outputs of sessions that are pinned anywhere stay, and so does every object that is not this
    /// store's.
    ///
    /// # Errors
    /// [`Io`](StoreErrorKind::Io) when the bucket cannot be read. A single object that cannot be
    /// removed is counted instead.
    ///
    /// # Cancel safety
    /// Dropping the future leaves what is left to the next sweep.
    pub async fn sweep(&self, now: SystemTime) -> Result<Swept, StoreError> {
        self.sweep_at(micros(now)).await
    }

    async fn retain(&self, retention: Retention<'_>) -> Result<Bounded, StoreError> {
        let joined = Joined::new(&retention.content);
        let len = joined.len() as u64;
        let mut incoming = Incoming::begin(&self.shared, retention.facts, len).await?;
        for piece in joined.pieces() {
            incoming.write(piece).await?;
        }
        pause().await;
        let id = incoming.id().to_string();
        let shown = incoming.show(retention.facts, retention.call, retention.tool);
        let retained = shown.await?;
        let marker = Marker::new(&id, self.hint()).loss(retention.loss);
        let content = preview(retention.content, retention.bound, &marker);
        Ok(Bounded::new(content, retained))
    }

    async fn read(&self, request: &PageRequest<'_>) -> Result<OutputPage, StoreError> {
        let shared = &*self.shared;
        let bucket = &shared.setup.bucket;
        let id = Id::parse(request.id).ok_or_else(not_an_id)?;
        let name = name_of(id);
        if bucket.abandoned().holds(&name) {
            return Err(shared.unknown(id).await);
        }
        let known = match shared.index().get(id) {
            Some(Entry::Whole(record)) => Some(record.clone()),
            Some(Entry::Damaged { .. }) | None => None,
        };
        let record = match known {
            Some(record) => record,
            None => shared.record(id).await?,
        };
        if request
            .facts
            .is_some_and(|facts| !record.is_readable_by(facts))
        {
            return Err(not_found(format!("output {id} is another caller's")));
        }
        let total = record.bytes;
        shared.check_time(id, record).await?;

        let window = Window::of(request, total);
        let range = window.range();
        let read = match range.is_empty() {
            // There is no request for no bytes.
            true => bucket.len(&name).await.map(|len| len.map(|_| Bytes::new())),
            false => bucket.range(&name, range).await,
        };
        let failed = |cause| bucket.failed(&format!("could not read output {id}"), cause);
        let Some(bytes) = read.map_err(failed)? else {
            shared.index().remove(id);
            return Err(shared.unknown(id).await);
        };
        let page = window.page(bytes);
        page.ok_or_else(|| bucket.wrong(&format!("gave too little of output {id}")))
    }

    pub(crate) fn hint(&self) -> &ReadingHint {
        &self.shared.setup.hint
    }
}

impl Shared {
    pub(crate) fn index(&self) -> MutexGuard<'_, Index> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An output that is not there, and what became of it where that is known.
    pub(crate) async fn unknown(&self, id: Id) -> StoreError {
        let noted = self.setup.bucket.get(&gone_name(id)).await.ok().flatten();
        absent(id, noted.as_deref().and_then(Left::of))
    }

    /// The record of an output that this store does not know yet.
    async fn record(&self, id: Id) -> Result<Record, StoreError> {
        let bucket = &self.setup.bucket;
        let name = name_of(id);
        let failed = |cause| bucket.failed(&format!("could not read output {id}"), cause);
        let Some(len) = bucket.len(&name).await.map_err(failed)? else {
            return Err(self.unknown(id).await);
        };
        let tail = Tail::of(bucket, &name, len).await.map_err(failed)?;
        let Some(mut tail) = tail else {
            return Err(self.unknown(id).await);
        };
        let read = Record::read(&mut tail, id);
        let record = read.map_err(|damage: RecordError| {
            let detail = format!("output {id} is damaged");
            StoreError::new(StoreErrorKind::Io, detail).because(damage)
        })?;
        self.index().insert(id, Entry::Whole(record.clone()));
        Ok(record)
    }

    /// Refuses an output that has had its time, and removes it.
    async fn check_time(&self, id: Id, record: Record) -> Result<(), StoreError> {
        let now = self.setup.clock.now_us();
        if !self.setup.limits.has_expired(record.created_us, now) {
            return Ok(());
        }
        if let Some(session) = &record.session
            && (self.lives.is_held(session) || self.live(now, false).await?.holds(session))
        {
            return Ok(());
        }
        if let Err(error) = self.discard(id, Some(Left::Expired)).await {
            tracing::warn!(%id, %error, "could not remove an expired output");
        }
        Err(not_found(format!("output {id} has expired")))
    }
}

impl OutputStore for BucketOutputs {
    fn bound<'a>(&'a self, retention: Retention<'a>) -> BoxFuture<'a, Result<Bounded, StoreError>> {
        Box::pin(self.retain(retention))
    }

    fn stream(&self, retention: Retention<'_>) -> Result<Option<Box<dyn OutputSink>>, StoreError> {
        let writer = self.begin(retention.facts, retention.tool, retention.bound);
        Ok(Some(Box::new(writer.call(retention.call.cloned()))))
    }

    fn truncate(&self, retention: Retention<'_>) -> Vec<Content> {
        truncated(retention)
    }

    /// The output is not read any more, and is removed with the next write or sweep.
    fn forget(&self, retained: &Retained) {
        let Some(id) = Id::parse(&retained.id) else {
            return;
        };
        let is_another = |entry: &Entry| !entry.has_digest(&retained.digest);
        if !self.shared.index().get(id).is_some_and(is_another) {
            let abandoned = self.shared.setup.bucket.abandoned();
            abandoned.add(Undone::Object(name_of(id)));
            self.shared.index().remove(id);
        }
    }

    fn page<'a>(
        &'a self,
        request: PageRequest<'a>,
    ) -> BoxFuture<'a, Result<OutputPage, StoreError>> {
        Box::pin(async move { self.read(&request).await })
    }
}

impl fmt::Debug for BucketOutputs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BucketOutputs")
            .field("bucket", &self.shared.setup.bucket)
            .field("limits", &self.shared.setup.limits)
            .finish_non_exhaustive()
    }
}

pub(crate) fn name_of(id: Id) -> String {
    format!("{FOLDER}/{id}")
}

pub(crate) fn gone_name(id: Id) -> String {
    format!("{GONE}/{id}")
}

pub(crate) const FOLDER: &str = "outputs";
pub(crate) const GONE: &str = "gone";
