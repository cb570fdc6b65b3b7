use std::error::Error as _;
use std::fs;

use tool_core::{Digest, Facts, StoreErrorKind};
use tool_storage::ManagedOutputs as _;

use crate::fixture::{DAY, Fixture, keep, page};

/// Damages the file of an output and returns its id.
async fn damaged(fixture: &Fixture, damage: impl FnOnce(&mut Vec<u8>)) -> String {
    let id = keep(&fixture.store, &Facts::new(), 100).await;
    let path = fixture.root().join(&id);
    let mut bytes = fs::read(&path).unwrap();
    damage(&mut bytes);
    fs::write(&path, bytes).unwrap();
    // What has no readable record ages by its file.
    let file = fs::File::options().write(true).open(&path).unwrap();
    file.set_modified(fixture.clock.now()).unwrap();
    id
}

#[tokio::test]
async fn a_damaged_output_is_a_named_error_and_never_a_page() {
    let fixture = Fixture::new();
    let len = |bytes: &[u8]| bytes.len();
    type Damage = (&'static str, Box<dyn Fn(&mut Vec<u8>)>);
    let damages: [Damage; 8] = [
        (
            "the file is too short for a record",
            Box::new(|bytes| bytes.clear()),
        ),
        (
            "the file is too short for a record",
            Box::new(|bytes| bytes.truncate(47)),
        ),
        (
            "the file does not end in a record",
            Box::new(|bytes| bytes.truncate(100)),
        ),
        (
            "the file does not end in a record",
            Box::new(|bytes| bytes.push(b'\n')),
        ),
        (
            "the length of the record is wrong",
            Box::new(move |bytes| {
                let at = len(bytes) - 48;
                bytes[at..at + 8].fill(0xFF);
            }),
        ),
        ("the record was changed", Box::new(|bytes| bytes[110] ^= 1)),
        (
            "the record was changed",
            Box::new(move |bytes| {
                let at = len(bytes) - 40;
                bytes[at] ^= 1;
            }),
        ),
        (
            "the output is not as long as recorded",
            Box::new(|bytes| {
                bytes.drain(..1);
            }),
        ),
    ];
    for (names, damage) in damages {
        let id = damaged(&fixture, damage).await;
        let error = page(&fixture.store, &id, None).await.unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Io);
        assert_eq!(error.to_string(), format!("output {id} is damaged"));
        assert_eq!(error.source().unwrap().to_string(), names);

        let reopened = fixture.another();
        assert!(reopened.list().unwrap().is_empty());
        assert!(page(&reopened, &id, None).await.is_err());
        reopened.remove(&id).unwrap();
        assert!(fixture.names().is_empty());
    }
}

#[tokio::test]
async fn the_record_of_another_output_is_no_record() {
    let fixture = Fixture::new();
    let id = keep(&fixture.store, &Facts::new(), 100).await;
    let copy = "out_0123456789abcdef";
    fs::copy(fixture.root().join(&id), fixture.root().join(copy)).unwrap();
    let error = page(&fixture.store, copy, None).await.unwrap_err();
    assert_eq!(
        error.source().unwrap().to_string(),
        "the record is another output's"
    );
    assert_eq!(fixture.ids(), [id]);
}

#[tokio::test]
async fn a_damaged_output_ages_by_its_file_and_counts_against_the_quota() {
    let fixture = Fixture::limited(1_000, 1_000);
    let id = damaged(&fixture, |bytes| bytes.truncate(90)).await;
    let path = fixture.root().join(&id);
    let reopened = fixture.another();
    reopened.sweep(fixture.clock.now() + 6 * DAY).unwrap();
    assert!(path.exists());
    assert_eq!(
        reopened.sweep(fixture.clock.now() + 7 * DAY).unwrap().bytes,
        90
    );
    assert!(!path.exists());
}

#[tokio::test]
async fn bytes_that_changed_on_the_disk_are_found_by_whoever_verifies() {
    let fixture = Fixture::new();
    let id = keep(&fixture.store, &Facts::new(), 100).await;
    assert_eq!(fixture.store.verify(&id).await.unwrap().bytes, 100);
    let path = fixture.root().join(&id);
    let mut bytes = fs::read(&path).unwrap();
    bytes[50] ^= 1;
    fs::write(&path, &bytes).unwrap();
    let error = fixture.store.verify(&id).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Io);
    let said = format!("output {id} is damaged: its bytes have changed");
    assert_eq!(error.to_string(), said);
    let error = fixture.store.verify("out_0123456789abcdef").await;
    assert_eq!(error.unwrap_err().kind(), StoreErrorKind::NotFound);
}

#[tokio::test]
async fn a_checksum_that_this_version_does_not_know_is_told_by_its_name() {
    let fixture = Fixture::new();
    let id = keep(&fixture.store, &Facts::new(), 100).await;
    let path = fixture.root().join(&id);
    // As a later version might have stored it: another name, of the same length, and a footer.
    let mut bytes = fs::read(&path).unwrap();
    let json = bytes.len() - 48;
    let record = String::from_utf8(bytes[100..json].to_vec()).unwrap();
    let other = record.replace("xxh3-128:", "xxh9-128:");
    assert_ne!(record, other);
    bytes[100..json].copy_from_slice(other.as_bytes());
    bytes[json + 8..json + 40].copy_from_slice(Digest::of(other.as_bytes()).as_bytes());
    fs::write(&path, &bytes).unwrap();
    let reopened = fixture.another();
    let error = reopened.verify(&id).await.unwrap_err();
    let said = format!(
        "output {id} has a checksum by `xxh9-128`, which this version does not know; verify it with \
         the version that stored it"
    );
    assert_eq!(
        (error.kind(), error.to_string()),
        (StoreErrorKind::Io, said)
    );
    assert_eq!(page(&reopened, &id, None).await.unwrap().bytes.len(), 100);
}
