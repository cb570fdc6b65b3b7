//! What is in the directory of an artifact store, whoever else is at it.

use std::fs;
use std::time::Duration;

use tool_core::{ArtifactErrorKind, ArtifactQuery, ArtifactRef, ArtifactScope, ArtifactStore};
use tool_storage::{ArtifactLimits, DirArtifacts};
use tool_testkit::artifacts::ArtifactHarness as _;

use crate::artifacts::{InDirectory, draft, limits, only_file, put};
use crate::fixture::{DAY, killed, names, report, session};

#[tokio::test]
async fn two_stores_on_one_directory_are_one_store() {
    let harness = InDirectory::new();
    let store = harness.bounded(1_000, 3).unwrap();
    let other = harness.another();
    let limits = limits(ArtifactLimits::DISK, 1_000, 3);
    let other = other.limits(limits).open().unwrap();
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
    // Also where one takes the directory of the scope away, and makes it anew.
    assert_eq!(other.remove_all(&facts).unwrap(), 2);
    let listed = store.list(&facts, ArtifactQuery::new()).await.unwrap();
    assert!(listed.artifacts.is_empty());
    let new = put(&store, &facts, "new").await;
    assert_eq!(other.remove_all(&facts).unwrap(), 1);
    let newer = put(&other, &facts, "newer").await;
    let listed = store.list(&facts, ArtifactQuery::new()).await.unwrap();
    assert_eq!(listed.artifacts.len(), 1);
    assert_eq!(listed.artifacts[0].reference, newer);
    assert!(store.get(&facts, new.as_str()).await.unwrap().is_none());
}

#[tokio::test]
async fn what_is_forgotten_while_another_has_the_scope_is_read_by_nobody_and_leaves_every_list() {
    let harness = InDirectory::new();
    let (store, other) = (harness.open(), harness.another().open().unwrap());
    let facts = session("s");
    let gone = put(&store, &facts, "gone").await;
    let stays = put(&store, &facts, "stays").await;
    let list = async |store: &DirArtifacts| {
        let listed = store.list(&facts, ArtifactQuery::new()).await.unwrap();
        let listed = listed.artifacts.into_iter();
        listed.map(|meta| meta.reference).collect::<Vec<_>>()
    };
    assert_eq!(list(&other).await, [stays.clone(), gone.clone()]);
    let lock = fs::File::open(harness.scope(&facts).join(".lock")).unwrap();
    lock.lock().unwrap();
    // It waits for nobody.
    store.forget(&facts, gone.as_str());
    for store in [&store, &other] {
        assert!(store.get(&facts, gone.as_str()).await.unwrap().is_none());
        assert!(store.head(&facts, gone.as_str()).await.unwrap().is_none());
    }
    lock.unlock().unwrap();
    assert_eq!(list(&store).await, std::slice::from_ref(&stays));
    assert_eq!(list(&other).await, [stays]);
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
    let again = harness.another().open().unwrap();
    let listed = again.list(&facts, ArtifactQuery::new()).await.unwrap();
    assert_eq!(listed.artifacts, [kept.meta]);
}

#[tokio::test]
async fn a_damaged_artifact_is_an_error_and_no_absence() {
    let harness = InDirectory::new();
    let store = harness.open();
    let facts = session("s");
    let reference = put(&store, &facts, "text").await;
    let file = only_file(&harness.scope(&facts));
    fs::write(&file, "torn").unwrap();
    let error = store.get(&facts, reference.as_str()).await.unwrap_err();
    assert_eq!(error.kind(), ArtifactErrorKind::Io);
    assert_eq!(
        error.to_string(),
        format!("artifact {reference} is damaged")
    );
    // As nothing is known of it, it has its time from when its file was written.
    let written = fs::File::options().write(true).open(&file).unwrap();
    written.set_modified(harness.now()).unwrap();
    // Whoever reads the directory anew passes it over.
    let again = harness.another().open().unwrap();
    let listed = again.list(&facts, ArtifactQuery::new()).await;
    assert!(listed.unwrap().artifacts.is_empty());
    harness.advance(7 * DAY - Duration::from_secs(1));
    harness.another().open().unwrap();
    assert!(file.exists());
    harness.advance(Duration::from_secs(1));
    harness.another().open().unwrap();
    assert!(!file.exists());
}

#[tokio::test]
async fn a_file_in_the_place_of_another_is_not_that_artifact() {
    let harness = InDirectory::new();
    let store = harness.open();
    let (facts, stranger) = (session("s"), session("other"));
    let mine = put(&store, &facts, "mine").await;
    let file = only_file(&harness.scope(&facts));
    let foreign = put(&store, &stranger, "foreign").await;
    let place = only_file(&harness.scope(&stranger));
    fs::copy(&file, place.with_file_name(file.file_name().unwrap())).unwrap();
    let got = store.get(&stranger, mine.as_str()).await;
    assert_eq!(got.unwrap_err().kind(), ArtifactErrorKind::Io);
    fs::copy(
        &place,
        harness.scope(&facts).join(place.file_name().unwrap()),
    )
    .unwrap();
    fs::copy(&place, &file).unwrap();
    for reference in [&mine, &foreign] {
        let got = store.get(&facts, reference.as_str()).await;
        assert_eq!(got.unwrap_err().kind(), ArtifactErrorKind::Io);
    }
    // Of the same caller too.
    let one = put(&store, &facts, "one").await;
    let name = |reference: &ArtifactRef| tool_core::Digest::of(reference.as_str().as_bytes()).hex();
    let place = harness.scope(&facts).join(name(&foreign));
    fs::copy(harness.scope(&facts).join(name(&one)), place).unwrap();
    assert!(store.get(&facts, foreign.as_str()).await.is_err());
}

#[tokio::test]
async fn what_a_dead_process_left_goes_and_what_a_live_one_writes_stays() {
    let harness = InDirectory::new();
    let store = harness.open();
    let facts = session("s");
    let mut putting = Box::pin(store.put(&facts, draft(), "x".repeat(300_000).into()));
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(putting.as_mut().poll(&mut cx).is_pending());
    let dead = harness
        .scope(&facts)
        .join(format!(".new-{}", "0".repeat(64)));
    fs::write(&dead, "half of an art").unwrap();
    let other = harness.another().open().unwrap();
    assert!(!dead.exists());
    let kept = putting.await.unwrap();
    let got = other.get(&facts, kept.meta.reference.as_str()).await;
    assert!(got.unwrap().is_some());
}

#[tokio::test]
async fn when_an_artifact_was_got_is_known_to_a_store_that_is_opened_later() {
    let dir = tempfile::tempdir().unwrap();
    let open = || {
        // By the clock of the machine, as times of files go by it too.
        let store = DirArtifacts::builder(dir.path().join("store"));
        let limits = limits(ArtifactLimits::DISK, 1_000, 2);
        store.limits(limits).open().unwrap()
    };
    let (store, facts) = (open(), session("s"));
    let first = put(&store, &facts, "first").await;
    let second = put(&store, &facts, "second").await;
    store.get(&facts, first.as_str()).await.unwrap();
    let kept = open().put(&facts, draft(), "third".into()).await.unwrap();
    assert_eq!(kept.swept.len(), 1);
    assert_eq!(kept.swept[0].reference, second);
}

#[test]
fn stores_that_put_at_once_take_turns() {
    let harness = InDirectory::new();
    harness.open();
    let facts = session("s");
    let swept: Vec<Vec<ArtifactRef>> = std::thread::scope(|scope| {
        let putting = || {
            let limits = limits(ArtifactLimits::DISK, 1_000, 1);
            let store = harness.another().limits(limits).open().unwrap();
            let runtime = tokio::runtime::Builder::new_current_thread().build();
            runtime.unwrap().block_on(async {
                let mut swept = Vec::new();
                for _ in 0..PUTS {
                    let kept = store.put(&facts, draft(), "x".into()).await.unwrap();
                    swept.extend(kept.swept.into_iter().map(|gone| gone.reference));
                }
                swept
            })
        };
        let threads: Vec<_> = (0..2).map(|_| scope.spawn(putting)).collect();
        let threads = threads.into_iter();
        threads.map(|thread| thread.join().unwrap()).collect()
    });
    let swept = swept.concat().len();
    assert_eq!(swept, 2 * PUTS - 1, "each left once, but for the last");
    only_file(&harness.scope(&facts));
}

const PUTS: usize = 50;

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
    let scope = harness.scope(&facts);
    let file = only_file(&scope);
    let outside = harness.dir.path().join("outside");
    fs::rename(&file, &outside).unwrap();
    symlink(&outside, &file).unwrap();
    assert!(store.get(&facts, reference.as_str()).await.is_err());

    let elsewhere = harness.dir.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let other = session("other");
    symlink(&elsewhere, harness.scope(&other)).unwrap();
    let refused = store.put(&other, draft(), "text".into()).await.unwrap_err();
    assert_eq!(refused.kind(), ArtifactErrorKind::Io);
    assert!(names(&elsewhere).is_empty());
}

#[tokio::test]
async fn what_has_the_name_of_a_scope_and_is_none_stops_no_store() {
    let harness = InDirectory::new();
    let facts = session("s");
    let reference = put(&harness.open(), &facts, "text").await;
    let root = harness.scope(&facts);
    let root = root.parent().unwrap();
    fs::write(root.join("a".repeat(64)), "somebody else's").unwrap();
    fs::write(harness.scope(&session("other")), "in its place").unwrap();

    let store = harness.another().open().unwrap();
    assert!(
        store
            .get(&facts, reference.as_str())
            .await
            .unwrap()
            .is_some()
    );
    harness.advance(DAY * 400);
    assert_eq!(
        store.sweep().unwrap().len(),
        1,
        "others are swept all the same"
    );
    let left = fs::read_to_string(root.join("a".repeat(64))).unwrap();
    assert_eq!(left, "somebody else's");
}

/// Puts one artifact after the other and reports the reference of each that is kept. Does nothing
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
        report(put.await.unwrap().meta.reference);
    }
}

#[tokio::test]
async fn killed_at_any_moment_what_was_reported_is_whole_and_the_rest_is_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("artifacts");
    let reported = killed(
        "artifact_files::put_in_a_process_of_its_own",
        ("TOOL_STORAGE_TEST_ARTIFACTS", &root),
        5,
        |round| round + 1,
    );
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
