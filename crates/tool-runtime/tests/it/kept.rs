//! What is remembered, while others write as well.

use std::fs::File;
use std::sync::mpsc;
use std::time::Duration;

use tool_runtime::approvals_in;
use tool_runtime::permission::{Approval, Scope};

/// How long a test waits for what has to come.
const PATIENCE: Duration = Duration::from_secs(60);

#[tokio::test]
async fn whoever_waits_for_another_process_to_write_keeps_no_thread_of_the_runtime() {
    let folder = tempfile::tempdir().expect("a folder");
    let (approvals, _) = approvals_in(folder.path(), folder.path())
        .await
        .expect("it is opened");
    // Another process is writing.
    let lock = File::options()
        .write(true)
        .open(folder.path().join("kept").join("lock"))
        .expect("writers take turns by it");
    lock.lock().expect("nobody writes yet");
    let (done, goes_on) = mpsc::channel();
    let other = std::thread::spawn(move || {
        let went_on = goes_on.recv_timeout(PATIENCE).is_ok();
        drop(lock);
        went_on
    });
    // On one thread: what comes second is reached only while the first waits.
    let approval = Approval::new("fetch", "a", Scope::Project);
    let (granted, told) = tokio::join!(approvals.grant([approval], None), async { done.send(()) });
    assert!(told.is_ok());
    assert!(other.join().expect("it ends"), "all waited for the lock");
    assert_eq!(granted.expect("it is kept").len(), 1);
}
