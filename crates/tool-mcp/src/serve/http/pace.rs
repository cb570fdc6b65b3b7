//! Timers that are cheap to set.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::Notify;

use super::exchange::AT_ONCE;

/// Sooner than any timer of a request, and otherwise as seldom as can be: waiting costs more the less
/// there is left of it, from some 4 ms on.
const TICK: Duration = AT_ONCE.checked_sub(Duration::from_millis(5)).unwrap();

/// Ticks while requests come.
///
/// A timer that is due before every other one interrupts the thread that waits for messages, which
/// costs more than the timer itself does, and every request has one. While this ticks there is
/// always one that is due sooner.
#[derive(Default)]
pub(crate) struct Pace {
    used: AtomicBool,
    begun: Notify,
}

impl Pace {
    /// Says that a request has come.
    pub(crate) fn mark(&self) {
        if !self.used.swap(true, Ordering::Relaxed) {
            self.begun.notify_one();
        }
    }

    /// Ticks for as long as it is polled, and rests when no request has come since the last tick.
    pub(crate) async fn keep(&self) {
        loop {
            self.begun.notified().await;
            while self.used.swap(false, Ordering::Relaxed) {
                tokio::time::sleep(TICK).await;
            }
        }
    }
}
