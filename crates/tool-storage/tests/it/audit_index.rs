//! Which files audit logs have.

use std::fs;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use tool_core::{Digest, ErrorChain, Event, EventKind, EventSink as _, Facts, State, StateReading};
use tool_storage::{
    AuditFiles, AuditFinding, AuditIndex, AuditLog, AuditOptions, AuditSegment,
    AuditSegmentState as Segment, DirState,
};
use tool_testkit::state::{Between, Fault, Operation};

fn write(log: &AuditLog, lines: u64) {
    let facts = Facts::new();
    for number in 0..lines {
        log.emit(&Event::new(None, "tool", &facts, EventKind::Dropped).number(Some(number)));
    }
    log.flush();
}

fn index(dir: &Path) -> AuditIndex {
    AuditIndex::kept_in(Arc::new(DirState::open(dir.join("state")).unwrap()))
}

/// The same state, where a test comes between.
fn between(dir: &Path) -> Arc<Between> {
    let state = DirState::open(dir.join("state")).unwrap();
    Arc::new(Between::new(Arc::new(state)))
}

fn open(folder: &Path) -> AuditLog {
    AuditLog::open(folder, AuditOptions::DEFAULT).unwrap()
}

/// The files of lines, the oldest first.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|end| end == "jsonl"));
    files.sort();
    files
}

/// What a machine has that stopped at this moment.
fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    restrict(to);
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

#[cfg(unix)]
fn restrict(folder: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).unwrap();
}

#[cfg(not(unix))]
fn restrict(_folder: &Path) {}

fn states(listed: &[AuditSegment]) -> Vec<(u64, Segment, Option<u64>)> {
    let listed = listed.iter();
    listed.map(|it| (it.number, it.state, it.lines)).collect()
}

async fn findings(index: &AuditIndex, files: &AuditFiles) -> Vec<AuditFinding> {
    let checked = index.check(files).await.unwrap();
    checked.iter().map(|it| it.finding).collect()
}

#[tokio::test]
async fn a_file_is_entered_with_its_first_line_and_has_its_digest_once_it_is_closed() {
    let dir = tempfile::tempdir().unwrap();
    let (index, folder) = (index(dir.path()), dir.path().join("audit"));
    let before = SystemTime::now();
    let log = open(&folder);
    index.catch_up(&log.files()).await.unwrap();
    assert!(index.list().await.unwrap().is_empty(), "nothing is in it");

    write(&log, 2);
    index.catch_up(&log.files()).await.unwrap();
    let listed = index.list().await.unwrap();
    assert_eq!(states(&listed), [(1, Segment::Open, None)]);
    assert_eq!(findings(&index, &log.files()).await, [AuditFinding::Open]);

    log.end_file().await;
    index.catch_up(&log.files()).await.unwrap();
    write(&log, 1);
    drop(log);
    let files = AuditFiles::in_folder(&folder).unwrap();
    index.catch_up(&files).await.unwrap();
    let listed = index.list().await.unwrap();
    let expected = [(1, Segment::Closed, Some(2)), (2, Segment::Closed, Some(1))];
    assert_eq!(states(&listed), expected);
    assert_eq!(findings(&index, &files).await, [AuditFinding::Whole; 2]);
    let bytes = fs::read(folder.join(&listed[0].name)).unwrap();
    let digest = Digest::of(&bytes).to_string();
    assert_eq!(listed[0].digest.as_deref(), Some(&*digest));
    assert_eq!(listed[0].bytes, Some(bytes.len() as u64));
    assert!(listed[0].before.is_none() && listed[1].before.is_some());
    let (first, last) = listed[0].calls.unwrap();
    // Times are told to the millisecond.
    let margin = std::time::Duration::from_millis(1);
    assert!(before - margin <= first && first <= last && last <= SystemTime::now());
    assert!(before - margin <= listed[0].opened && listed[0].opened <= SystemTime::now());

    // What is left in the folder is its lines and its id, and nothing has been told of where it is.
    let mut left: Vec<_> = fs::read_dir(&folder)
        .unwrap()
        .map(|it| it.unwrap().file_name().into_string().unwrap())
        .collect();
    left.sort();
    assert_eq!(left, [".id", &*listed[0].name, &*listed[1].name]);
    let state = DirState::open(dir.path().join("state")).unwrap();
    let StateReading::Value(kept, _) = state.read("audit/index", None).await.unwrap() else {
        panic!("nothing is kept");
    };
    let kept = String::from_utf8(kept).unwrap();
    assert!(!kept.contains(dir.path().to_str().unwrap()), "{kept}");
}

#[tokio::test]
async fn what_a_killed_process_left_is_closed_by_the_next_start_with_what_is_there() {
    let dir = tempfile::tempdir().unwrap();
    let (index, folder) = (index(dir.path()), dir.path().join("audit"));
    let log = open(&folder);
    write(&log, 3);
    index.catch_up(&log.files()).await.unwrap();
    let after = dir.path().join("after");
    copy(&folder, &after);
    // It was killed in the middle of a line.
    let file = files(&after).remove(0);
    let mut text = fs::read_to_string(&file).unwrap();
    text.push_str("{\"torn");
    fs::write(&file, &text).unwrap();

    // As long as its process lives nobody closes it, whoever else begins in its folder.
    let beside = open(&folder);
    index.catch_up(&beside.files()).await.unwrap();
    assert_eq!(
        states(&index.list().await.unwrap()),
        [(1, Segment::Open, None)]
    );

    let next = open(&after);
    assert_eq!(
        findings(&index, &next.files()).await,
        [AuditFinding::Unfinished]
    );
    index.catch_up(&next.files()).await.unwrap();
    let listed = index.list().await.unwrap();
    assert_eq!(states(&listed), [(1, Segment::Abandoned, Some(4))]);
    assert_eq!(
        listed[0].digest,
        Some(Digest::of(text.as_bytes()).to_string())
    );
    assert!(listed[0].calls.is_some());
    assert_eq!(findings(&index, &next.files()).await, [AuditFinding::Whole]);
}

#[tokio::test]
async fn a_file_that_was_changed_or_is_gone_is_seen_and_one_of_another_folder_is_not_missed() {
    let dir = tempfile::tempdir().unwrap();
    let (index, folder) = (index(dir.path()), dir.path().join("audit"));
    let log = open(&folder);
    for _ in 0..3 {
        write(&log, 2);
        log.end_file().await;
    }
    index.catch_up(&log.files()).await.unwrap();
    let [changed, gone, _] = &files(&folder)[..] else {
        panic!("three files were written");
    };
    let text = fs::read_to_string(changed).unwrap();
    fs::write(
        changed,
        text.replacen("\"tool\":\"tool\"", "\"tool\":\"look\"", 1),
    )
    .unwrap();
    fs::remove_file(gone).unwrap();
    fs::write(folder.join("audit-9-0-9.jsonl"), "{}\n").unwrap();
    let expected = [
        AuditFinding::Changed,
        AuditFinding::Missing,
        AuditFinding::Whole,
        AuditFinding::Untold,
    ];
    assert_eq!(findings(&index, &log.files()).await, expected);
    // Nor is it another's where the folder has lost its id.
    let id = fs::read(folder.join(".id")).unwrap();
    fs::remove_file(folder.join(".id")).unwrap();
    let mut without = expected;
    without[1] = AuditFinding::Elsewhere;
    assert_eq!(findings(&index, &log.files()).await, without);
    fs::write(folder.join(".id"), id).unwrap();
    // Nor does it become whole by being told again.
    index.catch_up(&log.files()).await.unwrap();
    assert_eq!(findings(&index, &log.files()).await[..3], expected[..3]);

    let other = open(&dir.path().join("other"));
    write(&other, 1);
    index.catch_up(&other.files()).await.unwrap();
    let seen = findings(&index, &other.files()).await;
    assert_eq!(seen[..4], [AuditFinding::Elsewhere; 4]);
    assert_eq!(seen[4..], [AuditFinding::Open]);
    assert!(AuditFiles::in_folder(dir.path().join("none")).is_err());
}

#[tokio::test]
async fn an_entry_leaves_with_the_file_that_makes_room() {
    let dir = tempfile::tempdir().unwrap();
    let (index, folder) = (index(dir.path()), dir.path().join("audit"));
    let options = AuditOptions::DEFAULT.file_bytes(NonZeroU64::MIN);
    let log = AuditLog::open(&folder, options).unwrap();
    write(&log, 10);
    index.catch_up(&log.files()).await.unwrap();
    let listed = index.list().await.unwrap();
    assert_eq!(listed.len(), 10);
    drop(log);
    let line = fs::metadata(&files(&folder)[0]).unwrap().len();
    let most = NonZeroU64::new(3 * line + line / 2).unwrap();
    let log = AuditLog::open(&folder, options.total_bytes(most)).unwrap();
    write(&log, 10);
    let files = log.files();
    assert!(
        !findings(&index, &files)
            .await
            .iter()
            .any(|it| it.is_problem())
    );
    index.catch_up(&files).await.unwrap();
    drop(log);
    index.catch_up(&files).await.unwrap();
    let kept = self::files(&folder);
    let kept: Vec<_> = kept
        .iter()
        .map(|it| it.file_name().unwrap().to_str())
        .collect();
    let listed = index.list().await.unwrap();
    let entered: Vec<_> = listed.iter().map(|it| Some(&*it.name)).collect();
    assert_eq!(entered, kept);
    assert_eq!(kept.len(), 4);
    assert_eq!(findings(&index, &files).await, [AuditFinding::Whole; 4]);
}

#[tokio::test]
async fn a_state_that_is_down_holds_no_line_up_and_is_told_everything_later_and_once() {
    let dir = tempfile::tempdir().unwrap();
    let state = between(dir.path());
    state.set(Operation::Read, Some(Fault::Fails("the store is down")));
    let index = AuditIndex::kept_in(Arc::clone(&state) as Arc<dyn State>);
    let folder = dir.path().join("audit");
    let options = AuditOptions::DEFAULT.file_bytes(NonZeroU64::MIN);
    for lines in [0, 2, 1] {
        let log = AuditLog::open(&folder, options).unwrap();
        write(&log, lines);
        let failed = index.catch_up(&log.files()).await.unwrap_err();
        let said = ErrorChain::of(&failed).to_string();
        assert!(said.ends_with("the store is down"), "{said}");
        assert_eq!((log.lost(), log.is_writing()), (0, true));
    }
    let files = AuditFiles::in_folder(&folder).unwrap();
    state.set(Operation::Read, None);
    let loses = Fault::LosesAnswers("the answer was lost");
    state.set(Operation::Write, Some(loses));
    assert!(index.catch_up(&files).await.is_err());
    state.set(Operation::Write, None);
    for _ in 0..2 {
        index.catch_up(&files).await.unwrap();
        let expected = (1..=3).map(|number| (number, Segment::Closed, Some(1)));
        let listed = index.list().await.unwrap();
        assert_eq!(states(&listed), expected.collect::<Vec<_>>());
    }
    assert_eq!(findings(&index, &files).await, [AuditFinding::Whole; 3]);
}

#[test]
fn gateways_beside_each_other_never_have_one_number_and_none_of_their_entries_is_lost() {
    const GATEWAYS: usize = 4;
    const FILES: usize = 10;
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    let done = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for gateway in 0..GATEWAYS {
            let done = &done;
            scope.spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread();
                let runtime = { runtime }.build().unwrap();
                // Two share a folder.
                let folder = root.join(format!("audit{}", gateway / 2));
                let (index, log) = (index(root), open(&folder));
                runtime.block_on(async {
                    for _ in 0..FILES {
                        write(&log, 1);
                        index.catch_up(&log.files()).await.unwrap();
                        log.end_file().await;
                        index.catch_up(&log.files()).await.unwrap();
                    }
                });
                done.lock().unwrap().push(log.files());
            });
        }
    });
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.build().unwrap();
    runtime.block_on(async {
        let index = index(root);
        let listed = index.list().await.unwrap();
        let numbers: Vec<u64> = listed.iter().map(|it| it.number).collect();
        let expected: Vec<u64> = (1..=(GATEWAYS * FILES) as u64).collect();
        assert_eq!(numbers, expected);
        assert!(listed.iter().all(|it| it.state == Segment::Closed));
        for files in done.into_inner().unwrap() {
            let found = findings(&index, &files).await;
            let whole = found.iter().filter(|it| **it == AuditFinding::Whole);
            assert_eq!(whole.count(), 2 * FILES, "{found:?}");
        }
    });
}

#[tokio::test]
async fn what_has_changed_is_told_to_whoever_waits() {
    let dir = tempfile::tempdir().unwrap();
    let options = AuditOptions::DEFAULT.file_bytes(NonZeroU64::MIN);
    let log = AuditLog::open(dir.path().join("audit"), options).unwrap();
    let files = log.files();
    let waits = tokio::spawn(async move {
        for _ in 0..2 {
            files.changed().await;
        }
        files
    });
    write(&log, 1);
    while !waits.is_finished() {
        // A line that ends a file, and one that begins the next, may be told as one.
        write(&log, 1);
        tokio::task::yield_now().await;
    }
    drop(waits.await.unwrap());
}

#[tokio::test]
async fn a_note_that_is_written_at_this_moment_stays_until_its_file_is_closed() {
    let dir = tempfile::tempdir().unwrap();
    let (index, folder) = (index(dir.path()), dir.path().join("audit"));
    let log = open(&folder);
    write(&log, 1);
    index.catch_up(&log.files()).await.unwrap();
    let file = files(&folder).remove(0);
    let name = file.file_name().unwrap().to_str().unwrap();
    let note = folder.join(format!(".{name}.closed"));
    fs::write(&note, "").unwrap();
    index.catch_up(&log.files()).await.unwrap();
    assert!(note.exists(), "its file is open");
    fs::remove_file(&note).unwrap();
    log.end_file().await;
    index.catch_up(&log.files()).await.unwrap();
    assert!(!note.exists(), "it was told");
    assert_eq!(findings(&index, &log.files()).await, [AuditFinding::Whole]);
}

#[tokio::test]
async fn what_is_no_file_holds_neither_the_log_nor_its_index_up() {
    let dir = tempfile::tempdir().unwrap();
    let (index, folder) = (index(dir.path()), dir.path().join("audit"));
    let log = open(&folder);
    write(&log, 1);
    log.end_file().await;
    index.catch_up(&log.files()).await.unwrap();
    let file = files(&folder).remove(0);
    fs::remove_file(&file).unwrap();
    let strange = ["audit-1-0-1.jsonl", ".audit-2-0-1.jsonl.removed"];
    let strange = strange.map(|name| folder.join(name));
    let closed = format!(".{}.closed", file.file_name().unwrap().to_str().unwrap());
    for path in strange.iter().chain([&file, &folder.join(closed)]) {
        fs::create_dir(path).unwrap();
    }
    // A start looks for what has to leave, and makes room.
    let options = AuditOptions::DEFAULT.total_bytes(NonZeroU64::MIN);
    let log = AuditLog::open(&folder, options).unwrap();
    write(&log, 1);
    index.catch_up(&log.files()).await.unwrap();
    let found = findings(&index, &log.files()).await;
    assert_eq!(found, [AuditFinding::Changed, AuditFinding::Open]);
    fs::remove_file(folder.join(".id")).unwrap();
    fs::create_dir(folder.join(".id")).unwrap();
    let failed = index.catch_up(&log.files()).await.unwrap_err();
    let said = ErrorChain::of(&failed).to_string();
    assert!(
        said.contains("its file \".id\" could not be used"),
        "{said}"
    );
}

#[tokio::test]
async fn a_file_that_another_removes_before_it_is_entered_is_not_missed() {
    for lines in [0, 1] {
        let dir = tempfile::tempdir().unwrap();
        let (other, folder) = (index(dir.path()), dir.path().join("audit"));
        let log = open(&folder);
        other.catch_up(&log.files()).await.unwrap();
        write(&log, 1);
        log.end_file().await;
        let makes_room = folder.clone();
        let first = async move {
            let options = AuditOptions::DEFAULT.total_bytes(NonZeroU64::MIN);
            let log = AuditLog::open(makes_room, options).unwrap();
            write(&log, lines);
            other.catch_up(&log.files()).await.unwrap();
            log.end_file().await;
            other.catch_up(&log.files()).await.unwrap();
        };
        let state = between(dir.path());
        state.before_next(Operation::Write, None, Box::pin(first));
        let index = AuditIndex::kept_in(state);
        index.catch_up(&log.files()).await.unwrap();
        let whole = vec![AuditFinding::Whole; usize::try_from(lines).unwrap()];
        assert_eq!(findings(&index, &log.files()).await, whole);
    }
}
