use std::collections::BTreeSet;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use futures_util::stream::BoxStream;
use futures_util::{StreamExt as _, TryStreamExt as _};
use tokio::sync::Notify;
use tool_core::{ArtifactDraft, ArtifactKind, ArtifactQuery, ArtifactStore as _, Facts};
use tool_core::{OutputStore as _, PageRequest, StoreErrorKind};
use tool_storage::object_store::memory::InMemory;
use tool_storage::object_store::multipart::{MultipartStore, PartId};
use tool_storage::object_store::path::Path;
use tool_storage::object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartId, MultipartUpload,
    ObjectMeta, ObjectStore, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use tool_storage::{ArtifactLimits, Bucket, BucketArtifacts, BucketOutputs};

use super::{Clock, keep, names, session};
use crate::artifacts::{limits, put};
use crate::fixture::DAY;

/// A store whose requests fail from one on, so many of them.
#[derive(Debug)]
struct Faulty {
    store: Arc<InMemory>,
    /// How many go well before that.
    good: AtomicUsize,
    bad: AtomicUsize,
    /// Whether what fails is done all the same, as where an answer is lost.
    is_done: bool,
    /// Whether what fails is never answered, not even with an error.
    hangs: bool,
    hung: Notify,
    /// The uploads that are known to whoever began them and are not over.
    open: Mutex<BTreeSet<MultipartId>>,
}

impl Faulty {
    fn new(store: &Arc<InMemory>, good: usize, bad: usize, is_done: bool) -> Arc<Self> {
        Arc::new(Self {
            store: Arc::clone(store),
            good: AtomicUsize::new(good),
            bad: AtomicUsize::new(bad),
            is_done,
            hangs: false,
            hung: Notify::new(),
            open: Mutex::default(),
        })
    }

    /// One whose requests hang.
    fn hanging(store: &Arc<InMemory>, is_done: bool) -> Arc<Self> {
        let faulty = Self::new(store, 0, 0, is_done);
        let faulty = Arc::into_inner(faulty).unwrap();
        Arc::new(Self {
            hangs: true,
            ..faulty
        })
    }

    /// Runs a call until its request after so many hangs, and drops it there. `None` is given
    /// when none hangs.
    async fn drop_at<T>(&self, good: usize, call: impl Future<Output = T>) -> Option<()> {
        self.good.store(good, Ordering::SeqCst);
        self.bad.store(1, Ordering::SeqCst);
        let dropped = tokio::select! {
            biased;
            () = self.hung.notified() => Some(()),
            _ = call => None,
        };
        self.bad.store(0, Ordering::SeqCst);
        dropped
    }

    async fn hang(&self) {
        if self.hangs {
            self.hung.notify_one();
            std::future::pending::<()>().await;
        }
    }

    /// Whether this request fails.
    fn fails(&self) -> bool {
        let less = |left: usize| left.checked_sub(1);
        let all = Ordering::SeqCst;
        self.good.fetch_update(all, all, less).is_err()
            && self.bad.fetch_update(all, all, less).is_ok()
    }

    /// Answers a request.
    fn answer<T>(&self, fails: bool, done: Result<T>) -> Result<T> {
        if fails { Err(eio()) } else { done }
    }
}

fn eio() -> Error {
    Error::Generic {
        store: "Faulty",
        source: std::io::Error::from_raw_os_error(5).into(),
    }
}

macro_rules! request {
    ($self:ident, $request:expr) => {{
        let fails = $self.fails();
        if fails && !$self.is_done {
            $self.hang().await;
            return Err(eio());
        }
        let done = $request.await;
        if fails {
            $self.hang().await;
        }
        $self.answer(fails, done)
    }};
}

#[async_trait]
impl ObjectStore for Faulty {
    async fn put_opts(&self, at: &Path, it: PutPayload, how: PutOptions) -> Result<PutResult> {
        request!(self, self.store.put_opts(at, it, how))
    }

    async fn put_multipart_opts(
        &self,
        at: &Path,
        how: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        request!(self, self.store.put_multipart_opts(at, how))
    }

    async fn get_opts(&self, at: &Path, how: GetOptions) -> Result<GetResult> {
        request!(self, self.store.get_opts(at, how))
    }

    fn delete_stream(
        &self,
        all: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        match self.fails() {
            true if self.hangs => {
                self.hung.notify_one();
                futures_util::stream::pending().boxed()
            }
            true => futures_util::stream::once(async { Err(eio()) }).boxed(),
            false => self.store.delete_stream(all),
        }
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        match self.fails() {
            true if self.hangs => {
                self.hung.notify_one();
                futures_util::stream::pending().boxed()
            }
            true => futures_util::stream::once(async { Err(eio()) }).boxed(),
            false => self.store.list(prefix),
        }
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        request!(self, self.store.list_with_delimiter(prefix))
    }

    async fn copy_opts(&self, from: &Path, to: &Path, how: CopyOptions) -> Result<()> {
        request!(self, self.store.copy_opts(from, to, how))
    }
}

#[async_trait]
impl MultipartStore for Faulty {
    async fn create_multipart(&self, at: &Path) -> Result<MultipartId> {
        let id: Result<MultipartId> = request!(self, self.store.create_multipart(at));
        self.open.lock().unwrap().extend(id.as_ref().ok().cloned());
        id
    }

    async fn put_part(
        &self,
        at: &Path,
        id: &MultipartId,
        part: usize,
        data: PutPayload,
    ) -> Result<PartId> {
        request!(self, self.store.put_part(at, id, part, data))
    }

    async fn complete_multipart(
        &self,
        at: &Path,
        id: &MultipartId,
        parts: Vec<PartId>,
    ) -> Result<PutResult> {
        request!(self, async {
            let done = self.store.complete_multipart(at, id, parts).await;
            self.open.lock().unwrap().remove(id);
            done
        })
    }

    async fn abort_multipart(&self, at: &Path, id: &MultipartId) -> Result<()> {
        request!(self, async {
            // As Amazon S3 says it of an upload that is over.
            if !self.open.lock().unwrap().remove(id) {
                let (path, source) = (at.to_string(), "no such upload".into());
                return Err(Error::NotFound { path, source });
            }
            self.store.abort_multipart(at, id).await
        })
    }
}

impl fmt::Display for Faulty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Faulty")
    }
}

/// A bucket in which 10 KB are many.
fn small_parts<S: ObjectStore + MultipartStore>(store: &Arc<S>) -> Bucket {
    Bucket::of(Arc::clone(store), "b").part_bytes(10_000.try_into().unwrap())
}

/// What a gateway reported as kept, and how many of its calls failed.
#[derive(Default)]
struct Reported {
    /// One whose removal failed: it may be there or not.
    unsure: Option<String>,
    outputs: Vec<(String, usize)>,
    artifacts: Vec<(String, usize)>,
    failed: usize,
}

/// What a gateway does: small and large outputs and artifacts, pages, a removal, a sweep.
async fn work(bucket: &Bucket, clock: &Clock) -> Reported {
    let mut reported = Reported::default();
    let (facts, tell) = (session("s1"), clock.clone());
    let builder = BucketOutputs::builder(bucket.clone()).clock(move || tell.now());
    let store = builder.build();
    let tell = clock.clone();
    let artifacts = BucketArtifacts::new(bucket.clone()).clock(move || tell.now());
    let _pin = store.pin_session("s2");
    reported.failed += usize::from(store.sweep(clock.now()).await.is_err());
    for bytes in [2_000, 35_000, 20_000, 3_000] {
        match keep(&store, &facts, bytes).await {
            Ok(bounded) => reported.outputs.push((bounded.retained.id, bytes)),
            Err(error) => {
                assert_eq!(error.kind(), StoreErrorKind::Io, "{error}");
                reported.failed += 1;
            }
        }
        let draft = ArtifactDraft::new(ArtifactKind::new("note").unwrap());
        let payload = vec![7_u8; bytes].into();
        match artifacts.put(&facts, draft, payload).await {
            Ok(kept) => reported
                .artifacts
                .push((kept.meta.reference.to_string(), bytes)),
            Err(_) => reported.failed += 1,
        }
    }
    for (id, bytes) in &reported.outputs {
        match store.page(PageRequest::new(id, Some(&facts))).await {
            Ok(page) => assert_eq!(page.total, *bytes as u64),
            Err(error) => {
                assert_eq!(error.kind(), StoreErrorKind::Io, "{error}");
                reported.failed += 1;
            }
        }
    }
    reported.failed += usize::from(store.list().await.is_err());
    if !reported.outputs.is_empty() {
        let (id, _) = reported.outputs.remove(0);
        if store.remove(&id).await.is_err() {
            reported.failed += 1;
            reported.unsure = Some(id);
        }
    }
    reported.failed += usize::from(store.sweep(clock.now()).await.is_err());
    reported
}

fn builder_of(bucket: &Bucket, clock: &Clock) -> BucketOutputs {
    let clock = clock.clone();
    BucketOutputs::builder(bucket.clone())
        .clock(move || clock.now())
        .build()
}

/// All that was reported is there whole, and nothing else is.
async fn check(store: &Arc<InMemory>, clock: &Clock, reported: &Reported, what: &str) {
    let (bucket, facts) = (small_parts(store), session("s1"));
    let outputs = builder_of(&bucket, clock);
    let mut listed: Vec<_> = outputs.list().await.unwrap();
    listed.sort_by(|a, b| a.id.cmp(&b.id));
    let mut expected = reported.outputs.clone();
    expected.sort();
    let listed: Vec<_> = listed
        .into_iter()
        .filter(|it| Some(&it.id) != reported.unsure.as_ref())
        .map(|it| (it.id, it.bytes as usize))
        .collect();
    assert_eq!(listed, expected, "{what}");
    for (id, bytes) in &reported.outputs {
        let request = PageRequest::new(id, Some(&facts)).max_bytes(8 << 20);
        let page = outputs.page(request).await.unwrap();
        assert!(page.bytes.iter().all(|byte| *byte == b'x'), "{what}");
        assert_eq!(page.bytes.len(), *bytes, "{what}");
    }
    let artifacts = BucketArtifacts::new(bucket);
    for (reference, bytes) in &reported.artifacts {
        let got = artifacts.get(&facts, reference).await.unwrap().unwrap();
        assert_eq!(got.payload.to_bytes().len(), *bytes, "{what}");
    }
    let all = artifacts.list(&facts, Default::default()).await.unwrap();
    assert_eq!(all.artifacts.len(), reported.artifacts.len(), "{what}");
}

/// Lets every request fail in turn, so many in a row.
async fn at_every_request(bad: usize, is_done: bool) {
    for good in 0.. {
        let (store, clock) = (Arc::new(InMemory::new()), Clock::new());
        let faulty = Faulty::new(&store, good, bad, is_done);
        let bucket = small_parts(&faulty);
        let reported = work(&bucket, &clock).await;
        let what = format!("{bad} requests fail after {good}, done: {is_done}");
        if faulty.bad.load(Ordering::SeqCst) == bad {
            assert!(good > 50, "{what}: there are so few requests");
            assert_eq!(reported.failed, 0, "{what}");
            return;
        }
        // What could not be undone at once is undone by now, or unseen.
        bucket_heals(&faulty);
        let heals = builder_of(&bucket, &clock);
        heals.sweep(clock.now()).await.unwrap();
        check(&store, &clock, &reported, &what).await;

        // What a process leaves that dies now, the next one removes after a day.
        clock.advance(DAY);
        let next = small_parts(&store);
        builder_of(&next, &clock).sweep(clock.now()).await.unwrap();
        check(&store, &clock, &reported, &what).await;
        let objects: Arc<dyn ObjectStore> = store;
        let left = names(&objects).await;
        assert!(
            !left.iter().any(|name| name.contains("/uploads/")),
            "{what}: {left:?}"
        );
    }
}

fn bucket_heals(faulty: &Faulty) {
    faulty.bad.store(0, Ordering::SeqCst);
}

#[tokio::test]
async fn a_request_that_fails_fails_its_call_and_leaves_nothing() {
    at_every_request(1, false).await;
}

#[tokio::test]
async fn a_request_whose_answer_is_lost_leaves_nothing_that_was_not_reported() {
    at_every_request(1, true).await;
}

#[tokio::test]
async fn a_store_that_is_gone_for_good_loses_nothing_that_was_reported() {
    at_every_request(usize::MAX, false).await;
}

/// Stops a call at every request of it, and what cleans up after it at every request of that.
async fn dropped_at_every_request(is_done: bool) {
    for good in 0.. {
        for cleaned in 0.. {
            let what = format!("dropped after {good} and {cleaned} requests, done: {is_done}");
            let (store, clock) = (Arc::new(InMemory::new()), Clock::new());
            let faulty = Faulty::hanging(&store, is_done);
            let bucket = small_parts(&faulty);
            let outputs = builder_of(&bucket, &clock);
            let facts = session("s1");
            let call = keep(&outputs, &facts, 35_000);
            if faulty.drop_at(good, call).await.is_none() {
                assert!(good > 6, "{what}: there are so few requests");
                return;
            }
            let mut cleaning = Box::pin(outputs.sweep(clock.now()));
            let stopped = faulty.drop_at(cleaned, &mut cleaning).await;
            // While it hangs, another store over the same place sees nothing of it.
            let other = builder_of(&bucket, &clock);
            assert!(other.list().await.unwrap().is_empty(), "{what}");
            drop(cleaning);
            other.sweep(clock.now()).await.unwrap();
            assert!(other.list().await.unwrap().is_empty(), "{what}");
            let open = faulty.open.lock().unwrap().clone();
            assert!(open.is_empty(), "{what}: {open:?}");
            let objects: Arc<dyn ObjectStore> = Arc::<InMemory>::clone(&store);
            let mut left = names(&objects).await;
            left.retain(|name| name.contains("/uploads/") || name.contains("/outputs/"));
            assert!(left.is_empty(), "{what}: {left:?}");
            if stopped.is_none() {
                break;
            }
        }
    }
}

#[tokio::test]
async fn a_call_that_is_dropped_before_a_request_leaves_nothing() {
    dropped_at_every_request(false).await;
}

#[tokio::test]
async fn a_call_that_is_dropped_after_a_request_leaves_nothing() {
    dropped_at_every_request(true).await;
}

#[tokio::test]
async fn a_put_that_is_dropped_at_any_request_keeps_no_artifact_that_nobody_knows() {
    for is_done in [false, true] {
        for good in 0.. {
            let faulty = Faulty::hanging(&Arc::new(InMemory::new()), is_done);
            let artifacts = BucketArtifacts::new(small_parts(&faulty));
            let artifacts = artifacts.limits(limits(ArtifactLimits::DISK, 1_000, 1));
            let facts = session("s1");
            put(&artifacts, &facts, "old").await;
            let new = ArtifactKind::new("new").unwrap();
            let putting = artifacts.put(&facts, ArtifactDraft::new(new.clone()), "new".into());
            let dropped = faulty.drop_at(good, putting).await;
            let query = ArtifactQuery::new().kind(new);
            let listed = artifacts.list(&facts, query).await.unwrap().artifacts;
            let what = format!("dropped after {good} requests, done: {is_done}");
            assert_eq!(listed.len(), usize::from(dropped.is_none()), "{what}");
            if dropped.is_none() {
                assert!(good > 1, "{what}: there are so few requests");
                break;
            }
        }
    }
}

#[tokio::test]
async fn what_has_no_name_of_an_artifact_is_not_taken_for_a_damaged_one() {
    let (store, clock) = (Arc::new(InMemory::new()), Clock::new());
    let bucket = Bucket::of(Arc::clone(&store), "b");
    let tell = clock.clone();
    let artifacts = BucketArtifacts::new(bucket).clock(move || tell.now());
    let facts = session("s1");
    let draft = ArtifactDraft::new(ArtifactKind::new("note").unwrap());
    artifacts.put(&facts, draft, vec![7].into()).await.unwrap();
    let objects: Arc<dyn ObjectStore> = Arc::<InMemory>::clone(&store);
    let kept = names(&objects).await;
    let kept = kept.iter().find(|it| it.contains("/artifacts/")).unwrap();
    let (folder, _) = kept.rsplit_once('/').unwrap();
    let put = |name: String| {
        let (store, data) = (Arc::clone(&store), PutPayload::from_static(b"note"));
        async move {
            let how = PutOptions::default();
            store.put_opts(&Path::from(name), data, how).await.unwrap()
        }
    };
    let (stranger, damaged) = (
        format!("{folder}/README"),
        format!("{folder}/{}", "a".repeat(32)),
    );
    put(stranger.clone()).await;
    put(damaged.clone()).await;
    artifacts.list(&facts, Default::default()).await.unwrap();
    clock.advance(100_000 * DAY);
    artifacts.sweep().await.unwrap();
    let left = names(&objects).await;
    assert!(left.contains(&stranger), "{left:?}");
    assert!(!left.contains(&damaged), "{left:?}");
}

#[tokio::test]
async fn a_stream_that_breaks_off_is_an_error_and_never_a_short_page() {
    let (store, clock) = (Arc::new(InMemory::new()), Clock::new());
    let bucket = Bucket::of(Arc::clone(&store), "b");
    let outputs = builder_of(&bucket, &clock);
    let facts = Facts::new();
    let id = keep(&outputs, &facts, 5_000).await.unwrap().retained.id;
    // What is there is shorter than what was stored, and nobody has noticed yet.
    let path = Path::from(format!("b/outputs/{id}"));
    let all: Vec<_> = store.list(None).try_collect().await.unwrap();
    assert_eq!(all.len(), 1);
    let cut = PutPayload::from(vec![b'x'; 3_000]);
    store
        .put_opts(&path, cut, PutOptions::default())
        .await
        .unwrap();
    let error = outputs
        .page(PageRequest::new(&id, Some(&facts)))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Io, "{error}");
}
