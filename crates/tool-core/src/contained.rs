//! Code of somebody else's, which may panic.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs code of somebody else's. `None` when it panicked.
pub(crate) fn contained<T>(run: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(run)).map_err(discard).ok()
}

/// Drops what a panic carried, whose own destructor may panic again.
fn discard(payload: Box<dyn Any + Send>) {
    if let Err(second) = catch_unwind(AssertUnwindSafe(move || drop(payload))) {
        // Whoever panics over a panic is not given a third occasion.
        std::mem::forget(second);
    }
}
