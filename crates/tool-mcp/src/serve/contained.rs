//! Code of somebody else's, which may panic.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

/// Awaits code of somebody else's. `None` when it panicked.
pub(crate) async fn contained<T>(run: impl Future<Output = T>) -> Option<T> {
    let mut run = pin!(run);
    std::future::poll_fn(|cx| {
        match catch_unwind(AssertUnwindSafe(|| run.as_mut().poll(cx))) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(value)) => Poll::Ready(Some(value)),
            Err(payload) => {
                // What it carries may panic again when it is dropped.
                std::mem::forget(payload);
                Poll::Ready(None)
            }
        }
    })
    .await
}
