use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use tool_core::{State as _, StateReading};

use super::{Failing, Faults, Op, block_on, fail_each_operation};
use crate::DirState;

/// What a life was told.
#[derive(Debug, Default)]
struct Told {
    /// The value that was last reported as written, and one that may have been after it.
    written: Option<Vec<u8>>,
    perhaps: Vec<Vec<u8>>,
    /// Whether the claim was granted, and how often.
    granted: usize,
    tried: usize,
}

fn until() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(4_000_000_000)
}

async fn live(state: &DirState, told: &mut Told) {
    let mut version = None;
    for value in [&b"one"[..], b"two", b"three"] {
        match state.write("key", version.as_ref(), value).await {
            Ok(Some(next)) => {
                told.written = Some(value.to_vec());
                told.perhaps.clear();
                version = Some(next);
            }
            // An earlier write took effect and could not be reported.
            Ok(None) => assert!(!told.perhaps.is_empty()),
            Err(_) => told.perhaps.push(value.to_vec()),
        }
    }
    for _ in 0..2 {
        told.tried += 1;
        if let Ok(true) = state.claim("claim", until()).await {
            told.granted += 1;
        }
    }
}

fn life(root: &Path, faults: Faults) -> Told {
    let mut told = Told::default();
    // A claim whose moment has passed is there to be forgotten.
    let folder = root.join("state");
    let state = DirState::open(&folder).unwrap();
    let past = SystemTime::UNIX_EPOCH + Duration::from_secs(10);
    assert!(block_on(state.claim("past", past)).unwrap());
    if let Ok(state) = DirState::open_with(&folder, faults) {
        block_on(live(&state, &mut told));
    }
    told
}

fn check(root: &Path, failing: Failing, told: &Told) {
    let state = DirState::open(root.join("state")).unwrap();
    let found = match block_on(state.read("key", None)).unwrap() {
        StateReading::Value(value, _) => Some(value),
        StateReading::Absent | StateReading::Unchanged => None,
    };
    let is_known =
        found == told.written || found.is_some_and(|value| told.perhaps.contains(&value));
    assert!(is_known, "{failing:?}: {told:?}");

    assert!(told.granted <= 1, "{failing:?}: a claim was granted twice");
    let again = block_on(state.claim("claim", until())).unwrap();
    assert!(!(again && told.granted == 1), "{failing:?}: granted twice");
    let past = SystemTime::UNIX_EPOCH + Duration::from_secs(10);
    assert!(!block_on(state.claim("past", past)).unwrap(), "{failing:?}");
    let names = fs::read_dir(root.join("state")).unwrap().map(|entry| {
        let name = entry.unwrap().file_name();
        name.into_string().unwrap()
    });
    for name in names {
        let is_known = ["lock", "forgotten"].contains(&&*name)
            || name.starts_with("v-")
            || name.starts_with("c-");
        assert!(is_known, "{failing:?} leaves {name}");
    }
}

#[test]
fn whichever_operation_fails_a_value_is_old_or_new_and_a_claim_is_granted_once() {
    let operations = fail_each_operation(life, check);
    for op in [
        Op::Open,
        Op::Read,
        Op::Write,
        Op::Sync,
        Op::Rename,
        Op::Remove,
    ] {
        assert!(operations.contains(&op), "no {op:?} was failed");
    }
}
