//! Buckets for the suites of what every store promises.
//!
//! Whoever has them names the crates that it tests `core` and `storage`.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use futures_util::TryStreamExt as _;
use tool_testkit::artifacts::ArtifactHarness;
use tool_testkit::outputs::{LIFE, OutputHarness};

use super::core::{ArtifactRef, ArtifactScope, BoxFuture, Digest, Facts, StoreError};
use super::storage::object_store::{ObjectStore, ObjectStoreExt as _};
use super::storage::{ArtifactLimits, Bucket, BucketArtifacts, BucketOutputs, Limits};

/// Opens buckets of which each is another.
pub(crate) struct Buckets<B> {
    seconds: Arc<AtomicU64>,
    next: B,
    opened: Mutex<Vec<(Bucket, Arc<dyn ObjectStore>)>>,
}

impl<B: Fn() -> (Bucket, Arc<dyn ObjectStore>) + Send + Sync> Buckets<B> {
    pub(crate) fn new(next: B) -> Self {
        Self {
            seconds: Arc::new(AtomicU64::new(1_800_000_000)),
            next,
            opened: Mutex::default(),
        }
    }

    fn bucket(&self) -> Bucket {
        let opened = (self.next)();
        self.opened.lock().unwrap().push(opened.clone());
        opened.0
    }

    async fn on(&self, bucket: Bucket, limits: Limits) -> BucketOutputs {
        let builder = BucketOutputs::builder(bucket).clock(clock(&self.seconds));
        builder.limits(limits).open().await.unwrap()
    }

    fn pass(&self, by: Duration) -> bool {
        self.seconds.fetch_add(by.as_secs(), Ordering::SeqCst);
        true
    }
}

fn clock(seconds: &Arc<AtomicU64>) -> impl Fn() -> SystemTime + Send + Sync + use<> {
    let seconds = Arc::clone(seconds);
    move || SystemTime::UNIX_EPOCH + Duration::from_secs(seconds.load(Ordering::SeqCst))
}

impl<B: Fn() -> (Bucket, Arc<dyn ObjectStore>) + Send + Sync> OutputHarness for Buckets<B> {
    type Store = BucketOutputs;

    fn open(&self) -> BoxFuture<'_, BucketOutputs> {
        Box::pin(self.on(self.bucket(), Limits::DEFAULT))
    }

    fn limited(&self, output: u64, total: u64) -> BoxFuture<'_, Option<BucketOutputs>> {
        let limits = Limits::new(output, total, LIFE).unwrap();
        Box::pin(async move { Some(self.on(self.bucket(), limits).await) })
    }

    fn again<'a>(&'a self, _store: &'a BucketOutputs) -> BoxFuture<'a, Option<BucketOutputs>> {
        // The suite asks for it right after the first.
        let bucket = self.opened.lock().unwrap().last().map(|(it, _)| it.clone());
        Box::pin(async move { Some(self.on(bucket?, Limits::DEFAULT).await) })
    }

    fn list<'a>(
        &'a self,
        store: &'a BucketOutputs,
    ) -> BoxFuture<'a, Option<Result<Vec<String>, StoreError>>> {
        Box::pin(async move {
            let listed = store.list().await;
            Some(listed.map(|listed| listed.into_iter().map(|output| output.id).collect()))
        })
    }

    fn sweep<'a>(
        &'a self,
        store: &'a BucketOutputs,
    ) -> BoxFuture<'a, Option<Result<(), StoreError>>> {
        Box::pin(async move { Some(store.sweep(clock(&self.seconds)()).await.map(|_| ())) })
    }

    fn remove<'a>(
        &'a self,
        store: &'a BucketOutputs,
        id: &'a str,
    ) -> BoxFuture<'a, Option<Result<(), StoreError>>> {
        Box::pin(async move { Some(store.remove(id).await) })
    }

    fn end_session<'a>(
        &'a self,
        store: &'a BucketOutputs,
        facts: &'a Facts,
    ) -> BoxFuture<'a, Option<Result<usize, StoreError>>> {
        Box::pin(async move { Some(store.remove_all(facts).await) })
    }

    fn advance(&self, by: Duration) -> bool {
        self.pass(by)
    }
}

impl<B: Fn() -> (Bucket, Arc<dyn ObjectStore>) + Send + Sync> ArtifactHarness for Buckets<B> {
    type Store = BucketArtifacts;

    fn open(&self) -> BucketArtifacts {
        BucketArtifacts::new(self.bucket()).clock(clock(&self.seconds))
    }

    fn bounded(&self, max_bytes: u64, max_count: usize) -> Option<BucketArtifacts> {
        let limits = ArtifactLimits::DISK
            .max_bytes(max_bytes.try_into().ok()?)
            .max_count(max_count.try_into().ok()?);
        Some(ArtifactHarness::open(self).limits(limits))
    }

    fn now(&self) -> SystemTime {
        clock(&self.seconds)()
    }

    fn advance(&self, by: Duration) -> bool {
        self.pass(by)
    }

    fn corrupt(&self, _: &BucketArtifacts, facts: &Facts, reference: &ArtifactRef) -> bool {
        let store = self.opened.lock().unwrap().last().unwrap().1.clone();
        let scope = ArtifactScope::of(facts).key();
        let name = Digest::of(reference.as_str().as_bytes()).hex();
        // Other threads' runtimes are no business of this one.
        std::thread::scope(|threads| {
            let changed = threads.spawn(|| {
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .enable_all()
                    .build()
                    .unwrap();
                runtime.block_on(async {
                    let all: Vec<_> = store.list(None).try_collect().await.unwrap();
                    let ends = format!("artifacts/{scope}/{}", &name[..32]);
                    let path = all.into_iter().map(|meta| meta.location);
                    let path = path
                        .into_iter()
                        .find(|it| it.as_ref().ends_with(&ends))
                        .unwrap();
                    let mut bytes = store
                        .get(&path)
                        .await
                        .unwrap()
                        .bytes()
                        .await
                        .unwrap()
                        .to_vec();
                    bytes[0] ^= 1;
                    store.put(&path, bytes.into()).await.unwrap();
                });
            });
            changed.join().is_ok()
        })
    }
}
