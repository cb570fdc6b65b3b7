//! Blocking work that ends soon after nobody waits for it any more.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::MissedTickBehavior;
use tool_core::{Cancellation, Context, HandlerError, Progress};

/// Tells blocking work that nobody waits any more, and takes its count.
#[derive(Clone, Debug)]
pub(crate) struct Stop {
    /// The signal of the call.
    call: Cancellation,
    /// Given when the future of the handler is dropped, which may come without the other.
    dropped: Cancellation,
    done: Arc<AtomicU64>,
}

impl Stop {
    pub(crate) fn is_set(&self) -> bool {
        self.dropped.is_cancelled() || self.call.is_cancelled()
    }

    /// Waits for a future, unless nobody waits for the result.
    pub(crate) async fn unless<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            () = self.dropped.cancelled() => None,
            () = self.call.cancelled() => None,
            done = work => Some(done),
        }
    }

    /// Counts one piece of work as done, for progress.
    pub(crate) fn count(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }
}

/// Runs work on a thread that may block.
///
/// # Cancel safety
/// Dropping the future sets the stop of the work, which ends at its next look at it.
pub(crate) async fn offload<T: Send + 'static>(
    cx: &Context,
    work: impl FnOnce(&Stop) -> T + Send + 'static,
) -> Result<T, HandlerError> {
    let (stop, _guard) = begin(cx);
    joined(tokio::task::spawn_blocking(move || work(&stop)).await)
}

/// As [`offload`], and reports the count of the work: at most four times a second, and at its end.
pub(crate) async fn offload_counted<T: Send + 'static>(
    cx: &Context,
    unit: &str,
    work: impl FnOnce(&Stop) -> T + Send + 'static,
) -> Result<T, HandlerError> {
    let (stop, _guard) = begin(cx);
    let done = Arc::clone(&stop.done);
    let mut reported = 0;
    let mut report = || {
        let done = done.load(Ordering::Relaxed);
        if done != reported {
            reported = done;
            let message = format!("{done} {unit}");
            cx.progress(Progress::new().done(done as f64).message(message));
        }
    };

    let mut running = tokio::task::spawn_blocking(move || work(&stop));
    let mut ticks = tokio::time::interval(Duration::from_millis(250));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let ended = loop {
        tokio::select! {
            ended = &mut running => break ended,
            _ = ticks.tick() => report(),
        }
    };
    report();
    joined(ended)
}

struct Guard(Cancellation);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

fn begin(cx: &Context) -> (Stop, Guard) {
    let stop = Stop {
        call: cx.cancellation().clone(),
        dropped: Cancellation::new(),
        done: Arc::default(),
    };
    let guard = Guard(stop.dropped.clone());
    (stop, guard)
}

fn joined<T>(ended: Result<T, tokio::task::JoinError>) -> Result<T, HandlerError> {
    match ended.map_err(tokio::task::JoinError::try_into_panic) {
        Ok(value) => Ok(value),
        // A panic of the work is a panic of the handler.
        Err(Ok(panic)) => std::panic::resume_unwind(panic),
        Err(Err(ended)) => Err(ended.into()),
    }
}
