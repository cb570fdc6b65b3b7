use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tempfile::TempDir;
use tool_core::{
    ArtifactDraft, ArtifactKind, ArtifactRef, ArtifactScope, ArtifactStore, Facts,
    StreamingArtifacts as _, SweepReason,
};
use tool_storage::{ArtifactLimits, DirArtifacts, DirArtifactsBuilder, MemoryArtifacts};
use tool_testkit::artifacts::{self, ArtifactHarness};

use crate::fixture::{Clock, DAY, names, session};

pub(crate) fn limits(base: ArtifactLimits, max_bytes: u64, max_count: usize) -> ArtifactLimits {
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

pub(crate) struct InDirectory {
    clock: Clock,
    pub(crate) dir: TempDir,
    opened: std::sync::atomic::AtomicUsize,
}

impl InDirectory {
    pub(crate) fn new() -> Self {
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

    /// What opens another store on the first directory, as another process has it.
    pub(crate) fn another(&self) -> DirArtifactsBuilder {
        let clock = self.clock.clone();
        DirArtifacts::builder(self.root(0)).clock(move || clock.now())
    }

    pub(crate) fn scope(&self, facts: &Facts) -> PathBuf {
        self.root(0).join(ArtifactScope::of(facts).key())
    }

    pub(crate) fn root(&self, number: usize) -> PathBuf {
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

pub(crate) fn only_file(scope: &Path) -> PathBuf {
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

pub(crate) fn draft() -> ArtifactDraft {
    ArtifactDraft::new(ArtifactKind::new("note").unwrap())
}

pub(crate) async fn put(store: &impl ArtifactStore, facts: &Facts, text: &str) -> ArtifactRef {
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
async fn an_artifact_may_end_sooner_than_the_others_and_not_later() {
    let harness = InDirectory::new();
    let store = harness.open();
    for (asked, given) in [(8 * DAY, 7 * DAY), (6 * DAY, 6 * DAY)] {
        let draft = draft().expires(harness.now() + asked);
        let kept = store.put(&session("s"), draft, "text".into()).await;
        assert_eq!(kept.unwrap().meta.expires, Some(harness.now() + given));
    }
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
        let scope = harness.scope(&facts);
        let left = names(&scope);
        assert!(left.iter().all(|name| name == ".lock"), "{left:?}");
        awaits += 1;
    }
    assert!(awaits > 5, "it yields while it writes: {awaits}");
}
