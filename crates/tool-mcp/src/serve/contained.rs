//! Code of somebody else's, which may panic.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::Poll;

/// Something to await, of whatever kind.
pub(crate) type Awaited<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Awaits code of somebody else's. `None` when it panicked.
///
/// It comes boxed: it is large, and would be moved with everything that awaits it.
pub(crate) fn contained<T>(mut run: Awaited<'_, T>) -> impl Future<Output = Option<T>> + Send {
    std::future::poll_fn(move |cx| {
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
}
