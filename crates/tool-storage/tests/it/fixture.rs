use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use tempfile::TempDir;
use tool_core::{
    Bound, Bounded, CallId, Content, Facts, OutputPage, OutputStore, PageRequest, Retention,
    StoreError,
};
use tool_storage::{DirStore, DirStoreBuilder, Limits};

pub(crate) const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// A clock that stands still until it is moved.
#[derive(Clone)]
pub(crate) struct Clock(Arc<AtomicU64>);

impl Clock {
    pub(crate) fn new() -> Self {
        Self(Arc::new(AtomicU64::new(1_800_000_000)))
    }

    pub(crate) fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(self.0.load(Ordering::SeqCst))
    }

    pub(crate) fn advance(&self, by: Duration) {
        self.0.fetch_add(by.as_secs(), Ordering::SeqCst);
    }
}

/// A store in a directory of its own.
pub(crate) struct Fixture {
    pub(crate) dir: TempDir,
    pub(crate) clock: Clock,
    pub(crate) store: DirStore,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        Self::with(|builder| builder)
    }

    pub(crate) fn limited(output: u64, total: u64) -> Self {
        Self::with(|builder| builder.limits(Limits::new(output, total, 7 * DAY).unwrap()))
    }

    pub(crate) fn with(setup: impl FnOnce(DirStoreBuilder) -> DirStoreBuilder) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let clock = Clock::new();
        let builder = builder(dir.path(), &clock);
        let store = setup(builder).open().unwrap();
        Self { dir, clock, store }
    }

    /// Another store on the same directory, as another process has it.
    pub(crate) fn another(&self) -> DirStore {
        builder(self.dir.path(), &self.clock).open().unwrap()
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.dir.path().join("outputs")
    }

    pub(crate) fn names(&self) -> Vec<String> {
        names(&self.root())
    }

    pub(crate) fn ids(&self) -> Vec<String> {
        let outputs = self.store.list().unwrap();
        outputs.into_iter().map(|output| output.id).collect()
    }
}

fn builder(dir: &Path, clock: &Clock) -> DirStoreBuilder {
    let clock = clock.clone();
    DirStore::builder(dir.join("outputs")).clock(move || clock.now())
}

pub(crate) fn names(root: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(root)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        // Why outputs left is noted beside them.
        .filter(|name| name != ".gone")
        .collect();
    names.sort();
    names
}

pub(crate) fn session(id: &str) -> Facts {
    Facts::new().session(id)
}

pub(crate) async fn retain(
    store: &DirStore,
    facts: &Facts,
    content: Vec<Content>,
) -> Result<Bounded, StoreError> {
    let call = CallId::new("call-1");
    let bound = Bound::new(1_000, 2_000).unwrap();
    store
        .bound(Retention::new(content, bound, facts, "shell").call(Some(&call)))
        .await
}

/// Retains a text of so many bytes and returns its id.
pub(crate) async fn keep(store: &DirStore, facts: &Facts, len: usize) -> String {
    let content = vec![Content::text("x".repeat(len))];
    retain(store, facts, content).await.unwrap().retained.id
}

pub(crate) async fn page(
    store: &DirStore,
    id: &str,
    facts: Option<&Facts>,
) -> Result<OutputPage, StoreError> {
    store.page(PageRequest::new(id, facts)).await
}

/// All pages of an output, as an operator reads them.
pub(crate) async fn pages(store: &DirStore, id: &str, max_bytes: usize) -> Vec<Vec<u8>> {
    let mut pages = Vec::new();
    let mut next = Some(0);
    while let Some(offset) = next {
        let request = PageRequest::new(id, None)
            .offset(offset)
            .max_bytes(max_bytes);
        let page = store.page(request).await.unwrap();
        assert_eq!(page.offset, offset);
        pages.push(page.bytes.to_vec());
        next = page.next;
    }
    pages
}

pub(crate) fn texts(content: &[Content]) -> Vec<&str> {
    content.iter().filter_map(Content::as_text).collect()
}

/// The rule by which texts become one, said a second time.
pub(crate) fn join(texts: &[&str]) -> String {
    let mut joined = String::new();
    for text in texts.iter().filter(|text| !text.is_empty()) {
        if !joined.is_empty() && !joined.ends_with('\n') {
            joined.push('\n');
        }
        joined.push_str(text);
    }
    joined
}

/// Runs a test that reports what it does in a process of its own, kills it at any moment after
/// `reports` of the round, and does that again. Returns what was reported.
pub(crate) fn killed(
    test: &str,
    (variable, root): (&str, &Path),
    rounds: usize,
    reports: impl Fn(usize) -> usize,
) -> Vec<String> {
    let mut reported = Vec::new();
    for round in 0..rounds {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([test, "--exact", "--nocapture"])
            .env(variable, root)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut told = lines
            .map_while(Result::ok)
            .filter_map(|line| line.strip_prefix(REPORT).map(str::to_owned));
        reported.extend(told.by_ref().take(reports(round)));
        // At any moment of the next one.
        for _ in 0..random_below(20_000) {
            std::hint::black_box(child.try_wait().unwrap());
        }
        child.kill().unwrap();
        // What it reported before the signal reached it counts too.
        reported.extend(told);
        child.wait().unwrap();
    }
    reported
}

/// Reports to whoever kills this process.
pub(crate) fn report(what: impl std::fmt::Display) {
    // The test runner may be within a line of its own.
    println!("\n{REPORT}{what}");
}

/// A number that nobody chose.
fn random_below(most: u64) -> u64 {
    use std::hash::{BuildHasher as _, RandomState};
    RandomState::new().hash_one(0) % most
}

const REPORT: &str = "reported ";
