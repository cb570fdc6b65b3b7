//! Two processes that change the same state.

use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tool_runtime::core::{State, StateReading};
use tool_runtime::storage::{Bucket, BucketState, DirState};

use super::server::{self, Server};

const FOLDER: &str = "RACE_FOLDER";
const ENDPOINT: &str = "RACE_ENDPOINT";
const ROUNDS: u64 = 60;
const COUNTERS: [&str; 3] = ["a", "b", "c"];
const CLAIMS: usize = 40;

/// What each process does. It is a test by name only: without a place it has nothing to do.
#[tokio::test]
async fn racer() {
    if let Some(folder) = std::env::var_os(FOLDER) {
        race(&DirState::open(folder).unwrap()).await;
    }
    if let Ok(endpoint) = std::env::var(ENDPOINT) {
        let client = Arc::new(server::client(&endpoint));
        race(&BucketState::new(Bucket::of(client, "race"))).await;
    }
}

/// Counts, claims, and tells how many claims were won.
async fn race(state: &dyn State) {
    let until = SystemTime::now() + Duration::from_secs(3600);
    let mut won = 0;
    for round in 0..ROUNDS {
        for counter in COUNTERS {
            while !add(state, counter, 1).await {}
        }
        if let Ok(claim) = usize::try_from(round)
            && claim < CLAIMS
        {
            let claimed = state.claim(&format!("claim {claim}"), until).await;
            won += u64::from(claimed.unwrap());
        }
    }
    while !add(state, "won", won).await {}
}

/// Adds to a counter, unless somebody was faster.
async fn add(state: &dyn State, counter: &str, by: u64) -> bool {
    let (count, version) = match state.read(counter, None).await.unwrap() {
        StateReading::Value(value, version) => (number(&value), Some(version)),
        _ => (0, None),
    };
    let next = (count + by).to_string();
    let written = state.write(counter, version.as_ref(), next.as_bytes());
    written.await.unwrap().is_some()
}

fn number(value: &[u8]) -> u64 {
    std::str::from_utf8(value).unwrap().parse().unwrap()
}

/// Lets three processes race, and looks at what they left.
async fn run(variable: &str, place: &str, state: &dyn State) {
    let racers: Vec<_> = (0..3)
        .map(|_| {
            Command::new(std::env::current_exe().unwrap())
                .args(["buckets::race::racer", "--exact", "--nocapture"])
                .env(variable, place)
                .spawn()
                .unwrap()
        })
        .collect();
    for mut racer in racers {
        assert!(racer.wait().unwrap().success());
    }
    for (counter, expected) in COUNTERS
        .map(|counter| (counter, 3 * ROUNDS))
        .into_iter()
        .chain([("won", CLAIMS as u64)])
    {
        let read = state.read(counter, None).await.unwrap();
        let StateReading::Value(value, _) = read else {
            panic!("{counter}: {read:?}");
        };
        assert_eq!(number(&value), expected, "{counter}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn processes_on_one_folder_lose_no_update() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    let state = DirState::open(&path).unwrap();
    run(FOLDER, path.to_str().unwrap(), &state).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn processes_on_one_bucket_lose_no_update() {
    let server = Server::start();
    let state = BucketState::new(Bucket::of(Arc::new(server.client()), "race"));
    run(ENDPOINT, &server.endpoint, &state).await;
}
