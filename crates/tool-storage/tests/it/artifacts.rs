use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use tempfile::TempDir;
use tool_core::{
    ArtifactDraft, ArtifactErrorKind, ArtifactKind, ArtifactQuery, ArtifactRef, ArtifactScope,
    ArtifactStore, Facts, StreamingArtifacts as _, SweepReason,
};
use tool_storage::{ArtifactLimits, DirArtifacts, DirArtifactsBuilder, MemoryArtifacts};
use tool_testkit::artifacts::{self, ArtifactHarness};

use crate::fixture::{Clock, DAY, names, session};

fn limits(base: ArtifactLimits, max_bytes: u64, max_count: usize) -> ArtifactLimits {
    base.max_bytes(max_bytes.try_into().unwrap())
        .max_count(max_count.try_into().unwrap())
}

struct InMemory(Clock);

impl ArtifactHarness for InMemory {
    type Store = MemoryArtifacts;

    fn open(&self) -> MemoryArtifacts {
        let clock = self.0.clone();
        MemoryArtifacts::new().clock(move || clock.now())
    }

    fn bounded(&self, max_bytes: u64, max_count: usize) -> Option<MemoryArtifacts> {
        let limits = limits(ArtifactLimits::MEMORY, max_bytes, max_count);
        Some(self.open().limits(limits))
    }

    fn now(&self) -> SystemTime {
        self.0.now()
    }

    fn advance(&self, by: Duration) -> bool {
        self.0.advance(by);
        true
    }

    fn declared(&self) -> Vec<(&'static str, &'static str)> {
        vec![(
            "getting_refuses_what_was_changed",
            "nobody reaches its memory behind its back",
        )]
    }
}

struct InDirectory {
    clock: Clock,
    dir: TempDir,
    opened: std::sync::atomic::AtomicUsize,
}

impl InDirectory {
    fn new() -> Self {
        Self {
            clock: Clock::new(),
            dir: tempfile::tempdir().unwrap(),
            opened: std::sync::atomic::AtomicUsize::new(0),
        }
    }

    fn builder(&self) -> DirArtifactsBuilder {
        let number = self
            .opened
            .fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        let clock = self.clock.clone();
        DirArtifacts::builder(self.root(number)).clock(move || clock.now())
    }

    fn root(&self, number: usize) -> PathBuf {
        self.dir.path().join(format!("store-{number}"))
    }
}

impl ArtifactHarness for InDirectory {
    type Store = DirArtifacts;

    fn open(&self) -> DirArtifacts {
        self.builder().open().unwrap()
    }

    fn bounded(&self, max_bytes: u64, max_count: usize) -> Option<DirArtifacts> {
        let limits = limits(ArtifactLimits::DISK, max_bytes, max_count);
        Some(self.builder().limits(limits).open().unwrap())
    }

    fn now(&self) -> SystemTime {
        self.clock.now()
    }

    fn advance(&self, by: Duration) -> bool {
        self.clock.advance(by);
        true
    }

    fn corrupt(&self, _store: &DirArtifacts, facts: &Facts, _reference: &ArtifactRef) -> bool {
        let last = self.opened.load(std::sync::atomic::Ordering::SeqCst) - 1;
        let file = only_file(&self.root(last).join(ArtifactScope::of(facts).key()));
        let mut bytes = fs::read(&file).unwrap();
        bytes[0] ^= 1;
        fs::write(&file, bytes).unwrap();
        true
    }
}

fn only_file(scope: &Path) -> PathBuf {
    let names = names(scope);
    let visible: Vec<&String> = names.iter().filter(|name| !name.starts_with('.')).collect();
    assert_eq!(visible.len(), 1, "{names:?}");
    scope.join(visible[0])
}

#[tokio::test]
async fn a_store_in_memory_keeps_every_promise() {
    let report = artifacts::run(&InMemory(Clock::new())).await;
    assert!(report.is_good(), "\n{report}");
}

#[tokio::test]
async fn a_store_in_a_directory_keeps_every_promise() {
    let report = artifacts::run(&InDirectory::new()).await;
    assert!(report.is_good(), "\n{report}");
    assert!(!report.to_string().contains("not applicable"), "\n{report}");
}

fn draft() -> ArtifactDraft {
    ArtifactDraft::new(ArtifactKind::new("note").unwrap())
}

async fn put(store: &impl ArtifactStore, facts: &Facts, text: &str) -> ArtifactRef {
    let kept = store.put(facts, draft(), text.into()).await.unwrap();
    kept.meta.reference
}

/// The same piece over and over, always there.
struct Pieces(bytes::Bytes, usize);

impl futures_core::Stream for Pieces {
    type Item = Result<bytes::Bytes, Box<dyn std::error::Error + Send + Sync>>;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        _cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        let Some(left) = self.1.checked_sub(1) else {
            return std::task::Poll::Ready(None);
        };
        self.1 = left;
        std::task::Poll::Ready(Some(Ok(self.0.clone())))
    }
}

#[tokio::test]
async fn two_stores_on_one_directory_are_one_store() {
    let harness = InDirectory::new();
    let store = harness.bounded(1_000, 3).unwrap();
    let other = DirArtifacts::builder(harness.root(0))
        .limits(limits(ArtifactLimits::DISK, 1_000, 3))
        .clock({
            let clock = harness.clock.clone();
            move || clock.now()
        })
        .open()
        .unwrap();
    let facts = session("s");
    let mut references = Vec::new();
    for (number, store) in [&store, &other, &store, &other, &store].iter().enumerate() {
        harness.advance(Duration::from_secs(1));
        references.push(put(*store, &facts, &number.to_string()).await);
    }
    for store in [&store, &other] {
        let listed = store.list(&facts, ArtifactQuery::new()).await.unwrap();
        let listed: Vec<ArtifactRef> = listed
            .artifacts
            .into_iter()
            .map(|meta| meta.reference)
            .collect();
        let newest: Vec<ArtifactRef> = references.iter().rev().take(3).cloned().collect();
        assert_eq!(listed, newest, "the bound holds across stores");
    }
    other.delete(&facts, references[4].as_str()).await.unwrap();
    let got = store.get(&facts, references[4].as_str()).await.unwrap();
    assert!(got.is_none());
    let listed = store.list(&facts, ArtifactQuery::new()).await.unwrap();
    assert_eq!(listed.artifacts.len(), 2);
}

#[tokio::test]
async fn a_store_that_is_opened_again_knows_its_artifacts() {
    let harness = InDirectory::new();
    let facts = session("s");
    let store = harness.open();
    let kept = store
        .put(&facts, draft().label("label").with_digest(), "text".into())
        .await
        .unwrap();
    drop(store);
    let clock = harness.clock.clone();
    let again = DirArtifacts::builder(harness.root(0))
        .clock(move || clock.now())
        .open()
        .unwrap();
    let listed = again.list(&facts, ArtifactQuery::new()).await.unwrap();
    assert_eq!(listed.artifacts, [kept.meta]);
}

#[tokio::test]
async fn what_has_had_its_time_is_swept_and_the_directory_of_its_scope_with_it() {
    let harness = InDirectory::new();
    let store = harness.open();
    let facts = session("s");
    let gone = put(&store, &facts, "gone").await;
    harness.advance(4 * DAY);
    let stays = put(&store, &session("other"), "stays").await;
    assert!(store.sweep().unwrap().is_empty());
    harness.advance(3 * DAY);
    let swept = store.sweep().unwrap();
    assert_eq!(swept.len(), 1);
    assert_eq!(
        (&swept[0].reference, swept[0].reason),
        (&gone, SweepReason::Expired)
    );
    let key = ArtifactScope::of(&session("other")).key();
    assert_eq!(
        names(&harness.root(0)),
        [key],
        "an empty scope leaves nothing"
    );
    let got = store.get(&session("other"), stays.as_str()).await.unwrap();
    assert!(got.is_some());
}

#[tokio::test]
async fn the_end_of_a_session_takes_its_artifacts_and_no_others() {
    let harness = InDirectory::new();
    let store = harness.open();
    let (ended, other) = (session("ended"), session("other"));
    for number in 0..3 {
        put(&store, &ended, &number.to_string()).await;
    }
    let stays = put(&store, &other, "stays").await;
    assert_eq!(store.remove_all(&ended).unwrap(), 3);
    assert_eq!(store.remove_all(&ended).unwrap(), 0);
    assert!(store.get(&other, stays.as_str()).await.unwrap().is_some());
    assert_eq!(names(&harness.root(0)).len(), 1);
    // And the session may begin anew.
    put(&store, &ended, "new").await;
    assert_eq!(names(&harness.root(0)).len(), 2);
    // What belongs to no session ends with none.
    let nobody = Facts::new();
    put(&store, &nobody, "of no session").await;
    assert_eq!(store.remove_all(&nobody).unwrap(), 0);
    let run = Facts::new().run("r");
    put(&store, &run, "of a run").await;
    assert_eq!(store.remove_all(&run).unwrap(), 1);
}

#[tokio::test]
async fn a_damaged_artifact_is_an_error_and_no_absence() {
    let harness = InDirectory::new();
    let store = harness.open();
    let facts = session("s");
    let reference = put(&store, &facts, "text").await;
    let file = only_file(&harness.root(0).join(ArtifactScope::of(&facts).key()));
    fs::write(&file, "torn").unwrap();
    let error = store.get(&facts, reference.as_str()).await.unwrap_err();
    assert_eq!(error.kind(), ArtifactErrorKind::Io);
    assert_eq!(
        error.to_string(),
        format!("artifact {reference} is damaged")
    );
    // Whoever reads the directory anew passes it over.
    let clock = harness.clock.clone();
    let again = DirArtifacts::builder(harness.root(0)).clock(move || clock.now());
    let listed = again
        .open()
        .unwrap()
        .list(&facts, ArtifactQuery::new())
        .await;
    assert!(listed.unwrap().artifacts.is_empty());
}

#[tokio::test]
async fn the_scope_that_was_put_into_the_longest_ago_leaves_for_a_new_one_that_is_taken_in() {
    let store = MemoryArtifacts::new();
    let scope = |number: usize| session(&format!("s{number}"));
    let oldest = put(&store, &scope(0), "oldest").await;
    for number in 1..1_024 {
        put(&store, &scope(number), "x").await;
    }
    let orphan = draft().parents([ArtifactRef::from("art_0123456789ABCDEFGHabcd")]);
    let refused = store.put(&scope(1_024), orphan, "orphan".into()).await;
    assert!(refused.is_err());
    let got = store.get(&scope(0), oldest.as_str()).await.unwrap();
    assert!(got.is_some(), "nothing leaves for what is refused");
    put(&store, &scope(1_024), "new").await;
    let got = store.get(&scope(0), oldest.as_str()).await.unwrap();
    assert!(got.is_none());
}

#[test]
fn a_put_yields_whatever_pieces_its_stream_has() {
    let harness = InDirectory::new();
    let store = harness.open();
    let facts = session("s");
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    let whole = Pieces(bytes::Bytes::from(vec![0; 1 << 20]), 1);
    let mut putting = store.put_stream(&facts, draft(), 1 << 20, Box::pin(whole));
    let mut awaits = 0;
    while putting.as_mut().poll(&mut cx).is_pending() {
        awaits += 1;
    }
    assert_eq!(awaits, 8, "after each 128 KiB of one piece");
    let nothing = Pieces(bytes::Bytes::new(), usize::MAX);
    let mut putting = store.put_stream(&facts, draft(), 1, Box::pin(nothing));
    assert!(putting.as_mut().poll(&mut cx).is_pending());
}

#[test]
fn a_put_that_is_dropped_at_any_await_leaves_nothing() {
    let harness = InDirectory::new();
    let store = harness.open();
    let facts = session("s");
    let mut awaits = 0;
    loop {
        let mut putting = Box::pin(store.put(&facts, draft(), "x".repeat(1_000_000).into()));
        let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
        if (0..=awaits).any(|_| putting.as_mut().poll(&mut cx).is_ready()) {
            break;
        }
        drop(putting);
        let scope = harness.root(0).join(ArtifactScope::of(&facts).key());
        let left = names(&scope);
        assert!(left.iter().all(|name| name == ".lock"), "{left:?}");
        awaits += 1;
    }
    assert!(awaits > 5, "it yields while it writes: {awaits}");
}

#[cfg(unix)]
#[tokio::test]
async fn artifacts_are_private_and_their_names_tell_nothing() {
    use std::os::unix::fs::PermissionsExt as _;

    let harness = InDirectory::new();
    let store = harness.open();
    let canary = "canary-5f1b";
    let reference = put(&store, &session(canary), canary).await;
    let root = harness.root(0);
    let mut open = vec![root.clone()];
    let mut seen = 0;
    while let Some(path) = open.pop() {
        let mode = fs::symlink_metadata(&path).unwrap().permissions().mode() & 0o777;
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        assert!(!name.contains(canary) && !name.contains(reference.as_str()));
        if path.is_dir() {
            assert_eq!(mode, 0o700, "{name}");
            open.extend(names(&path).into_iter().map(|name| path.join(name)));
        } else {
            assert_eq!(mode, 0o600, "{name}");
            seen += 1;
        }
    }
    assert_eq!(seen, 2, "the artifact and the lock of its scope");
}

#[cfg(unix)]
#[tokio::test]
async fn a_symbolic_link_in_place_of_a_scope_or_an_artifact_is_never_followed() {
    use std::os::unix::fs::symlink;

    let harness = InDirectory::new();
    let store = harness.open();
    let facts = session("s");
    let reference = put(&store, &facts, "text").await;
    let scope = harness.root(0).join(ArtifactScope::of(&facts).key());
    let file = only_file(&scope);
    let outside = harness.dir.path().join("outside");
    fs::rename(&file, &outside).unwrap();
    symlink(&outside, &file).unwrap();
    assert!(store.get(&facts, reference.as_str()).await.is_err());

    let elsewhere = harness.dir.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let other = session("other");
    symlink(
        &elsewhere,
        harness.root(0).join(ArtifactScope::of(&other).key()),
    )
    .unwrap();
    let refused = store.put(&other, draft(), "text".into()).await.unwrap_err();
    assert_eq!(refused.kind(), ArtifactErrorKind::Io);
    assert!(names(&elsewhere).is_empty());
}

/// Puts one artifact after the other and prints the reference of each that is kept. Does nothing
/// unless the test below runs it.
#[tokio::test]
async fn put_in_a_process_of_its_own() {
    let Some(root) = std::env::var_os("TOOL_STORAGE_TEST_ARTIFACTS") else {
        return;
    };
    let store = DirArtifacts::builder(root).open().unwrap();
    let facts = session("s");
    for round in 0.. {
        let text = format!("{round} ").repeat(60_000);
        let put = store.put(&facts, draft().with_digest(), text.into());
        println!("\nkept {}", put.await.unwrap().meta.reference);
    }
}

#[tokio::test]
async fn killed_at_any_moment_what_was_reported_is_whole_and_the_rest_is_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("artifacts");
    let mut reported = Vec::new();
    for round in 0..5 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "artifacts::put_in_a_process_of_its_own",
                "--exact",
                "--nocapture",
            ])
            .env("TOOL_STORAGE_TEST_ARTIFACTS", &root)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut kept = lines
            .map_while(Result::ok)
            .filter_map(|line| line.strip_prefix("kept ").map(str::to_owned));
        reported.extend(kept.by_ref().take(round + 1));
        child.kill().unwrap();
        reported.extend(kept);
        child.wait().unwrap();
    }
    let store = DirArtifacts::builder(&root).open().unwrap();
    let facts = session("s");
    let scope = root.join(ArtifactScope::of(&facts).key());
    let left: Vec<String> = names(&scope)
        .into_iter()
        .filter(|name| name.starts_with('.'))
        .collect();
    assert_eq!(left, [".lock"], "what was unfinished is gone");
    assert!(reported.len() >= 15);
    for reference in &reported {
        assert!(store.get(&facts, reference).await.unwrap().is_some());
    }
}
