//! Waiting for a lock that another process has.

use std::collections::BTreeMap;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use crate::store_file::StoreFile;
use crate::turn;

/// Those of this process who wait for one lock. One thread looks for all of them whether it is free,
/// for as long as anybody waits.
#[derive(Debug, Default)]
pub(crate) struct Watch(Mutex<Watched>);

#[derive(Debug, Default)]
struct Watched {
    next: u64,
    waiting: BTreeMap<u64, (Instant, Option<Waker>)>,
    /// What it has ended with.
    ended: Option<Result<(), Arc<io::Error>>>,
}

/// Somebody who waits until a lock was free for a moment, or so long at the most. Dropped, it waits
/// no longer.
#[derive(Debug)]
pub(crate) struct Waits {
    watch: Arc<Watch>,
    number: u64,
    deadline: Instant,
}

impl Watch {
    /// Waits with whoever does already, or begins to.
    pub(crate) fn join(
        watch: &mut Option<Arc<Self>>,
        lock: impl FnOnce() -> io::Result<StoreFile>,
        deadline: Instant,
    ) -> io::Result<Waits> {
        if let Some(waits) = watch.as_ref().and_then(|watch| watch.add(deadline)) {
            return Ok(waits);
        }
        let (new, lock) = (Arc::new(Self::default()), lock()?);
        let waits = new.add(deadline);
        let waits = waits.ok_or_else(|| io::Error::other("nobody can wait for a lock"))?;
        let looks = Arc::clone(&new);
        std::thread::Builder::new()
            .name("lock".to_owned())
            .spawn(move || looks.look(lock))?;
        *watch = Some(new);
        Ok(waits)
    }

    /// `None` once it has ended.
    fn add(self: &Arc<Self>, deadline: Instant) -> Option<Waits> {
        let mut watched = self.watched();
        if watched.ended.is_some() {
            return None;
        }
        let number = watched.next;
        watched.next += 1;
        watched.waiting.insert(number, (deadline, None));
        Some(Waits {
            watch: Arc::clone(self),
            number,
            deadline,
        })
    }

    fn look(&self, lock: StoreFile) {
        let mut pause = FIRST_PAUSE;
        let ended = loop {
            match turn::try_take(&lock) {
                Ok(true) => break Ok(()),
                Ok(false) => {}
                Err(error) => break Err(Arc::new(error)),
            }
            let mut watched = self.watched();
            if watched.waiting.is_empty() {
                watched.ended = Some(Ok(()));
                return;
            }
            let now = Instant::now();
            for (deadline, waker) in watched.waiting.values_mut() {
                if *deadline <= now
                    && let Some(waker) = waker.take()
                {
                    waker.wake();
                }
            }
            drop(watched);
            std::thread::sleep(pause);
            pause = (pause * 2).min(LONGEST_PAUSE);
        };
        // It is for those who wait.
        drop(lock);
        let mut watched = self.watched();
        watched.ended = Some(ended);
        for (_, waker) in std::mem::take(&mut watched.waiting).into_values() {
            waker.into_iter().for_each(Waker::wake);
        }
    }

    fn watched(&self) -> MutexGuard<'_, Watched> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Future for Waits {
    type Output = io::Result<()>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut watched = self.watch.watched();
        if let Some(ended) = &watched.ended {
            let ended = ended.clone();
            return Poll::Ready(ended.map_err(|error| io::Error::new(error.kind(), error)));
        }
        if self.deadline <= Instant::now() {
            return Poll::Ready(Err(turn::too_long()));
        }
        let waker = Some(cx.waker().clone());
        let deadline = self.deadline;
        watched.waiting.insert(self.number, (deadline, waker));
        Poll::Pending
    }
}

impl Drop for Waits {
    fn drop(&mut self) {
        self.watch.watched().waiting.remove(&self.number);
    }
}

const FIRST_PAUSE: Duration = Duration::from_micros(50);
const LONGEST_PAUSE: Duration = Duration::from_millis(10);

#[cfg(test)]
mod tests;
