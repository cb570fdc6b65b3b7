use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use super::{Order, Seen, Writer};
use crate::audit::AuditOptions;
use crate::faults::Faults;
use crate::folder::Folder;

/// A writer whose disk does not answer, and what waits for it.
fn stalled(room: usize) -> (Arc<Writer>, mpsc::Receiver<Order>) {
    let (orders, waiting) = mpsc::sync_channel(room);
    let seen = Arc::new(Seen::default());
    seen.broken.store(true, Ordering::Relaxed);
    let writer = Writer {
        orders: Some(orders),
        thread: Mutex::default(),
        seen,
    };
    (Arc::new(writer), waiting)
}

/// What a call is told, which is told it at all.
fn asks(writer: &Arc<Writer>) -> bool {
    let (told, answer) = mpsc::channel();
    let writer = Arc::clone(writer);
    std::thread::spawn(move || told.send(writer.retry()));
    answer.recv_timeout(Duration::from_secs(30)).unwrap()
}

#[test]
fn a_disk_that_does_not_answer_holds_no_call() {
    let (writer, waiting) = stalled(8);
    assert!(!asks(&writer));
    assert!(!asks(&writer), "nor the next, which asks nothing");
    assert_eq!(waiting.try_iter().count(), 1);
}

#[test]
fn once_the_disk_has_answered_it_can_be_asked_again() {
    let dir = tempfile::tempdir().unwrap();
    let folder = Arc::new(Folder::open(dir.path(), Faults::default()).unwrap());
    let writer = Writer::start(&folder, AuditOptions::DEFAULT, Arc::default()).unwrap();
    writer.seen.asked.store(true, Ordering::Relaxed);
    writer.seen.broken.store(true, Ordering::Relaxed);
    assert!(!writer.retry(), "somebody waits for an answer");
    writer.flush();
    assert!(writer.is_writing());
    writer.seen.broken.store(true, Ordering::Relaxed);
    assert!(writer.retry());
}

#[test]
fn nor_does_one_that_has_as_much_waiting_as_may_wait() {
    let (writer, _waiting) = stalled(0);
    assert!(!asks(&writer));
    assert!(
        !writer.seen.asked.load(Ordering::Relaxed),
        "nothing was asked"
    );
}

#[test]
fn while_one_call_asks_the_others_are_told_at_once_and_ask_nothing() {
    let (writer, waiting) = stalled(8);
    writer.seen.asked.store(true, Ordering::Relaxed);
    assert!(!asks(&writer));
    assert_eq!(waiting.try_iter().count(), 0);
}

#[test]
fn a_disk_that_can_be_written_again_is_found_by_the_call_that_asks() {
    let (writer, waiting) = stalled(8);
    let answers = std::thread::spawn(move || {
        for order in waiting {
            if let Order::Tell(told) = order {
                told.send(true).unwrap();
                return;
            }
        }
    });
    assert!(asks(&writer));
    answers.join().unwrap();
}
