use std::num::NonZeroUsize;
use std::sync::Arc;

use futures_util::TryStreamExt as _;
use tempfile::TempDir;
use tool_core::{
    ArtifactQuery, ArtifactStore as _, Bound, Content, Facts, OutputStore as _, PageRequest,
    Retention, StoreError, StoreErrorKind,
};
use tool_storage::object_store::local::LocalFileSystem;
use tool_storage::object_store::memory::InMemory;
use tool_storage::object_store::path::Path;
use tool_storage::object_store::{ObjectStore, ObjectStoreExt as _};
use tool_storage::{Bucket, BucketArtifacts, BucketOutputs};
use tool_testkit::{artifacts, outputs};
use {tool_core as core, tool_storage as storage};

use self::harness::Buckets;
use crate::artifacts::put;
use crate::fixture::{Clock, session};

mod costs; // how many names are asked for
mod faults; // requests that fail
pub(crate) mod harness; // buckets for the suites
mod lives; // pins, leftovers and what is cheap

/// An object store in memory, and a bucket in it.
fn memory() -> (Bucket, Arc<dyn ObjectStore>) {
    let store = Arc::new(InMemory::new());
    (Bucket::of(Arc::clone(&store), "gateway/state"), store)
}

/// Buckets in one folder, each under a prefix of its own.
fn local(dir: &TempDir) -> impl Fn() -> (Bucket, Arc<dyn ObjectStore>) + Send + Sync + use<> {
    let root = dir.path().to_owned();
    let count = std::sync::atomic::AtomicUsize::new(0);
    move || {
        let at = count.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        let root = root.join(at.to_string());
        std::fs::create_dir(&root).unwrap();
        let store: Arc<dyn ObjectStore> = Arc::new(LocalFileSystem::new_with_prefix(root).unwrap());
        (Bucket::without_parts(Arc::clone(&store), "b"), store)
    }
}

/// All objects of a store, by their names.
async fn names(store: &Arc<dyn ObjectStore>) -> Vec<String> {
    let all: Vec<_> = store.list(None).try_collect().await.unwrap();
    let mut names: Vec<String> = all.iter().map(|meta| meta.location.to_string()).collect();
    names.sort();
    names
}

/// Retains a text of so many bytes.
async fn keep(
    store: &BucketOutputs,
    facts: &Facts,
    bytes: usize,
) -> Result<tool_core::Bounded, StoreError> {
    let content = vec![Content::text("x".repeat(bytes))];
    let bound = Bound::new(1_000, 100).unwrap();
    store
        .bound(Retention::new(content, bound, facts, "shell"))
        .await
}

#[tokio::test]
async fn a_store_in_memory_keeps_every_promise() {
    let harness = Buckets::new(memory);
    let report = outputs::run(&harness).await;
    assert!(report.is_good(), "\n{report}");
    let report = artifacts::run(&harness).await;
    assert!(report.is_good(), "\n{report}");
}

#[tokio::test]
async fn a_store_in_a_folder_of_objects_keeps_every_promise() {
    let dir = tempfile::tempdir().unwrap();
    let harness = Buckets::new(local(&dir));
    let report = outputs::run(&harness).await;
    assert!(report.is_good(), "\n{report}");
    let report = artifacts::run(&harness).await;
    assert!(report.is_good(), "\n{report}");
}

#[tokio::test]
async fn a_forgotten_artifact_leaves_the_bucket_with_the_next_write() {
    let (bucket, objects) = memory();
    let store = BucketArtifacts::new(bucket);
    let facts = session("s");
    let gone = put(&store, &facts, "gone").await;
    let stays = put(&store, &facts, "stays").await;
    let query = ArtifactQuery::new().limit(NonZeroUsize::MIN);
    let first = store.list(&facts, query.clone()).await.unwrap();
    assert_eq!(first.artifacts[0].reference, stays);
    store.forget(&facts, gone.as_str());
    // Also where the bucket is not asked, as all that follows is known.
    let rest = store.list(&facts, query.after(first.next)).await.unwrap();
    assert_eq!(rest.artifacts, []);
    // And where it is asked, and has it still.
    let anew = store.list(&facts, ArtifactQuery::new()).await.unwrap();
    assert_eq!(anew.artifacts, first.artifacts);
    assert_eq!(names(&objects).await.len(), 2);
    let newer = put(&store, &facts, "newer").await;
    assert_eq!(names(&objects).await.len(), 2);
    let listed = store.list(&facts, ArtifactQuery::new()).await.unwrap();
    let listed: Vec<_> = listed
        .artifacts
        .iter()
        .map(|meta| &meta.reference)
        .collect();
    assert_eq!(listed, [&newer, &stays]);
}

#[tokio::test]
async fn an_output_is_one_object_under_a_name_that_tells_nothing() {
    let (bucket, objects) = memory();
    let store = BucketOutputs::builder(bucket.clone()).open().await.unwrap();
    let facts = session("secret-session");
    let id = keep(&store, &facts, 2_000).await.unwrap().retained.id;
    assert_eq!(
        names(&objects).await,
        [format!("gateway/state/outputs/{id}")]
    );

    // A large one goes up in parts, and leaves no note.
    let id = keep(&store, &facts, 11 << 20).await.unwrap().retained.id;
    assert!(
        names(&objects)
            .await
            .contains(&format!("gateway/state/outputs/{id}"))
    );
    assert_eq!(names(&objects).await.len(), 2);
    let page = store.page(PageRequest::new(&id, Some(&facts)).offset(5 << 20));
    assert_eq!(page.await.unwrap().total, 11 << 20);
}

#[tokio::test]
async fn an_output_that_is_written_while_it_is_made_is_whole_or_not_there() {
    let (bucket, objects) = memory();
    let store = BucketOutputs::builder(bucket).open().await.unwrap();
    let facts = session("s1");
    let line = "0123456789\n".repeat(1_000);
    let mut output = store.begin(&facts, "shell", Bound::DEFAULT);
    for _ in 0..1_000 {
        output.write(&line).await.unwrap();
    }
    // Two parts are up, and nothing is seen but the note of that.
    let seen = names(&objects).await;
    assert_eq!(seen.len(), 1, "{seen:?}");
    assert!(seen[0].starts_with("gateway/state/uploads/"), "{seen:?}");
    let bounded = output.finish().await.unwrap();
    assert_eq!(bounded.retained.lines, 1_000_000);
    assert_eq!(bounded.content.len(), 3);
    assert_eq!(names(&objects).await.len(), 1);

    let mut dropped = store.begin(&facts, "shell", Bound::DEFAULT);
    for _ in 0..1_000 {
        dropped.write(&line).await.unwrap();
    }
    drop(dropped);
    store.sweep(std::time::SystemTime::now()).await.unwrap();
    assert_eq!(names(&objects).await.len(), 1);

    // An empty one is one too.
    let empty = store.begin(&facts, "shell", Bound::DEFAULT);
    let id = empty.finish().await.unwrap().retained.id;
    let page = store
        .page(PageRequest::new(&id, Some(&facts)))
        .await
        .unwrap();
    assert_eq!((page.total, page.next), (0, None));
}

#[tokio::test]
async fn a_damaged_output_is_an_error_and_never_read_as_whole() {
    let (bucket, objects) = memory();
    let store = BucketOutputs::builder(bucket.clone()).open().await.unwrap();
    let facts = session("s1");
    let id = keep(&store, &facts, 2_000).await.unwrap().retained.id;
    let path = Path::from(format!("gateway/state/outputs/{id}"));
    let whole = objects.get(&path).await.unwrap().bytes().await.unwrap();
    objects
        .put(&path, whole.slice(..whole.len() - 1).into())
        .await
        .unwrap();

    let other = BucketOutputs::builder(bucket).open().await.unwrap();
    let error = other
        .page(PageRequest::new(&id, Some(&facts)))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Io);
    assert!(error.to_string().contains("is damaged"), "{error}");
    assert!(other.list().await.unwrap().is_empty());
    other.remove(&id).await.unwrap();
    assert!(!names(&objects).await.contains(&path.to_string()));
}

#[test]
fn urls_that_lead_to_no_bucket_say_how_to_go_on() {
    for (url, says) in [
        ("folder", "no URL"),
        ("file:///var/state", "DirStore"),
        ("ftp://host/x", "s3://"),
        ("s3://key:secret@bucket/x", "environment"),
        ("memory:///x?token=secret", "environment"),
    ] {
        let error = Bucket::from_url(url).unwrap_err().to_string();
        assert!(error.contains(says), "{url}: {error}");
        assert!(!error.contains("secret"), "{url}: {error}");
    }
    #[cfg(not(feature = "gcs"))]
    {
        let error = Bucket::from_url("gs://bucket/x").unwrap_err().to_string();
        assert!(error.contains("feature gcs"), "{error}");
    }
}
