//! Gateways that share a bucket, on an S3 server of this test's own.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use tool_runtime::core::{State as _, StateReading};
use tool_runtime::storage::object_store::ObjectStore;
use tool_runtime::storage::object_store::prefix::PrefixStore;
use tool_runtime::storage::{Bucket, BucketState};
use tool_runtime::{core, storage};
use tool_testkit::{artifacts, outputs};

mod approvals; // two gateways on one bucket
mod clouds; // Google's and Azure's way to ask
#[path = "../../crates/tool-storage/tests/it/buckets/harness.rs"]
mod harness; // buckets for the suites
mod killed; // writers that are killed at any moment
mod race; // two processes on one state
mod server; // the S3 server

use harness::Buckets;
use server::Server;

/// Opens buckets of which each is another prefix of one bucket of a server.
fn buckets(server: &Server) -> Buckets<impl Fn() -> (Bucket, Arc<dyn ObjectStore>) + Send + Sync> {
    let (endpoint, count) = (server.endpoint.clone(), AtomicUsize::new(0));
    Buckets::new(move || {
        let prefix = format!("p{}", count.fetch_add(1, Ordering::SeqCst));
        // Each with connections of its own, as they are used on other runtimes.
        let objects = PrefixStore::new(server::client(&endpoint), &*prefix);
        let client = Arc::new(server::client(&endpoint));
        (Bucket::of(client, &prefix), Arc::new(objects))
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn outputs_on_a_real_server_keep_every_promise() {
    let server = Server::start();
    let report = outputs::run(&buckets(&server)).await;
    assert!(report.is_good(), "\n{report}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn artifacts_on_a_real_server_keep_every_promise() {
    let server = Server::start();
    let report = artifacts::run(&buckets(&server)).await;
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
