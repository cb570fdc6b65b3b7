//! Whoever writes the lines.

use std::cell::Cell;
use std::io::{self, Write as _};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender, TrySendError};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tool_core::{StoreError, StoreErrorKind};

use super::AuditOptions;
use super::folded;
use super::line::Line;
use crate::folder::{Folder, is_linked};
use crate::store_file::StoreFile;

/// How many lines may wait for the disk. More are lost, as whoever tells of a call does not wait.
const MOST_WAITING: usize = 4096;
/// How long a call is held at the most while it is found out whether lines can be written again.
const MOST_HELD: Duration = Duration::from_millis(100);
/// How long lines are let come together before they are written, so that under load the thread is
/// woken for many of them at once.
const GATHERED: Duration = Duration::from_millis(2);
/// How many files are kept in a folder, however small.
const MOST_FILES: usize = 1000;
const BEGINS: &str = "audit-";
const ENDS: &str = ".jsonl";

/// Writes lines on a thread of its own.
pub(super) struct Writer {
    orders: Option<SyncSender<Order>>,
    thread: Mutex<Option<JoinHandle<()>>>,
    seen: Arc<Seen>,
}

/// What is seen of the writing from outside.
#[derive(Default)]
struct Seen {
    broken: AtomicBool,
    /// Whether somebody has asked whether lines can be written, and has no answer yet.
    asked: AtomicBool,
    lost: AtomicU64,
}

enum Order {
    /// A line.
    Line(Box<Line>),
    /// Tell when everything before is done, and whether lines can be written.
    Tell(mpsc::Sender<bool>),
}

impl Writer {
    pub(super) fn start(folder: Folder, options: AuditOptions) -> Result<Self, StoreError> {
        let mut files = Files {
            random: 0,
            number: 0,
            current: None,
            options,
            folder,
        };
        let begun = random().and_then(|random| {
            files.random = random;
            files.begin()
        });
        begun.map_err(|cause| files.folder.failed("could not take an audit log", cause))?;
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

fn write_all(mut files: Files, orders: &Receiver<Order>, seen: &Seen) {
    let (mut told_of_loss, mut counted, mut number) = (0, 0, 0);
    let rested = Cell::new(true);
    // Nobody has to wake who sleeps by itself.
    let gathered = std::iter::from_fn(|| {
        orders.try_recv().ok().or_else(|| {
            std::thread::sleep(GATHERED);
            rested.set(true);
            orders.try_recv().ok().or_else(|| orders.recv().ok())
        })
    });
    for order in gathered {
        let (written, told) = match order {
            Order::Line(mut line) => {
                let lost = seen.lost.load(Ordering::Relaxed);
                // Numbered here, so that they stand in their order; what never came has its own.
                number += 1 + lost - counted;
                counted = lost;
                line.seq = number;
                line.lost = (lost > told_of_loss).then(|| lost - told_of_loss);
                let written = folded::line(&line)
                    .and_then(|line| files.write(line.as_bytes(), rested.replace(false)));
                match &written {
                    Ok(()) => told_of_loss = lost,
                    Err(_) => {
                        seen.lost.fetch_add(1, Ordering::Relaxed);
                        counted += 1;
                    }
                }
                (written, None)
            }
            Order::Tell(told) => (files.try_out(), Some(told)),
        };
        let was_broken = seen.broken.swap(written.is_err(), Ordering::Relaxed);
        if let Some(told) = told {
            seen.asked.store(false, Ordering::Relaxed);
            // Whoever asked may have gone.
            let _ = told.send(written.is_ok());
        }
        match written {
            Err(error) if !was_broken => {
                tracing::error!(%error, "the audit log cannot be written");
            }
            Ok(()) if was_broken => tracing::warn!("the audit log can be written again"),
            _ => {}
        }
    }
}

/// The files of one log, of which one is written.
struct Files {
    folder: Folder,
    options: AuditOptions,
    /// What the names of this log's files have and no others.
    random: u32,
    number: u64,
    current: Option<Current>,
}

struct Current {
    file: StoreFile,
    bytes: u64,
    /// Whether the file ends inside a line.
    torn: bool,
}

impl Files {
    /// Begins the next file, and removes the oldest of all where there are too many.
    fn begin(&mut self) -> io::Result<()> {
        self.number += 1;
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let millis = since.map_or(0, |since| since.as_millis());
        let (random, number) = (self.random, self.number);
        let name = format!("{BEGINS}{millis:014}-{random:08x}-{number:06}{ENDS}");
        self.current = Some(Current {
            file: self.folder.create(&name)?,
            bytes: 0,
            torn: false,
        });
        let mut names = self.folder.names()?;
        names.retain(|name| name.starts_with(BEGINS) && name.ends_with(ENDS));
        names.sort_unstable();
        // The names sort by when the files were begun.
        let mut left = self.options.total_bytes.get();
        let older = names.iter().rev().filter(|other| **other != name);
        for (index, older) in older.enumerate() {
            left = left.saturating_sub(self.folder.bytes(older)?);
            if left == 0 || index >= MOST_FILES {
                self.folder.remove(older)?;
            }
        }
        Ok(())
    }

    /// Writes a line. After a rest it looks whether the file is still there.
    fn write(&mut self, line: &[u8], rested: bool) -> io::Result<()> {
        let most = self.options.file_bytes.get();
        let goes_on = |current: &Current| {
            // Another process may have removed it to make room.
            current.bytes < most && (!rested || is_linked(&current.file).unwrap_or(false))
        };
        if !self.current.as_ref().is_some_and(goes_on) {
            self.current = None;
            self.begin()?;
        }
        let Some(current) = &mut self.current else {
            return Err(io::ErrorKind::NotFound.into());
        };
        if current.torn {
            current.put(b"\n")?;
        }
        current.torn = true;
        current.put(line)?;
        current.torn = false;
        Ok(())
    }

    /// Whether anything can be written: nothing is, where the last line was.
    fn try_out(&mut self) -> io::Result<()> {
        match &mut self.current {
            None => self.begin(),
            Some(current) if current.torn => {
                current.put(b"\n")?;
                current.torn = false;
                Ok(())
            }
            Some(_) => Ok(()),
        }
    }
}

impl Current {
    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        self.bytes += bytes.len() as u64;
        Ok(())
    }
}

fn random() -> io::Result<u32> {
    let mut random = [0; 4];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    Ok(u32::from_be_bytes(random))
}

#[cfg(test)]
mod tests;
