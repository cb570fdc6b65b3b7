//! Code of somebody else's, which may panic.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

/// Runs code of somebody else's. `None` when it panicked.
pub(crate) fn contained<T>(run: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(run)).map_err(discard).ok()
}

/// Awaits a future of somebody else's. `None` when it panicked.
///
/// A destructor in it that panics when it is given up is nobody's concern either: a deadline, a
/// response that was cut off or a batch that is dropped would else take the siblings along.
pub(crate) fn awaited<F: Future>(future: F) -> Awaited<F> {
    let future = Some(future);
    Awaited { future }
}

pin_project! {
    /// A future whose panics end here.
    pub(crate) struct Awaited<F> {
        #[pin]
        future: Option<F>,
    }

    impl<F> PinnedDrop for Awaited<F> {
        fn drop(this: Pin<&mut Self>) {
            contained(|| this.project().future.set(None));
        }
    }
}

impl<F: Future> Future for Awaited<F> {
    type Output = Option<F::Output>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let polled = contained(|| {
            let future = self.project().future.as_pin_mut();
            future.map(|future| future.poll(cx))
        });
        match polled.flatten() {
            Some(polled) => polled.map(Some),
            None => Poll::Ready(None),
        }
    }
}

/// Drops what a panic carried, whose own destructor may panic again.
fn discard(payload: Box<dyn Any + Send>) {
    if let Err(second) = catch_unwind(AssertUnwindSafe(move || drop(payload))) {
        // Whoever panics over a panic is not given a third occasion.
        std::mem::forget(second);
    }
}
