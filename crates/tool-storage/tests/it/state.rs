//! State in a directory: conditional writes, claims, and what is not its own.

use std::time::{Duration, SystemTime};

use tool_core::{State as _, StateReading};
use tool_storage::DirState;
use tool_testkit::state::{self, StateHarness};

/// Folders with states in them.
#[derive(Default)]
struct Folders(std::sync::Mutex<Vec<tempfile::TempDir>>);

impl StateHarness for Folders {
    type State = DirState;

    fn open(&self) -> DirState {
        let folder = tempfile::tempdir().unwrap();
        let state = DirState::open(folder.path()).unwrap();
        self.0.lock().unwrap().push(folder);
        state
    }

    /// The state that was opened last, which is the one that a case is about.
    fn reopen(&self, _state: &DirState) -> Option<DirState> {
        let folders = self.0.lock().unwrap();
        Some(DirState::open(folders.last().unwrap().path()).unwrap())
    }
}

#[test]
fn a_directory_keeps_what_every_state_promises() {
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.build().unwrap();
    let report = runtime.block_on(state::run(&Folders::default()));
    assert!(report.is_good(), "{report}");
    let applies = |(_, verdict): &(_, state::Verdict)| *verdict == state::Verdict::Passed;
    assert!(report.cases().iter().all(applies), "{report}");
}

#[test]
fn of_writers_at_once_each_change_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = || {
        tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap()
    };
    let writers = (0..4).map(|_| {
        let state = DirState::open(folder.path()).unwrap();
        std::thread::spawn(move || {
            for _ in 0..10 {
                loop {
                    let read = runtime().block_on(state.read("count", None)).unwrap();
                    let (count, version) = match read {
                        StateReading::Value(value, version) => (value.len(), Some(version)),
                        _ => (0, None),
                    };
                    let next = vec![b'x'; count + 1];
                    let written = state.write("count", version.as_ref(), &next);
                    if runtime().block_on(written).unwrap().is_some() {
                        break;
                    }
                }
            }
        })
    });
    let writers: Vec<_> = writers.collect();
    for writer in writers {
        writer.join().unwrap();
    }
    let state = DirState::open(folder.path()).unwrap();
    let read = runtime().block_on(state.read("count", None)).unwrap();
    let StateReading::Value(value, version) = read else {
        panic!("{read:?}");
    };
    assert_eq!(value.len(), 40);
    let again = runtime().block_on(state.read("count", Some(&version)));
    assert_eq!(again.unwrap(), StateReading::Unchanged);
}

#[tokio::test]
async fn a_key_is_claimed_once_and_a_forgotten_one_is_never_new() {
    let folder = tempfile::tempdir().unwrap();
    let state = DirState::open(folder.path()).unwrap();
    let later = SystemTime::now() + Duration::from_secs(3600);
    assert!(state.claim("a", later).await.unwrap());
    assert!(!state.claim("a", later).await.unwrap());
    assert!(state.claim("b", later).await.unwrap());

    let past = SystemTime::now() - Duration::from_secs(3600);
    assert!(state.claim("old", past).await.unwrap());
    let reopened = DirState::open(folder.path()).unwrap();
    assert!(!reopened.claim("old", past).await.unwrap());
    assert!(!reopened.claim("a", later).await.unwrap());
}

#[tokio::test]
async fn what_is_no_value_of_the_state_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let state = DirState::open(folder.path()).unwrap();
    state.write("key", None, b"value").await.unwrap();
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let path = entry.unwrap().path();
        if path
            .file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .starts_with("v-")
        {
            std::fs::write(path, "garbage").unwrap();
        }
    }
    let error = state.read("key", None).await.unwrap_err();
    assert_eq!(error.to_string(), "state could not be read or written");
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert!(cause.contains("could not be read"), "{cause}");
}

#[tokio::test]
async fn a_value_that_is_too_long_is_refused_and_never_cut() {
    const MOST: usize = 64 * 1024 * 1024;
    let folder = tempfile::tempdir().unwrap();
    let state = DirState::open(folder.path()).unwrap();
    let mut value = vec![b'x'; MOST + 1];
    let error = state.write("key", None, &value).await.unwrap_err();
    let mut cause = std::error::Error::source(&error);
    let mut said = String::new();
    while let Some(error) = cause {
        said = error.to_string();
        cause = error.source();
    }
    assert_eq!(said, "a value of more than 67108864 bytes is not kept");
    assert_eq!(state.read("key", None).await.unwrap(), StateReading::Absent);

    value.pop();
    let version = state.write("key", None, &value).await.unwrap();
    let StateReading::Value(read, again) = state.read("key", None).await.unwrap() else {
        panic!("it was kept");
    };
    assert_eq!((read.len(), Some(again)), (MOST, version));

    // What another program has made longer is not read as if it were whole.
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let path = entry.unwrap().path();
        if path
            .file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .starts_with("v-")
        {
            use std::io::Write as _;
            let mut file = std::fs::OpenOptions::new().append(true).open(path).unwrap();
            file.write_all(b"y").unwrap();
        }
    }
    assert!(state.read("key", None).await.is_err());
}
