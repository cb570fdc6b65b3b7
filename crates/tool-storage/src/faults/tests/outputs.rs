use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, UNIX_EPOCH};

use tool_core::{
    Bound, Content, Facts, OutputStore as _, PageRequest, Retained, Retention, StoreError,
    StoreErrorKind,
};

use super::{Failing, Faults, Op, block_on, fail_each_operation};
use crate::{DirStore, Durability, Limits};

const DAY: u64 = 24 * 60 * 60;
const TOTAL: u64 = 100_000;

/// What a life was told.
#[derive(Default)]
struct Told {
    /// The digest of each output that was reported as stored.
    stored: HashMap<String, String>,
    /// Those that were to leave, or may have left to make room.
    may_be_gone: Vec<String>,
}

impl Told {
    fn stored(&mut self, retained: Result<Retained, StoreError>) -> Option<Retained> {
        let retained = retained.inspect_err(is_io).ok()?;
        let digest = retained.digest.clone();
        self.stored.insert(retained.id.clone(), digest);
        Some(retained)
    }

    fn leaves(&mut self, retained: Option<&Retained>) {
        self.may_be_gone
            .extend(retained.map(|retained| retained.id.clone()));
    }
}

fn is_io(error: &StoreError) {
    assert_eq!(error.kind(), StoreErrorKind::Io, "{error}");
}

fn open(
    root: &Path,
    faults: Faults,
    durability: Durability,
    seconds: &Arc<AtomicU64>,
) -> Result<DirStore, StoreError> {
    let seconds = Arc::clone(seconds);
    let now = move || UNIX_EPOCH + Duration::from_secs(seconds.load(Ordering::SeqCst));
    let week = Duration::from_secs(7 * DAY);
    let mut setup = DirStore::builder(root.join("outputs"))
        .limits(Limits::new(80_000, TOTAL, week).unwrap())
        .durability(durability)
        .clock(now);
    setup.faults = faults;
    setup.open()
}

async fn retain(store: &DirStore, facts: &Facts, len: usize) -> Result<Retained, StoreError> {
    let content = vec![Content::text("x".repeat(len))];
    let bound = Bound::new(1_000, 100).unwrap();
    let bounded = store.bound(Retention::new(content, bound, facts, "shell"));
    Ok(bounded.await?.retained)
}

async fn stream(store: &DirStore, facts: &Facts) -> Result<Retained, StoreError> {
    let mut output = store.begin(facts, "shell", Bound::DEFAULT)?;
    for letter in ["x", "y\n", "z"] {
        output.write(&letter.repeat(4_000)).await?;
    }
    Ok(output.finish()?.retained)
}

/// Everything that a store does, once.
async fn live(store: &DirStore, seconds: &AtomicU64, told: &mut Told) {
    let (mine, other) = (Facts::new().session("mine"), Facts::new().session("other"));
    let pin = store.pin_session("mine");
    let first = retain(store, &mine, 70_000).await;
    let first = told.stored(first);
    let second = retain(store, &other, 25_000).await;
    let second = told.stored(second);
    // Takes the place of the second, as the first is of a live session.
    told.leaves(second.as_ref());
    let third = stream(store, &other).await;
    let third = told.stored(third);
    if let Err(error) = store.list() {
        is_io(&error);
    }
    for retained in first.iter().chain(&third) {
        match store.page(PageRequest::new(&retained.id, None)).await {
            Ok(page) => assert_eq!(page.bytes.len() as u64, retained.bytes.min(51_200)),
            Err(error) => is_io(&error),
        }
    }
    told.leaves(third.as_ref());
    if let Some(third) = &third
        && let Err(error) = store.remove(&third.id)
    {
        is_io(&error);
    }
    drop(pin);
    let fourth = retain(store, &other, 10_000).await;
    let fourth = told.stored(fourth);
    told.leaves(fourth.as_ref());
    if let Some(fourth) = &fourth {
        store.forget(fourth);
    }
    let fifth = retain(store, &other, 10_000).await;
    let fifth = told.stored(fifth);
    told.leaves(fifth.as_ref());
    if let Err(error) = store.remove_all(&other) {
        is_io(&error);
    }
    // The first has had its time; the last has not.
    told.leaves(first.as_ref());
    seconds.fetch_add(8 * DAY, Ordering::SeqCst);
    let last = retain(store, &mine, 10_000).await;
    told.stored(last);
    let now = UNIX_EPOCH + Duration::from_secs(seconds.load(Ordering::SeqCst));
    if let Err(error) = store.sweep(now) {
        is_io(&error);
    }
}

fn life(root: &Path, faults: Faults, durability: Durability) -> (Told, Arc<AtomicU64>) {
    let seconds = Arc::new(AtomicU64::new(1_800_000_000));
    // What is noted of outputs that left is to be shortened.
    let noted = open(root, Faults::default(), durability, &seconds).unwrap();
    fs::write(
        root.join("outputs/.gone"),
        "out_0123456789abcdef r\n".repeat(50_000),
    )
    .unwrap();
    drop(noted);
    let mut told = Told::default();
    match open(root, faults, durability, &seconds) {
        Ok(store) => block_on(live(&store, &seconds, &mut told)),
        Err(error) => is_io(&error),
    }
    (told, seconds)
}

fn check(root: &Path, failing: Failing, (told, seconds): &(Told, Arc<AtomicU64>)) {
    let store = open(root, Faults::default(), Durability::Process, seconds).unwrap();
    let listed = store.list().unwrap();
    let ids: Vec<&str> = listed.iter().map(|output| &*output.id).collect();
    for id in told.stored.keys() {
        let stays = !told.may_be_gone.contains(id);
        assert!(!stays || ids.contains(&&**id), "{failing:?}: {id} is lost");
    }
    for output in &listed {
        let bytes = block_on(whole(&store, &output.id));
        let mut checksum = crate::checksum::Checksum::new();
        checksum.take(&bytes);
        assert_eq!(checksum.text(), output.digest, "{failing:?}");
        match told.stored.get(&output.id) {
            Some(digest) => assert_eq!(*digest, output.digest),
            // Shown, and the process ended before it could say so.
            None => assert!(matches!(failing, Failing::From(_)), "{failing:?}"),
        }
    }
    let mut bytes = 0;
    for entry in fs::read_dir(root.join("outputs")).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        if name == ".gone" {
            continue;
        }
        assert!(ids.contains(&&*name), "{failing:?} leaves {name}");
        bytes += entry.metadata().unwrap().len();
    }
    let reported: u64 = listed.iter().map(|output| output.bytes + 1_000).sum();
    assert!(bytes <= reported, "{failing:?}: space is not returned");
}

async fn whole(store: &DirStore, id: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut next = Some(0);
    while let Some(offset) = next {
        let request = PageRequest::new(id, None).offset(offset).max_bytes(1 << 20);
        let page = store.page(request).await.unwrap();
        bytes.extend_from_slice(&page.bytes);
        next = page.next;
    }
    bytes
}

#[test]
fn whichever_operation_fails_what_was_reported_is_whole_and_the_rest_is_nothing() {
    let operations = fail_each_operation(
        |root, faults| life(root, faults, Durability::Process),
        check,
    );
    for op in [
        Op::Open,
        Op::Read,
        Op::Write,
        Op::Rename,
        Op::Remove,
        Op::List,
    ] {
        assert!(operations.contains(&op), "no {op:?} was failed");
    }
}

#[test]
fn whichever_operation_fails_before_a_power_cut_the_same_holds() {
    let operations =
        fail_each_operation(|root, faults| life(root, faults, Durability::Power), check);
    let syncs = operations.iter().filter(|op| **op == Op::Sync).count();
    assert!(
        syncs >= 12,
        "file and directory of each output are synced: {syncs}"
    );
}
