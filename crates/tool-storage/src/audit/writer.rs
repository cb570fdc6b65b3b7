//! Whoever writes the lines.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender, TrySendError};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use tool_core::{StoreError, StoreErrorKind};

use super::AuditOptions;
use super::line::Line;
use super::scribe::Scribe;
use super::segments::Segments;
use crate::folder::Folder;
use crate::signal::Signal;

/// How many lines may wait for the disk. More are lost, as whoever tells of a call does not wait.
const MOST_WAITING: usize = 4096;
/// How long a call is held at the most while it is found out whether lines can be written again.
const MOST_HELD: Duration = Duration::from_millis(100);
/// How long lines are let come together before they are written, so that under load the thread is
/// woken for many of them at once.
const GATHERED: Duration = Duration::from_millis(2);

/// Writes lines on a thread of its own.
pub(super) struct Writer {
    orders: Option<SyncSender<Order>>,
    thread: Mutex<Option<JoinHandle<()>>>,
    seen: Arc<Seen>,
}

/// What is seen of the writing from outside.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) broken: AtomicBool,
    /// Whether somebody has asked whether lines can be written, and has no answer yet.
    asked: AtomicBool,
    pub(super) lost: AtomicU64,
}

enum Order {
    /// A line.
    Line(Box<Line>),
    /// Tell when everything before is done, and whether lines can be written.
    Tell(mpsc::Sender<bool>),
    /// End the file that is written, and tell when that is done.
    End(Arc<Signal>),
}

impl Writer {
    pub(super) fn start(
        folder: &Arc<Folder>,
        options: AuditOptions,
        changed: Arc<Signal>,
    ) -> Result<Self, StoreError> {
        let files = Segments::begin(Arc::clone(folder), options, changed);
        let files = files.map_err(|cause| folder.failed("could not take an audit log", cause))?;
        let seen = Arc::new(Seen::default());
        let (orders, taken) = mpsc::sync_channel(MOST_WAITING);
        let told = Arc::clone(&seen);
        let thread = std::thread::Builder::new()
            .name("audit".to_owned())
            .spawn(move || write_all(files, &taken, &told));
        let thread = thread.map_err(|cause| {
            StoreError::new(StoreErrorKind::Io, "the audit log has no thread").because(cause)
        })?;
        Ok(Self {
            orders: Some(orders),
            thread: Mutex::new(Some(thread)),
            seen,
        })
    }

    pub(super) fn write(&self, line: Line) {
        let order = Order::Line(Box::new(line));
        let sent = self.orders.as_ref().map(|orders| orders.try_send(order));
        if !matches!(sent, Some(Ok(()))) {
            self.seen.lost.fetch_add(1, Ordering::Relaxed);
            // Where calls are refused then, the next one finds out whether this is over.
            self.seen.broken.store(true, Ordering::Relaxed);
            if matches!(sent, Some(Err(TrySendError::Full(_)))) {
                tracing::warn!("the disk is too slow for the audit log, and a line is lost");
            }
        }
    }

    pub(super) fn flush(&self) {
        let (told, answer) = mpsc::channel();
        let orders = self.orders.as_ref();
        if orders.is_some_and(|orders| orders.send(Order::Tell(told)).is_ok()) {
            // An end without an answer is an end as well.
            let _ = answer.recv();
        }
    }

    /// Ends the file that is written, after all lines of before.
    pub(super) async fn end_file(&self) {
        let ended = Arc::new(Signal::default());
        let order = Order::End(Arc::clone(&ended));
        // Where as much waits as may wait, the disk does not answer, and nobody waits for it here.
        let orders = self.orders.as_ref();
        if orders.is_some_and(|orders| orders.try_send(order).is_ok()) {
            ended.raised().await;
        }
    }

    pub(super) fn is_writing(&self) -> bool {
        !self.seen.broken.load(Ordering::Relaxed)
    }

    /// Whether lines can be written; where the last could not, it is tried, and for [`MOST_HELD`] the
    /// caller waits. A disk that takes longer is one that cannot be written: until it answers nobody
    /// waits any more, and its answer is there for whoever comes next.
    pub(super) fn retry(&self) -> bool {
        self.is_writing() || self.try_out()
    }

    fn try_out(&self) -> bool {
        if self.seen.asked.swap(true, Ordering::Relaxed) {
            return false;
        }
        let (told, answer) = mpsc::channel();
        let orders = self.orders.as_ref();
        let sent = orders.is_some_and(|orders| orders.try_send(Order::Tell(told)).is_ok());
        if !sent {
            self.seen.asked.store(false, Ordering::Relaxed);
            return false;
        }
        answer.recv_timeout(MOST_HELD).unwrap_or(false)
    }

    pub(super) fn lost(&self) -> u64 {
        self.seen.lost.load(Ordering::Relaxed)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // The end of the orders is the end of the thread, after all that were given.
        self.orders = None;
        let thread = self.thread.get_mut();
        let thread = thread.map_or_else(|poisoned| poisoned.into_inner().take(), Option::take);
        if let Some(thread) = thread {
            let _ = thread.join();
        }
    }
}

fn write_all(files: Segments, orders: &Receiver<Order>, seen: &Seen) {
    let mut scribe = Scribe::new(files, seen);
    loop {
        let order = orders.try_recv().ok().or_else(|| {
            scribe.put_down();
            // Nobody has to wake who sleeps by itself.
            std::thread::sleep(GATHERED);
            scribe.rest();
            orders.try_recv().ok().or_else(|| orders.recv().ok())
        });
        match order {
            Some(Order::Line(line)) => scribe.take(line),
            Some(Order::Tell(told)) => {
                let written = scribe.try_out();
                seen.asked.store(false, Ordering::Relaxed);
                // Whoever asked may have gone.
                let _ = told.send(written);
            }
            Some(Order::End(ended)) => {
                scribe.end_file();
                ended.raise();
            }
            None => return,
        }
    }
}

#[cfg(test)]
mod tests;
