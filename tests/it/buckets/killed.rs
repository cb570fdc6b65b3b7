//! Writers that are killed at any moment, on a server that outlives them.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tool_runtime::core::{Bound, Content, Facts, OutputStore as _, Retention};
use tool_runtime::storage::{Bucket, BucketOutputs, Limits, ManagedOutputs as _};

use super::server::{self, Server};

const ENDPOINT: &str = "KILLED_ENDPOINT";
const REPORT: &str = "stored ";
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

async fn open(bucket: Bucket, after: Duration) -> BucketOutputs {
    let limits = Limits::new(64 << 20, 64 << 30, 7 * DAY).unwrap();
    let builder = BucketOutputs::builder(bucket).limits(limits);
    let builder = builder.clock(move || SystemTime::now() + after);
    builder.open().await.unwrap()
}

/// Stores one output after the other, short ones and such as go up in parts, and reports each that
/// is stored. It is a test by name only: without a server it has nothing to do.
#[tokio::test]
async fn writer() {
    let Ok(endpoint) = std::env::var(ENDPOINT) else {
        return;
    };
    let client = Arc::new(server::client(&endpoint));
    let store = open(Bucket::of(client, "killed"), Duration::ZERO).await;
    let facts = Facts::new().session("s1");
    for round in 0.. {
        let bytes = if round % 2 == 0 { 20_000 } else { 6 << 20 };
        let content = vec![Content::text(format!("{round}\n").repeat(bytes / 2))];
        let bound = Bound::new(1_000, 100).unwrap();
        let retention = Retention::new(content, bound, &facts, "tool");
        let id = store.bound(retention).await.unwrap().retained.id;
        // The test runner may be within a line of its own.
        println!("\n{REPORT}{id}");
    }
}

/// What a writer reported that was killed after so many of its reports, at any moment of the next.
fn killed(server: &Server, reports: usize) -> Vec<String> {
    let mut writer = Command::new(std::env::current_exe().unwrap())
        .args(["buckets::killed::writer", "--exact", "--nocapture"])
        .env(ENDPOINT, &server.endpoint)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(writer.stdout.take().unwrap()).lines();
    let mut told = lines
        .map_while(Result::ok)
        .filter_map(|line| line.strip_prefix(REPORT).map(str::to_owned));
    let mut reported: Vec<_> = told.by_ref().take(reports).collect();
    for _ in 0..random_below(200_000) {
        std::hint::black_box(writer.try_wait().unwrap());
    }
    writer.kill().unwrap();
    // What it reported before the signal reached it counts too.
    reported.extend(told);
    writer.wait().unwrap();
    reported
}

/// A number that nobody chose.
fn random_below(most: u64) -> u64 {
    use std::hash::{BuildHasher as _, RandomState};
    RandomState::new().hash_one(0) % most
}

/// The files of parts of uploads that are not over.
fn parts(server: &Server) -> usize {
    let files = std::fs::read_dir(server.folder()).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.contains(".part-")).count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_writer_that_is_killed_at_any_moment_leaves_whole_outputs_and_nothing_else() {
    let server = Server::start();
    // More of them where the machine has the time.
    let kills = std::env::var("TOOL_TEST_BUCKET_KILLS").ok();
    let kills = kills.map_or(6, |kills| kills.parse().unwrap());
    let mut reported = Vec::new();
    for kill in 0..kills {
        reported.extend(killed(&server, kill % 3 + 1));
    }
    assert!(reported.len() >= kills);

    let bucket = Bucket::of(Arc::new(server.client()), "killed");
    let store = open(bucket.clone(), Duration::ZERO).await;
    let listed = store.list().await.unwrap();
    let ids: Vec<&str> = listed.iter().map(|output| &*output.id).collect();
    for id in &reported {
        assert!(ids.contains(&&**id), "{id} was reported and is lost");
    }
    // One that is whole and was not reported is one that the signal was faster than.
    assert!(listed.len() <= reported.len() + kills);
    for id in &ids {
        store.verify(id).await.unwrap();
    }
    let shown = std::fs::read_dir(server.folder().join("shared/killed/outputs")).unwrap();
    assert_eq!(
        shown.count(),
        listed.len(),
        "nothing is there that is not listed"
    );

    // A day later whoever starts next has everything else undone.
    let later = DAY + Duration::from_secs(60);
    let next = open(bucket, later).await;
    next.sweep(SystemTime::now() + later).await.unwrap();
    assert_eq!(parts(&server), 0, "space is returned");
    assert_eq!(next.list().await.unwrap().len(), listed.len());
}
