//! A limit that costs nothing where it is not needed.

use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use futures_util::future::poll_fn;

/// Waits for a future at most so long. `None` when it took longer.
///
/// The clock is looked at only when the future is not ready at once, so that a policy or a hook
/// that decides without waiting needs no timer and no runtime that has one. The caller pins the
/// future, so that it is held once.
pub(crate) async fn within<F: Future + ?Sized>(
    limit: Duration,
    mut future: Pin<&mut F>,
) -> Option<F::Output> {
    if let Poll::Ready(output) = poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx))).await {
        return Some(output);
    }
    Box::pin(tokio::time::timeout(limit, future)).await.ok()
}
