//! Code of somebody else's, which may panic.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use futures_util::FutureExt as _;

/// Runs code of somebody else's. `None` when it panicked.
pub(crate) fn contained<T>(run: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(run)).map_err(discard).ok()
}

/// Awaits a future of somebody else's. `None` when it panicked.
///
/// No `async fn`: that would hold the future twice, once as its argument.
pub(crate) fn awaited<F: Future>(future: F) -> impl Future<Output = Option<F::Output>> {
    let caught = AssertUnwindSafe(future).catch_unwind();
    caught.map(|caught| caught.map_err(discard).ok())
}

/// Drops what a panic carried, whose own destructor may panic again.
fn discard(payload: Box<dyn Any + Send>) {
    if let Err(second) = catch_unwind(AssertUnwindSafe(move || drop(payload))) {
        // Whoever panics over a panic is not given a third occasion.
        std::mem::forget(second);
    }
}
