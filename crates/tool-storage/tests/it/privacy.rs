#![cfg(unix)]

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;

use tool_core::{Content, Facts, StoreErrorKind};
use tool_storage::DirStore;

use crate::fixture::{Fixture, keep, names, page, retain, session};

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
}

fn make_dir(path: &Path, mode: u32) {
    fs::create_dir(path).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Runs a test of this binary in a process of its own, under a umask.
fn run_under_umask(umask: &str, test: &str) {
    let output = Command::new("sh")
        .args(["-c", r#"umask "$1" && shift && exec "$@""#, "sh", umask])
        .arg(std::env::current_exe().unwrap())
        .args([test, "--exact", "--nocapture"])
        .env("TOOL_STORAGE_TEST_UMASK", umask)
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && stdout.contains("modes seen"),
        "{umask}: {stdout}"
    );
}

#[test]
fn directory_and_files_are_private_from_creation_under_any_umask() {
    for umask in ["000", "022", "777"] {
        run_under_umask(umask, "privacy::modes_in_a_process_of_its_own");
    }
}

/// Does nothing unless the test above runs it.
#[test]
fn modes_in_a_process_of_its_own() {
    if std::env::var_os("TOOL_STORAGE_TEST_UMASK").is_none() {
        return;
    }
    let parent = tempfile::tempdir().unwrap();
    fs::set_permissions(parent.path(), fs::Permissions::from_mode(0o700)).unwrap();
    let root = parent.path().join("outputs");
    let store = DirStore::builder(&root).open().unwrap();
    let pin = store.pin_session("s");
    let facts = session("s");
    let mut storing = Box::pin(retain(
        &store,
        &facts,
        vec![Content::text("x".repeat(300_000))],
    ));
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    let mut has_awaited = false;
    loop {
        assert_eq!(mode(&root), 0o700);
        let names = names(&root);
        assert_eq!(names.len(), if has_awaited { 2 } else { 1 }, "{names:?}");
        for name in names {
            assert_eq!(mode(&root.join(&name)), 0o600, "{name}");
        }
        if storing.as_mut().poll(&mut cx).is_ready() {
            break;
        }
        has_awaited = true;
    }
    assert_eq!(mode(&root.join(&store.list().unwrap()[0].id)), 0o600);
    drop(pin);
    println!("modes seen");
}

#[test]
fn parents_that_are_created_are_private_too() {
    let dir = tempfile::tempdir().unwrap();
    DirStore::builder(dir.path().join("state/outputs"))
        .open()
        .unwrap();
    assert_eq!(mode(&dir.path().join("state")), 0o700);
}

#[test]
fn an_empty_directory_is_made_private_and_one_in_use_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("lax");
    make_dir(&root, 0o755);
    DirStore::builder(&root).open().unwrap();
    assert_eq!(mode(&root), 0o700);

    fs::write(root.join("file"), "").unwrap();
    DirStore::builder(&root).open().unwrap();
    fs::set_permissions(&root, fs::Permissions::from_mode(0o750)).unwrap();
    let error = DirStore::builder(&root).open().unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Io);
    assert_eq!(
        std::error::Error::source(&error).unwrap().to_string(),
        "others may enter it (mode 750) and it is not empty; make it private with chmod 700"
    );
    assert_eq!(mode(&root), 0o750, "nothing was changed");
}

#[test]
fn a_root_that_is_a_symbolic_link_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    make_dir(&dir.path().join("target"), 0o700);
    for target in ["target", "missing"] {
        let root = dir.path().join(format!("link-to-{target}"));
        symlink(dir.path().join(target), &root).unwrap();
        let error = DirStore::builder(&root).open().unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Io);
        assert_eq!(
            std::error::Error::source(&error).unwrap().to_string(),
            "it is a symbolic link; name the directory itself"
        );
    }
    assert!(names(&dir.path().join("target")).is_empty());
    assert!(!dir.path().join("missing").exists());
}

#[tokio::test]
async fn a_symbolic_link_with_the_name_of_an_output_is_never_followed() {
    let fixture = Fixture::new();
    let id = keep(&fixture.store, &Facts::new(), 100).await;
    let outside = fixture.dir.path().join("outside");
    fs::rename(fixture.root().join(&id), &outside).unwrap();
    symlink(&outside, fixture.root().join(&id)).unwrap();

    for store in [&fixture.store, &fixture.another()] {
        let error = page(store, &id, None).await.unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Io);
        assert_eq!(
            std::error::Error::source(&error).unwrap().to_string(),
            "it is no regular file"
        );
    }
    assert!(fixture.another().list().unwrap().is_empty());
    fixture.store.remove(&id).unwrap();
    assert!(outside.exists() && fixture.names().is_empty());
}

#[test]
fn a_symbolic_link_with_the_name_of_a_pin_is_never_followed() {
    let fixture = Fixture::new();
    let victim = fixture.root().join("victim");
    fs::write(&victim, "").unwrap();
    fs::set_permissions(&victim, fs::Permissions::from_mode(0o640)).unwrap();
    let name = format!(".live-{}", tool_core::Digest::of(b"s").hex());
    symlink("victim", fixture.root().join(name)).unwrap();
    drop(fixture.store.pin_session("s"));
    assert_eq!(mode(&victim), 0o640);
}

#[tokio::test]
async fn names_are_random_and_hold_nothing_of_the_output() {
    let fixture = Fixture::new();
    let canary = "canary-5f1b";
    let facts = session(canary);
    let pin = fixture.store.pin_session(canary);
    let mut seen = std::collections::HashSet::new();
    for _ in 0..50 {
        let content = vec![Content::text(canary)];
        let id = retain(&fixture.store, &facts, content)
            .await
            .unwrap()
            .retained
            .id;
        assert_eq!(id.len(), "out_".len() + 16);
        assert!(seen.insert(id));
    }
    assert!(fixture.names().iter().all(|name| !name.contains(canary)));
    drop(pin);
}

#[tokio::test]
async fn errors_hold_nothing_of_the_output_nor_of_its_session() {
    let fixture = Fixture::limited(100, 150);
    let canary = "canary-5f1b";
    let facts = session(canary);
    let text = |len: usize| vec![Content::text(canary.repeat(len))];
    let pin = fixture.store.pin_session(canary);
    let id = retain(&fixture.store, &facts, text(9))
        .await
        .unwrap()
        .retained
        .id;
    let mut errors = vec![
        retain(&fixture.store, &facts, text(100)).await.unwrap_err(),
        retain(&fixture.store, &facts, text(9)).await.unwrap_err(),
        page(&fixture.store, &id, Some(&Facts::new()))
            .await
            .unwrap_err(),
        page(&fixture.store, canary, Some(&facts))
            .await
            .unwrap_err(),
    ];
    fs::write(fixture.root().join(&id), canary).unwrap();
    errors.push(page(&fixture.store, &id, Some(&facts)).await.unwrap_err());
    for error in errors {
        let mut chain = format!("{error} {error:?}");
        let mut source = std::error::Error::source(&error);
        while let Some(cause) = source {
            chain.push_str(&format!(" {cause} {cause:?}"));
            source = cause.source();
        }
        assert!(!chain.contains(canary), "{chain}");
    }
    drop(pin);
}
