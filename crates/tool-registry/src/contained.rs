//! Code of somebody else's, which may panic.

use std::any::Any;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

/// Runs code of somebody else's. `None` when it panicked.
pub(crate) fn contained<T>(run: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(run)).map_err(discard).ok()
}

/// Awaits a future of somebody else's. `None` when it panicked.
pub(crate) async fn awaited<F: Future>(future: F) -> Option<F::Output> {
    let mut future = pin!(future);
    poll_fn(|cx| match contained(|| future.as_mut().poll(cx)) {
        Some(Poll::Pending) => Poll::Pending,
        Some(Poll::Ready(output)) => Poll::Ready(Some(output)),
        None => Poll::Ready(None),
    })
    .await
}

/// Drops what a panic carried, whose own destructor may panic again.
fn discard(payload: Box<dyn Any + Send>) {
    if let Err(second) = catch_unwind(AssertUnwindSafe(move || drop(payload))) {
        // Whoever panics over a panic is not given a third occasion.
        std::mem::forget(second);
    }
}
