//! State in a bucket: conditional writes, claims, and what is not its own.

use std::sync::{Arc, Mutex};
use std::task::{Context, Waker};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use tool_core::{BoxFuture, Digest, ErrorChain, State as _, StateReading, StateVersion};
use tool_storage::object_store::local::LocalFileSystem;
use tool_storage::object_store::memory::InMemory;
use tool_storage::object_store::path::Path;
use tool_storage::object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, ObjectStoreExt as _, PutMultipartOptions, PutOptions, PutPayload, PutResult,
    Result,
};
use tool_storage::{Bucket, BucketState};

fn later() -> SystemTime {
    SystemTime::now() + Duration::from_secs(3600)
}

fn state() -> (BucketState, Arc<InMemory>) {
    let store = Arc::new(InMemory::new());
    (BucketState::new(Bucket::of(Arc::clone(&store), "b")), store)
}

#[tokio::test]
async fn of_writers_at_once_each_change_is_kept() {
    let (_, store) = state();
    let writers = (0..4).map(|_| {
        let state = BucketState::new(Bucket::of(Arc::clone(&store), "b"));
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .build()
                .unwrap();
            runtime.block_on(async {
                for _ in 0..25 {
                    while !add_one(&state).await {}
                }
            });
        })
    });
    let writers: Vec<_> = writers.collect();
    for writer in writers {
        writer.join().unwrap();
    }
    let state = BucketState::new(Bucket::of(store, "b"));
    let StateReading::Value(value, version) = state.read("count", None).await.unwrap() else {
        panic!("nothing is there");
    };
    assert_eq!(value, b"100");
    let again = state.read("count", Some(&version)).await.unwrap();
    assert_eq!(again, StateReading::Unchanged);
}

/// Adds one, unless somebody was faster.
async fn add_one(state: &BucketState) -> bool {
    let (count, version) = match state.read("count", None).await.unwrap() {
        StateReading::Value(value, version) => {
            let text = String::from_utf8(value).unwrap();
            (text.parse::<u64>().unwrap(), Some(version))
        }
        _ => (0, None),
    };
    let next = (count + 1).to_string();
    let written = state.write("count", version.as_ref(), next.as_bytes());
    written.await.unwrap().is_some()
}

#[tokio::test]
async fn a_value_that_comes_back_has_another_version() {
    let (state, _) = state();
    let first = state.write("key", None, b"same").await.unwrap().unwrap();
    let second = state
        .write("key", Some(&first), b"same")
        .await
        .unwrap()
        .unwrap();
    assert_ne!(first, second);
    assert!(
        state
            .write("key", Some(&first), b"x")
            .await
            .unwrap()
            .is_none()
    );
    assert!(state.write("key", None, b"x").await.unwrap().is_none());
    let read = state.read("key", Some(&first)).await.unwrap();
    assert_eq!(read, StateReading::Value(b"same".to_vec(), second));
    let never = StateVersion::new("\"never\"");
    assert!(
        state
            .write("other", Some(&never), b"x")
            .await
            .unwrap()
            .is_none()
    );
    assert_eq!(
        state.read("other", None).await.unwrap(),
        StateReading::Absent
    );
}

#[tokio::test]
async fn a_key_is_claimed_once_and_a_forgotten_one_is_never_new() {
    let (state, store) = state();
    let later = later();
    assert!(state.claim("a", later).await.unwrap());
    assert!(!state.claim("a", later).await.unwrap());
    assert!(state.claim("b", later).await.unwrap());

    let past = SystemTime::now() - Duration::from_secs(3600);
    assert!(state.claim("old", past).await.unwrap());
    let reopened = BucketState::new(Bucket::of(Arc::clone(&store), "b"));
    reopened.sweep().await.unwrap();
    reopened.sweep().await.unwrap();
    assert!(!reopened.claim("old", past).await.unwrap());
    assert!(!reopened.claim("a", later).await.unwrap());
    assert!(reopened.claim("c", later).await.unwrap());
}

/// A store in memory whose every request waits once, so that requests of others can come between.
struct Halting {
    store: Arc<InMemory>,
    /// What another does once the first put is made, and what the client tells of that put, as its
    /// answer is lost.
    lost: Mutex<Option<(BoxFuture<'static, ()>, Error)>>,
}

impl Halting {
    fn new(store: Arc<InMemory>) -> Self {
        Self {
            store,
            lost: Mutex::default(),
        }
    }

    fn losing(store: Arc<InMemory>, meanwhile: BoxFuture<'static, ()>, told: Error) -> Self {
        Self {
            store,
            lost: Mutex::new(Some((meanwhile, told))),
        }
    }
}

impl std::fmt::Debug for Halting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Halting")
    }
}

impl std::fmt::Display for Halting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Halting")
    }
}

#[async_trait]
impl ObjectStore for Halting {
    async fn put_opts(
        &self,
        path: &Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> Result<PutResult> {
        tokio::task::yield_now().await;
        let put = self.store.put_opts(path, payload, options).await;
        let lost = self.lost.lock().unwrap().take();
        let Some((meanwhile, told)) = lost else {
            return put;
        };
        put?;
        meanwhile.await;
        Err(told)
    }

    async fn put_multipart_opts(
        &self,
        path: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.store.put_multipart_opts(path, options).await
    }

    async fn get_opts(&self, path: &Path, options: GetOptions) -> Result<GetResult> {
        tokio::task::yield_now().await;
        self.store.get_opts(path, options).await
    }

    fn delete_stream(
        &self,
        paths: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        let halt = futures_util::stream::once(tokio::task::yield_now());
        let halt = halt.filter_map(async |()| None);
        halt.chain(self.store.delete_stream(paths)).boxed()
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.store.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.store.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.store.copy_opts(from, to, options).await
    }
}

#[tokio::test]
async fn a_sweep_that_comes_late_takes_no_claim_that_was_made_meanwhile() {
    let past = SystemTime::now() - Duration::from_secs(3600);
    let later = later();
    let mut halts = 0;
    loop {
        let (state, store) = state();
        assert!(state.claim("key", past).await.unwrap());
        let halting = Arc::new(Halting::new(Arc::clone(&store)));
        let late = BucketState::new(Bucket::without_parts(halting, "b"));
        let mut sweep = Box::pin(late.sweep());
        let mut cx = Context::from_waker(Waker::noop());
        // It halts after each request in turn.
        if (0..=halts).any(|_| sweep.as_mut().poll(&mut cx).is_ready()) {
            break;
        }
        // Meanwhile another sweeps, and the key is claimed anew.
        state.sweep().await.unwrap();
        assert!(state.claim("key", later).await.unwrap(), "{halts}");
        sweep.await.unwrap();
        assert!(!state.claim("key", later).await.unwrap(), "{halts}");
        assert!(!state.claim("key", past).await.unwrap(), "{halts}");
        halts += 1;
    }
    assert!(halts >= 2, "it halts where it reads and where it writes");
}

/// The first two letters of the digest of a key: claims with the same ones share an object.
fn shard(key: &str) -> String {
    Digest::of(key.as_bytes()).hex()[..2].to_owned()
}

#[tokio::test]
async fn a_claim_whose_answer_was_lost_is_known_again_in_what_another_wrote_over_it() {
    let (other, store) = state();
    let beside = (0..).map(|number: u32| number.to_string());
    let beside = beside.into_iter().find(|it| shard(it) == shard("key"));
    let beside = beside.unwrap();
    // The client sends it again, and the store answers that.
    let told = lost().into_iter().next().unwrap();
    let (claims, key) = (other.clone(), beside.clone());
    let overtaking = async move { assert!(claims.claim(&key, later()).await.unwrap()) };
    let halting = Halting::losing(Arc::clone(&store), Box::pin(overtaking), told);
    let state = BucketState::new(Bucket::without_parts(Arc::new(halting), "b"));
    let later = later();
    assert!(state.claim("key", later).await.unwrap(), "it was its own");
    for again in [&state, &other] {
        assert!(!again.claim("key", later).await.unwrap());
        assert!(!again.claim(&beside, later).await.unwrap());
    }
}

#[tokio::test]
async fn a_shard_that_does_not_read_is_named_and_holds_up_no_other() {
    let (state, store) = state();
    let past = SystemTime::now() - Duration::from_secs(3600);
    let keys = (0..2_000_u32).map(|number| number.to_string());
    let mut keys = keys.map(|key| (shard(&key), key));
    let first = keys.find(|(shard, _)| shard == "00").unwrap();
    let last = keys.find(|(shard, _)| shard == "ff").unwrap();
    let middle = Path::from("b/state/claims/7f");
    assert!(state.claim(&first.1, past).await.unwrap());
    assert!(state.claim(&last.1, past).await.unwrap());
    for garbage in ["garbage", "0123456789abcdef\n1\nno claim\n"] {
        store.put(&middle, garbage.into()).await.unwrap();
        let error = state.sweep().await.unwrap_err();
        let said = ErrorChain::of(&error).to_string();
        assert!(
            said.contains(
                "\"state/claims/7f\" does not read; put an earlier version of it back, or"
            ),
            "{said}"
        );
    }
    for (shard, key) in [&first, &last] {
        let path = Path::from(format!("b/state/claims/{shard}"));
        let bytes = store.get(&path).await.unwrap().bytes().await.unwrap();
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        assert!(!text.contains(&Digest::of(key.as_bytes()).hex()), "{text}");
    }

    // What others left beside them is not looked at.
    store.delete(&middle).await.unwrap();
    for name in ["7F", "7f.bak", "old/7f"] {
        let path = Path::from(format!("b/state/claims/{name}"));
        store.put(&path, "garbage".into()).await.unwrap();
    }
    state.sweep().await.unwrap();
}

#[tokio::test]
async fn claims_beside_each_other_are_all_kept() {
    let (_, store) = state();
    let later = later();
    let halting = Arc::new(Halting::new(store));
    let state = BucketState::new(Bucket::without_parts(halting, "b"));
    // More than there are objects, so that many share one; each is tried by two at once.
    let keys: Vec<String> = (0..400).map(|number| format!("key {number}")).collect();
    let claims = keys.iter().chain(&keys).map(|key| state.claim(key, later));
    let claimed = futures_util::future::join_all(claims).await;
    let won = claimed.into_iter().filter(|it| *it.as_ref().unwrap());
    assert_eq!(won.count(), keys.len());
    for key in &keys {
        assert!(!state.claim(key, later).await.unwrap(), "{key}");
    }
}

#[tokio::test]
async fn what_is_no_value_of_the_state_is_an_error() {
    let (state, store) = state();
    state.write("key", None, b"value").await.unwrap();
    use futures_util::TryStreamExt as _;
    let all: Vec<_> = store.list(None).try_collect().await.unwrap();
    let [only] = &all[..] else {
        panic!("{all:?}");
    };
    assert!(!only.location.as_ref().contains("key"));
    let path: Path = only.location.clone();
    store.put(&path, "garbage".into()).await.unwrap();
    let error = state.read("key", None).await.unwrap_err();
    assert_eq!(error.to_string(), "state could not be read or written");
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert!(cause.contains("InMemory/b could not be read"), "{cause}");
    let said = ErrorChain::of(&error).to_string();
    let name = path.as_ref().trim_start_matches("b/");
    assert!(
        said.contains(&format!("\"{name}\" does not read; ")),
        "{said}"
    );
    assert!(
        said.ends_with("put an earlier version of it back, or remove it"),
        "{said}"
    );
}

#[tokio::test]
async fn a_store_without_conditions_is_an_error_and_never_a_lost_update() {
    let dir = tempfile::tempdir().unwrap();
    let store = LocalFileSystem::new_with_prefix(dir.path()).unwrap();
    let state = BucketState::new(Bucket::without_parts(Arc::new(store), "b"));
    let read = state.write("key", None, b"one").await;
    let first = read.map_err(|error| ErrorChain::of(&error).to_string());
    // It can tell whether something is there, and gives tags, but puts under no other condition.
    let first = first.unwrap().unwrap();
    let error = state.write("key", Some(&first), b"two").await.unwrap_err();
    let said = ErrorChain::of(&error).to_string();
    assert!(said.contains("no conditional puts"), "{said}");
    let StateReading::Value(value, _) = state.read("key", None).await.unwrap() else {
        panic!("nothing is there");
    };
    assert_eq!(value, b"one");
}

/// What a client tells of a put whose answer was lost: that somebody was faster, where it sent it
/// again, or that it has no answer.
fn lost() -> [Error; 3] {
    let path = || "b/state/values/x".to_owned();
    [
        Error::Precondition {
            path: path(),
            source: "another version is there".into(),
        },
        Error::AlreadyExists {
            path: path(),
            source: "it is there".into(),
        },
        Error::Generic {
            store: "Halting",
            source: "the connection was reset".into(),
        },
    ]
}

#[tokio::test]
async fn a_value_whose_answer_was_lost_is_known_again_whoever_wrote_over_it() {
    for (error, is_overtaken) in lost()
        .into_iter()
        .zip([false; 3])
        .chain(lost().into_iter().zip([true; 3]))
    {
        let (other, store) = state();
        let said = error.to_string();
        let first = other.write("key", None, b"first").await.unwrap();
        let over = other.clone();
        let overtaking = async move {
            let StateReading::Value(_, now) = over.read("key", None).await.unwrap() else {
                panic!("it was written");
            };
            let written = over.write("key", Some(&now), b"over").await.unwrap();
            assert!(written.is_some());
        };
        let meanwhile: BoxFuture<'static, ()> = match is_overtaken {
            true => Box::pin(overtaking),
            false => Box::pin(std::future::ready(())),
        };
        let loses = Halting::losing(Arc::clone(&store), meanwhile, error);
        let state = BucketState::new(Bucket::without_parts(Arc::new(loses), "b"));
        let own = state.write("key", first.as_ref(), b"own").await.unwrap();
        let own = own.unwrap_or_else(|| panic!("it was its own: {said}"));
        let there = other.read("key", None).await.unwrap();
        let expected: &[u8] = if is_overtaken { b"over" } else { b"own" };
        let StateReading::Value(value, now) = there else {
            panic!("it was written");
        };
        assert_eq!(value, expected);
        assert_eq!(now == own, !is_overtaken, "{said}");
        // It is a version like any other: of a value that is there, or of one that was.
        let next = state.write("key", Some(&own), b"next").await.unwrap();
        assert_eq!(next.is_some(), !is_overtaken, "{said}");
    }
}

#[tokio::test]
async fn a_value_that_was_not_written_is_not_taken_for_one_whose_answer_was_lost() {
    let (other, store) = state();
    let first = other.write("key", None, b"first").await.unwrap();
    let state = BucketState::new(Bucket::of(store, "b"));
    other.write("key", first.as_ref(), b"other").await.unwrap();
    let late = state.write("key", first.as_ref(), b"late").await.unwrap();
    assert!(late.is_none(), "somebody was faster");
    assert!(state.write("key", None, b"late").await.unwrap().is_none());
}
