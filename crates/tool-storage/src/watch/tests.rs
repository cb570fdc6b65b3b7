use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Watch;
use crate::faults::Faults;
use crate::folder::Folder;
use crate::turn;

#[tokio::test]
async fn all_who_wait_for_a_lock_have_one_thread_and_each_a_time_of_its_own() {
    let dir = tempfile::tempdir().unwrap();
    let folder = Folder::open(dir.path(), Faults::default()).unwrap();
    // As another process has it: a file that is opened twice has two locks.
    let held = folder.append("lock").unwrap();
    assert!(turn::try_take(&held).unwrap());
    let mut watch = None;
    let mut join = |patience| {
        let until = Instant::now() + patience;
        let waits = Watch::join(&mut watch, || folder.append("lock"), until).unwrap();
        (waits, Arc::clone(watch.as_ref().unwrap()))
    };
    let long = Duration::from_secs(60);
    let (first, of_first) = join(long);
    let (short, of_short) = join(Duration::from_millis(20));
    let (last, _) = join(long);
    assert!(Arc::ptr_eq(&of_first, &of_short));
    let error = short.await.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::TimedOut);

    drop(held);
    first.await.unwrap();
    last.await.unwrap();
    let again = folder.append("lock").unwrap();
    turn::take(&again, long).unwrap();

    // It ends with the last who waits.
    let (dropped, of_dropped) = join(long);
    assert!(!Arc::ptr_eq(&of_first, &of_dropped));
    drop(dropped);
    while of_dropped.watched().ended.is_none() {
        tokio::task::yield_now().await;
    }
}
