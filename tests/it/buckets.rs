//! Gateways that share a bucket, on an S3 server of this test's own.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use futures_util::TryStreamExt as _;
use tool_runtime::core::{
    ArtifactRef, ArtifactScope, BoxFuture, Digest, Facts, State as _, StateReading, StoreError,
};
use tool_runtime::storage::object_store::{ObjectStore as _, ObjectStoreExt as _};
use tool_runtime::storage::{
    ArtifactLimits, Bucket, BucketArtifacts, BucketOutputs, BucketState, Limits,
};
use tool_testkit::artifacts::{self, ArtifactHarness};
use tool_testkit::outputs::{self, LIFE, OutputHarness};

mod approvals; // two gateways on one bucket
mod race; // two processes on one state
mod server; // the S3 server

use server::Server;

/// Opens buckets of which each is another prefix of one bucket of a server.
struct Buckets<'a> {
    server: &'a Server,
    seconds: Arc<AtomicU64>,
    count: AtomicUsize,
    last: Mutex<Option<Bucket>>,
}

impl<'a> Buckets<'a> {
    fn new(server: &'a Server) -> Self {
        Self {
            server,
            seconds: Arc::new(AtomicU64::new(1_800_000_000)),
            count: AtomicUsize::new(0),
            last: Mutex::default(),
        }
    }

    fn prefix(&self) -> String {
        format!("p{}", self.count.load(Ordering::SeqCst))
    }

    fn bucket(&self) -> Bucket {
        self.count.fetch_add(1, Ordering::SeqCst);
        let bucket = Bucket::of(Arc::new(self.server.client()), &self.prefix());
        *self.last.lock().unwrap() = Some(bucket.clone());
        bucket
    }

    fn clock(&self) -> impl Fn() -> SystemTime + Send + Sync + use<> {
        let seconds = Arc::clone(&self.seconds);
        move || SystemTime::UNIX_EPOCH + Duration::from_secs(seconds.load(Ordering::SeqCst))
    }

    async fn on(&self, bucket: Bucket, limits: Limits) -> BucketOutputs {
        let builder = BucketOutputs::builder(bucket).clock(self.clock());
        builder.limits(limits).open().await.unwrap()
    }

    fn pass(&self, by: Duration) -> bool {
        self.seconds.fetch_add(by.as_secs(), Ordering::SeqCst);
        true
    }
}

impl OutputHarness for Buckets<'_> {
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
        let bucket = self.last.lock().unwrap().clone();
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
        Box::pin(async move { Some(store.sweep(self.clock()()).await.map(|_| ())) })
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

impl ArtifactHarness for Buckets<'_> {
    type Store = BucketArtifacts;

    fn open(&self) -> BucketArtifacts {
        BucketArtifacts::new(self.bucket()).clock(self.clock())
    }

    fn bounded(&self, max_bytes: u64, max_count: usize) -> Option<BucketArtifacts> {
        let limits = ArtifactLimits::DISK
            .max_bytes(max_bytes.try_into().ok()?)
            .max_count(max_count.try_into().ok()?);
        Some(ArtifactHarness::open(self).limits(limits))
    }

    fn now(&self) -> SystemTime {
        self.clock()()
    }

    fn advance(&self, by: Duration) -> bool {
        self.pass(by)
    }

    fn corrupt(&self, _: &BucketArtifacts, facts: &Facts, reference: &ArtifactRef) -> bool {
        let scope = ArtifactScope::of(facts).key();
        let name = Digest::of(reference.as_str().as_bytes()).hex();
        let ends = format!("{}/artifacts/{scope}/{}", self.prefix(), &name[..32]);
        let client = self.server.client();
        self.server.block_on(async move {
            let all: Vec<_> = client.list(None).try_collect().await.unwrap();
            let mut paths = all.into_iter().map(|meta| meta.location);
            let path = paths.find(|path| path.as_ref() == ends).unwrap();
            let bytes = client.get(&path).await.unwrap().bytes().await.unwrap();
            let mut bytes = bytes.to_vec();
            bytes[0] ^= 1;
            client.put(&path, bytes.into()).await.unwrap();
        });
        true
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn outputs_on_a_real_server_keep_every_promise() {
    let server = Server::start();
    let report = outputs::run(&Buckets::new(&server)).await;
    assert!(report.is_good(), "\n{report}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn artifacts_on_a_real_server_keep_every_promise() {
    let server = Server::start();
    let report = artifacts::run(&Buckets::new(&server)).await;
    assert!(report.is_good(), "\n{report}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn state_on_a_real_server_is_written_under_its_conditions() {
    let server = Server::start();
    let state = BucketState::new(Bucket::of(Arc::new(server.client()), "b"));
    let first = state.write("key", None, b"one").await.unwrap().unwrap();
    assert!(state.write("key", None, b"two").await.unwrap().is_none());
    let second = state.write("key", Some(&first), b"one").await.unwrap();
    let second = second.unwrap();
    assert_ne!(first, second, "the same bytes are another version");
    assert!(
        state
            .write("key", Some(&first), b"x")
            .await
            .unwrap()
            .is_none()
    );
    assert!(
        state
            .write("other", Some(&first), b"x")
            .await
            .unwrap()
            .is_none()
    );
    let read = state.read("key", Some(&first)).await.unwrap();
    assert_eq!(read, StateReading::Value(b"one".to_vec(), second.clone()));
    let read = state.read("key", Some(&second)).await.unwrap();
    assert_eq!(read, StateReading::Unchanged);
    let later = SystemTime::now() + Duration::from_secs(3600);
    assert!(state.claim("claim", later).await.unwrap());
    assert!(!state.claim("claim", later).await.unwrap());
}
