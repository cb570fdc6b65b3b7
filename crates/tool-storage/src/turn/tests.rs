use std::io;
use std::time::Duration;

use super::{take, take_share, try_take};
use crate::faults::Faults;
use crate::folder::Folder;

#[test]
fn a_lock_that_is_not_given_up_is_an_error_in_the_end_and_one_that_is_can_be_taken() {
    let dir = tempfile::tempdir().unwrap();
    let folder = Folder::open(dir.path(), Faults::default()).unwrap();
    // As another process has it: a file that is opened twice has two locks.
    let (held, waits) = (
        folder.append("lock").unwrap(),
        folder.append("lock").unwrap(),
    );
    assert!(try_take(&held).unwrap());
    assert!(!try_take(&waits).unwrap());
    for take in [take, take_share] {
        let error = take(&waits, Duration::from_millis(20)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }
    let taken = std::thread::spawn(move || take(&waits, Duration::from_secs(60)));
    drop(held);
    taken.join().unwrap().unwrap();
}
