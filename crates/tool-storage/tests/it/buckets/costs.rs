//! How many names are asked for.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use async_trait::async_trait;
use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use tool_core::{
    ArtifactQuery, ArtifactStore as _, Bound, BoxFuture, Content, Facts, OutputStore as _,
    Retention, StoreErrorKind,
};
use tool_storage::object_store::memory::InMemory;
use tool_storage::object_store::path::Path;
use tool_storage::object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use tool_storage::{Bucket, BucketArtifacts, BucketOutputs, Limits};

use crate::artifacts::put;
use crate::fixture::{DAY, session};

/// A store in memory that counts the names that its lists give.
/// Before it lists the outputs it does what another gateway does at this moment.
#[derive(Default)]
struct Counting {
    store: Arc<InMemory>,
    names: Arc<AtomicUsize>,
    first: Meanwhile,
}

type Meanwhile = Arc<Mutex<Option<BoxFuture<'static, ()>>>>;

impl std::fmt::Debug for Counting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Counting")
    }
}

impl std::fmt::Display for Counting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Counting")
    }
}

#[async_trait]
impl ObjectStore for Counting {
    async fn put_opts(
        &self,
        path: &Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> Result<PutResult> {
        self.store.put_opts(path, payload, options).await
    }

    async fn put_multipart_opts(
        &self,
        path: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.store.put_multipart_opts(path, options).await
    }

    async fn get_opts(&self, path: &Path, options: GetOptions) -> Result<GetResult> {
        self.store.get_opts(path, options).await
    }

    fn delete_stream(
        &self,
        paths: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        self.store.delete_stream(paths)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        let names = Arc::clone(&self.names);
        let is_of_outputs = prefix.is_some_and(|it| it.as_ref().ends_with("outputs"));
        let first = is_of_outputs.then(|| self.first.lock().unwrap().take());
        let (store, prefix) = (Arc::clone(&self.store), prefix.cloned());
        let listed = async move {
            if let Some(first) = first.flatten() {
                first.await;
            }
            store.list(prefix.as_ref())
        };
        let listed = futures_util::stream::once(listed).flatten();
        let listed = listed.inspect(move |_| {
            names.fetch_add(1, Ordering::SeqCst);
        });
        listed.boxed()
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.store.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.store.copy_opts(from, to, options).await
    }
}

fn bucket() -> (Bucket, Arc<AtomicUsize>) {
    let store = Counting::default();
    let names = Arc::clone(&store.names);
    (Bucket::without_parts(Arc::new(store), "b"), names)
}

async fn keep(store: &BucketOutputs, facts: &Facts) {
    let content = vec![Content::text("x".repeat(100))];
    let bound = Bound::new(10, 1).unwrap();
    let retention = Retention::new(content, bound, facts, "shell");
    store.bound(retention).await.unwrap();
}

#[tokio::test]
async fn making_room_in_a_full_store_does_not_ask_for_all_names_each_time() {
    const OUTPUTS: usize = 200;
    let (bucket, names) = bucket();
    let limits = Limits::new(100, 100 * OUTPUTS as u64, 7 * DAY).unwrap();
    let builder = BucketOutputs::builder(bucket).limits(limits);
    let (store, facts) = (builder.open().await.unwrap(), Facts::new());
    for _ in 0..OUTPUTS {
        keep(&store, &facts).await;
    }
    store.sweep(SystemTime::now()).await.unwrap();
    names.store(0, Ordering::SeqCst);
    for _ in 0..OUTPUTS {
        keep(&store, &facts).await;
    }
    // Each of them has made room, and every eighth part of them has looked who else was there.
    let asked = names.load(Ordering::SeqCst);
    assert!(asked <= 9 * OUTPUTS, "{asked} names for {OUTPUTS} outputs");
    assert_eq!(store.list().await.unwrap().len(), OUTPUTS);
}

#[tokio::test]
async fn room_that_another_gateway_fills_is_found_before_an_output_is_refused() {
    let (bucket, _) = bucket();
    let limits = Limits::new(100, 300, 7 * DAY).unwrap();
    let open = || BucketOutputs::builder(bucket.clone()).limits(limits).open();
    let (one, other) = (open().await.unwrap(), open().await.unwrap());
    let facts = Facts::new();
    for _ in 0..3 {
        keep(&one, &facts).await;
    }
    // The other knows of none of them, and then of none that it could remove.
    for _ in 0..5 {
        keep(&other, &facts).await;
    }
    other.sweep(SystemTime::now()).await.unwrap();
    assert_eq!(other.list().await.unwrap().len(), 3);
    // Those that the first knows are gone, whose removal is agreed to.
    for _ in 0..3 {
        keep(&one, &facts).await;
    }
    one.sweep(SystemTime::now()).await.unwrap();
    assert_eq!(one.list().await.unwrap().len(), 3);
}

#[tokio::test]
async fn no_room_is_made_of_a_session_that_has_become_live_meanwhile() {
    let store = Counting::default();
    let meanwhile = Arc::clone(&store.first);
    let bucket = Bucket::without_parts(Arc::new(store), "b");
    let limits = Limits::new(100, 100, 7 * DAY).unwrap();
    let open = || BucketOutputs::builder(bucket.clone()).limits(limits).open();
    let (one, other) = (open().await.unwrap(), open().await.unwrap());
    let pinned = (one.pin_session("a"), other.pin_session("b"));
    keep(&one, &session("a")).await;
    // One leaves at its wish, and another comes.
    let first = async move {
        other.remove_all(&session("a")).await.unwrap();
        keep(&other, &session("b")).await;
    };
    *meanwhile.lock().unwrap() = Some(Box::pin(first));
    let content = vec![Content::text("x".repeat(100))];
    let facts = Facts::new();
    let retention = Retention::new(content, Bound::new(10, 1).unwrap(), &facts, "shell");
    let refused = one.bound(retention).await.unwrap_err();
    assert_eq!(refused.kind(), StoreErrorKind::TooLarge);
    assert!(meanwhile.lock().unwrap().is_none());
    assert_eq!(one.list().await.unwrap().len(), 1);
    drop(pinned);
}

#[tokio::test]
async fn a_list_goes_on_at_a_gateway_that_did_not_begin_it() {
    let (bucket, names) = bucket();
    let open = || BucketArtifacts::new(bucket.clone());
    let (one, other, facts) = (open(), open(), session("s"));
    let query = |after| {
        ArtifactQuery::new()
            .limit(2.try_into().unwrap())
            .after(after)
    };
    assert!(
        { other.list(&facts, query(None)).await }
            .unwrap()
            .artifacts
            .is_empty()
    );
    for text in ["1", "2", "3"] {
        put(&one, &facts, text).await;
    }
    // Which has itself put what the first page begins with.
    let newest = put(&other, &facts, "4").await;
    let page = one.list(&facts, query(None)).await.unwrap();
    assert_eq!(page.artifacts[0].reference, newest);
    let rest = other.list(&facts, query(page.next)).await.unwrap();
    assert_eq!((rest.artifacts.len(), rest.next), (2, None));

    let query = |after| {
        ArtifactQuery::new()
            .limit(1.try_into().unwrap())
            .after(after)
    };
    let newest = put(&other, &facts, "5").await;
    put(&one, &facts, "6").await;
    let page = one.list(&facts, query(None)).await.unwrap();
    let page = one.list(&facts, query(page.next)).await.unwrap();
    assert_eq!(page.artifacts[0].reference, newest);
    names.store(0, Ordering::SeqCst);
    let page = other.list(&facts, query(page.next)).await.unwrap();
    assert_eq!(page.artifacts.len(), 1);
    assert_eq!(names.load(Ordering::SeqCst), 6, "it had not read that far");
    other.list(&facts, query(page.next)).await.unwrap();
    assert_eq!(names.load(Ordering::SeqCst), 6, "it has");
}

#[tokio::test]
async fn a_list_asks_for_all_names_once_however_many_pages_it_has() {
    const ARTIFACTS: usize = 30;
    let (bucket, names) = bucket();
    let (store, facts) = (BucketArtifacts::new(bucket), session("s"));
    for number in 0..ARTIFACTS {
        put(&store, &facts, &number.to_string()).await;
    }
    names.store(0, Ordering::SeqCst);
    let (mut seen, mut after) = (0, None);
    loop {
        let query = ArtifactQuery::new()
            .limit(7.try_into().unwrap())
            .after(after);
        let page = store.list(&facts, query).await.unwrap();
        seen += page.artifacts.len();
        // What is put meanwhile stands before the beginning.
        put(&store, &facts, "between").await;
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(seen, ARTIFACTS);
    assert_eq!(names.load(Ordering::SeqCst), ARTIFACTS);
}
