use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, UNIX_EPOCH};

use bytes::Bytes;
use tool_core::{
    ArtifactDraft, ArtifactError, ArtifactErrorKind, ArtifactKind, ArtifactQuery,
    ArtifactStore as _, Facts, Kept, Payload, StreamingArtifacts as _,
};

use super::{Failing, Faults, Op, Plan, block_on, fail_each_operation};
use crate::pieces::OfBytes;
use crate::{ArtifactLimits, DirArtifacts, Durability};

const DAY: u64 = 24 * 60 * 60;

#[derive(Default)]
struct Told {
    stored: HashMap<String, Bytes>,
    may_be_gone: Vec<String>,
}

impl Told {
    fn stored(&mut self, kept: Result<Kept, ArtifactError>, bytes: &Bytes) -> Option<String> {
        let reference = kept.inspect_err(is_io).ok()?.meta.reference.to_string();
        self.stored.insert(reference.clone(), bytes.clone());
        Some(reference)
    }
}

fn is_io(error: &ArtifactError) {
    assert_eq!(error.kind(), ArtifactErrorKind::Io, "{error}");
}

fn draft() -> ArtifactDraft {
    ArtifactDraft::new(ArtifactKind::new("note").unwrap())
}

fn open(
    root: &Path,
    faults: Faults,
    seconds: &Arc<AtomicU64>,
) -> Result<DirArtifacts, ArtifactError> {
    let seconds = Arc::clone(seconds);
    let mut setup = DirArtifacts::builder(root.join("artifacts"))
        .limits(ArtifactLimits::DISK.max_count(3.try_into().unwrap()))
        .durability(Durability::Power)
        .clock(move || UNIX_EPOCH + Duration::from_secs(seconds.load(Ordering::SeqCst)));
    setup.faults = faults;
    setup.open()
}

async fn live(store: &DirArtifacts, seconds: &AtomicU64, told: &mut Told) {
    let (mine, other) = (Facts::new().session("mine"), Facts::new().session("other"));
    let bytes = Bytes::from(vec![7; 70_000]);
    let mut kept = Vec::new();
    for _ in 0..3 {
        let put = store.put(&mine, draft(), Payload::from(bytes.to_vec()));
        kept.extend(told.stored(put.await, &bytes));
        seconds.fetch_add(1, Ordering::SeqCst);
    }
    // A fourth takes the place of the one that was got the longest ago.
    if let Some(second) = kept.get(1).cloned() {
        match store.get(&mine, &second).await {
            Ok(found) => assert_eq!(found.unwrap().payload, Payload::from(bytes.to_vec())),
            Err(error) => is_io(&error),
        }
    }
    told.may_be_gone.extend(kept);
    let stream = Box::pin(OfBytes(bytes.clone()));
    let put = store.put_stream(&mine, draft(), 70_000, stream).await;
    told.stored(put, &bytes);
    if let Err(error) = store.list(&mine, ArtifactQuery::default()).await {
        is_io(&error);
    }
    let put = store.put(&other, draft(), Payload::from(bytes.to_vec()));
    if let Some(gone) = told.stored(put.await, &bytes) {
        told.may_be_gone.push(gone.clone());
        if let Err(error) = store.delete(&other, &gone).await {
            is_io(&error);
        }
    }
    if let Err(error) = store.remove_all(&other) {
        is_io(&error);
    }
    if let Err(error) = store.sweep() {
        is_io(&error);
    }
}

fn life(root: &Path, faults: Faults) -> (Told, Arc<AtomicU64>) {
    let seconds = Arc::new(AtomicU64::new(1_800_000_000));
    let mut told = Told::default();
    match open(root, faults, &seconds) {
        Ok(store) => block_on(live(&store, &seconds, &mut told)),
        Err(error) => is_io(&error),
    }
    (told, seconds)
}

fn check(root: &Path, failing: Failing, (told, seconds): &(Told, Arc<AtomicU64>)) {
    let store = open(root, Faults::default(), seconds).unwrap();
    let (mut files, mut seen) = (0, 0);
    for session in ["mine", "other"] {
        let facts = Facts::new().session(session);
        let page = block_on(store.list(&facts, ArtifactQuery::default())).unwrap();
        for meta in &page.artifacts {
            let reference = meta.reference.to_string();
            let found = block_on(store.get(&facts, &reference)).unwrap().unwrap();
            assert_eq!(found.payload, Payload::from(vec![7; 70_000]), "{failing:?}");
            let told = told.stored.contains_key(&reference);
            assert!(told || matches!(failing, Failing::From(_)), "{failing:?}");
            seen += 1;
        }
        for reference in told.stored.keys().filter(|_| session == "mine") {
            let stays = !told.may_be_gone.contains(reference);
            let is_there = page
                .artifacts
                .iter()
                .any(|meta| meta.reference.to_string() == *reference);
            assert!(!stays || is_there, "{failing:?}: {reference} is lost");
        }
    }
    for scope in fs::read_dir(root.join("artifacts")).unwrap() {
        for entry in fs::read_dir(scope.unwrap().path()).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            assert!(!name.starts_with(".new-"), "{failing:?} leaves {name}");
            files += usize::from(name != ".lock");
        }
    }
    assert_eq!(
        files, seen,
        "{failing:?}: nothing is damaged or left behind"
    );

    // A store with such a past still takes something in, and gives everything back.
    seconds.fetch_add(400 * DAY, Ordering::SeqCst);
    let facts = Facts::new().session("mine");
    block_on(store.put(&facts, draft(), Payload::from("text"))).unwrap();
    assert_eq!(store.remove_all(&facts).unwrap(), 1);
}

#[test]
fn whichever_operation_fails_an_artifact_is_kept_whole_or_not_at_all() {
    let operations = fail_each_operation(life, check);
    for op in [
        Op::Open,
        Op::CreateFolder,
        Op::Read,
        Op::Write,
        Op::Sync,
        Op::Rename,
        Op::Remove,
        Op::List,
    ] {
        assert!(operations.contains(&op), "no {op:?} was failed");
    }
}

fn references(store: &DirArtifacts, facts: &Facts) -> Vec<String> {
    let listed = block_on(store.list(facts, ArtifactQuery::default())).unwrap();
    let listed = listed.artifacts.iter();
    listed.map(|meta| meta.reference.to_string()).collect()
}

#[test]
fn a_forgotten_artifact_whose_file_cannot_be_removed_is_neither_read_nor_listed() {
    let dir = tempfile::tempdir().unwrap();
    let seconds = Arc::new(AtomicU64::new(1_800_000_000));
    let broken = Faults::of(Arc::new(Plan::new(Failing::Every(Op::Remove))));
    let store = open(dir.path(), broken, &seconds).unwrap();
    let facts = Facts::new().session("mine");
    let put = || block_on(store.put(&facts, draft(), Payload::from("text"))).unwrap();
    let (gone, stays) = (put().meta.reference, put().meta.reference.to_string());
    store.forget(&facts, gone.as_str());
    // Also when it was tried in vain once more, and when the directory is read anew.
    for _ in 0..2 {
        assert!(
            block_on(store.get(&facts, gone.as_str()))
                .unwrap()
                .is_none()
        );
        assert!(
            block_on(store.head(&facts, gone.as_str()))
                .unwrap()
                .is_none()
        );
        let streams = store.get_stream(&facts, gone.as_str());
        assert!(block_on(streams).unwrap().is_none());
        assert_eq!(references(&store, &facts), [stays.as_str()]);
        let other = open(dir.path(), Faults::default(), &seconds).unwrap();
        let foreign = Facts::new().session("mine");
        let put = block_on(other.put(&foreign, draft(), Payload::from("more"))).unwrap();
        block_on(other.delete(&foreign, put.meta.reference.as_str())).unwrap();
    }
    assert_eq!(store.shared.forgotten.keys().len(), 1);
}

#[test]
fn nothing_is_remembered_of_a_scope_that_another_has_taken_away() {
    let dir = tempfile::tempdir().unwrap();
    let seconds = Arc::new(AtomicU64::new(1_800_000_000));
    let store = open(dir.path(), Faults::default(), &seconds).unwrap();
    let other = open(dir.path(), Faults::default(), &seconds).unwrap();
    let facts = Facts::new().session("mine");
    let put = block_on(store.put(&facts, draft(), Payload::from("text"))).unwrap();
    store.forget(&facts, put.meta.reference.as_str());
    assert_eq!(store.shared.forgotten.keys().len(), 1);
    other.remove_all(&facts).unwrap();
    assert!(
        !dir.path()
            .join("artifacts")
            .read_dir()
            .unwrap()
            .any(|it| it.is_ok())
    );
    store.sweep().unwrap();
    assert!(store.shared.forgotten.keys().is_empty());
}
