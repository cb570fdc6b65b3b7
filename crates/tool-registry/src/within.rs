//! A limit that costs nothing where it is not needed.

use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use futures_util::future::poll_fn;

/// Waits for a future at most so long. `None` when it took longer.
///
/// The clock is looked at only when the future is not ready at once, so that a policy or a hook
/// that decides without waiting needs no timer and no runtime that has one.
pub(crate) async fn within<F: Future>(limit: Duration, future: F) -> Option<F::Output> {
    let mut future = pin!(future);
    let first = poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx))).await;
    match first {
        Poll::Ready(output) => Some(output),
        Poll::Pending => tokio::time::timeout(limit, future).await.ok(),
    }
}
