//! Something has happened that somebody waits for.

use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::task::{Poll, Waker};

/// Raised by threads, waited for by a task, of which there is one at a time. What is raised while
/// nobody waits is there for whoever comes next, once, however often it was raised.
#[derive(Debug, Default)]
pub(crate) struct Signal {
    is_raised: AtomicBool,
    waiting: Mutex<Option<Waker>>,
}

impl Signal {
    pub(crate) fn raise(&self) {
        self.is_raised.store(true, Ordering::SeqCst);
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(waiting) = waiting.take() {
            waiting.wake();
        }
    }

    /// Waits until it is raised, and lowers it.
    pub(crate) async fn raised(&self) {
        poll_fn(|cx| {
            let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            if self.is_raised.swap(false, Ordering::SeqCst) {
                return Poll::Ready(());
            }
            *waiting = Some(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }
}
