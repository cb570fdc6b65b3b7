use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tool_core::{
    ArtifactDraft, ArtifactErrorKind, ArtifactKind, ArtifactQuery, ArtifactStore as _, Bound,
    Content, Facts, StoreErrorKind,
};
use tool_storage::{DirArtifacts, DirStore};

use crate::fixture::{Fixture, keep, names, page, pages, retain};

#[test]
fn a_root_that_is_a_regular_file_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    for root in [dir.path().join("file"), dir.path().join("file/outputs")] {
        fs::write(dir.path().join("file"), "untouched").unwrap();
        let error = DirStore::builder(&root).open().unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Io);
        assert_eq!(
            error.to_string(),
            format!("output store {} could not be opened", root.display())
        );
    }
    assert_eq!(
        fs::read_to_string(dir.path().join("file")).unwrap(),
        "untouched"
    );
}

#[tokio::test]
async fn law_09_no_lossy_success_when_the_directory_became_a_regular_file() {
    let fixture = Fixture::new();
    fs::remove_dir(fixture.root()).unwrap();
    fs::write(fixture.root(), "a file").unwrap();
    let content = vec![Content::text("x".repeat(5_000))];
    let error = retain(&fixture.store, &Facts::new(), content)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Io);
    assert!(
        error.to_string().ends_with("could not create an output"),
        "{error}"
    );
    assert_eq!(fs::read_to_string(fixture.root()).unwrap(), "a file");
}

#[test]
fn s29_law_09_no_lossy_success_on_a_full_disk() {
    run_on_small_disk("full_disk::on_a_full_disk");
}

#[test]
fn s29_on_a_full_disk_a_stream_and_an_artifact_are_refused_and_give_their_space_back() {
    run_on_small_disk("full_disk::streamed_on_a_full_disk");
}

#[test]
fn s29_law_09_no_lossy_success_on_a_disk_that_cannot_be_written() {
    run_on_small_disk("full_disk::on_a_read_only_disk");
}

/// Does nothing unless a test above runs it.
#[tokio::test]
async fn on_a_full_disk() {
    let Some(disk) = small_disk() else { return };
    let store = DirStore::builder(disk.join("outputs")).open().unwrap();
    let facts = Facts::new();
    let kept = keep(&store, &facts, 500_000).await;
    for _ in 0..3 {
        let content = vec![Content::text("x".repeat(3_000_000))];
        let error = retain(&store, &facts, content).await.unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Io);
        assert!(
            error.to_string().ends_with("could not write an output"),
            "{error}"
        );
        assert_eq!(
            names(&disk.join("outputs")),
            [&*kept],
            "nothing is left behind"
        );
    }
    // The disk is filled to the last byte, so that only the record does not fit.
    fs::write(disk.join("filler"), vec![0; 1_000_000]).unwrap();
    let free = 2 * 1024 * 1024 - 500_000 - 1_000_000;
    let mut refused = 0;
    for len in (free - 40_000..free).step_by(1_024) {
        match retain(&store, &facts, vec![Content::text("x".repeat(len))]).await {
            Ok(bounded) => {
                assert_eq!(
                    pages(&store, &bounded.retained.id, 1 << 20)
                        .await
                        .concat()
                        .len(),
                    len
                );
                store.remove(&bounded.retained.id).unwrap();
            }
            Err(error) => {
                assert_eq!(error.kind(), StoreErrorKind::Io);
                assert_eq!(names(&disk.join("outputs")), [&*kept]);
                refused += 1;
            }
        }
    }
    assert!(refused > 0);
    assert_eq!(pages(&store, &kept, 1 << 20).await.concat().len(), 500_000);
    println!("seen on a small disk");
}

/// Does nothing unless a test above runs it.
#[tokio::test]
async fn streamed_on_a_full_disk() {
    let Some(disk) = small_disk() else { return };
    let store = DirStore::builder(disk.join("outputs")).open().unwrap();
    let artifacts = DirArtifacts::builder(disk.join("artifacts"))
        .open()
        .unwrap();
    let facts = crate::fixture::session("s");
    let kept = keep(&store, &facts, 300_000).await;
    for _ in 0..3 {
        let mut output = store.begin(&facts, "shell", Bound::DEFAULT).unwrap();
        let refused = loop {
            if let Err(error) = output.write(&"y".repeat(100_000)).await {
                break error;
            }
        };
        assert_eq!(refused.kind(), StoreErrorKind::Io);
        assert!(output.write("more").await.is_err(), "it stays refused");
        assert_eq!(output.finish().unwrap_err().kind(), StoreErrorKind::Io);
        assert_eq!(names(&disk.join("outputs")), [&*kept]);

        let draft = ArtifactDraft::new(ArtifactKind::new("note").unwrap());
        let put = artifacts
            .put(&facts, draft, vec![7; 2_000_000].into())
            .await;
        assert_eq!(put.unwrap_err().kind(), ArtifactErrorKind::Io);
        let left = artifacts.list(&facts, ArtifactQuery::new()).await.unwrap();
        assert!(left.artifacts.is_empty());
    }
    // Nothing of all that was left behind: what fits into the rest is taken.
    let draft = ArtifactDraft::new(ArtifactKind::new("note").unwrap());
    let fits = artifacts.put(&facts, draft, vec![7; 600_000].into()).await;
    assert!(fits.is_ok());
    let also = keep(&store, &facts, 600_000).await;
    assert_eq!(pages(&store, &also, 1 << 20).await.concat().len(), 600_000);
    println!("seen on a small disk");
}

/// Does nothing unless a test above runs it.
#[tokio::test]
async fn on_a_read_only_disk() {
    let Some(disk) = small_disk() else { return };
    let store = DirStore::builder(disk.join("outputs")).open().unwrap();
    let facts = Facts::new();
    let kept = keep(&store, &facts, 1_000).await;
    let status = Command::new("mount")
        .args(["-o", "remount,ro"])
        .arg(&disk)
        .status()
        .unwrap();
    assert!(status.success());
    let content = vec![Content::text("x".repeat(3_000))];
    let error = retain(&store, &facts, content).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Io);
    assert!(
        error.to_string().ends_with("could not create an output"),
        "{error}"
    );
    assert_eq!(store.remove(&kept).unwrap_err().kind(), StoreErrorKind::Io);
    assert!(
        page(&store, &kept, None).await.is_ok(),
        "what is there is still read"
    );
    let swept = store
        .sweep(std::time::SystemTime::now() + 8 * crate::fixture::DAY)
        .unwrap();
    assert_eq!((swept.outputs, swept.failed), (0, 1));
    println!("seen on a small disk");
}

/// Runs a test of this binary in a process of its own that sees a disk of 2 MiB.
fn run_on_small_disk(test: &str) {
    let disk = tempfile::tempdir().unwrap();
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-c"])
        .arg(r#"mount -t tmpfs -o size=2m,mode=700 none "$1" || exit 77; shift; exec "$@""#)
        .arg("sh")
        .arg(disk.path())
        .arg(std::env::current_exe().unwrap())
        .args([test, "--exact", "--nocapture"])
        .env("TOOL_STORAGE_TEST_DISK", disk.path())
        .output();
    match output {
        Ok(output) if String::from_utf8_lossy(&output.stdout).contains("running 1 test") => {
            let stdout = String::from_utf8_lossy(&output.stdout);
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert!(
                output.status.success() && stdout.contains("seen on a small disk"),
                "{stdout}{stderr}"
            );
        }
        _ => eprintln!("skipped {test}: no disk can be mounted here (unshare and tmpfs)"),
    }
}

fn small_disk() -> Option<PathBuf> {
    let disk = std::env::var_os("TOOL_STORAGE_TEST_DISK")?;
    Some(Path::new(&disk).to_owned())
}
