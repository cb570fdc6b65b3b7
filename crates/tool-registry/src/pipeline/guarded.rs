//! All stages of one call, guarded.

use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

use super::trace::Trace;
use crate::contained::contained;

pin_project! {
    /// A future whose panics end here and which runs, and is given up, inside the call's span.
    ///
    /// Handlers and projections are guarded where they run; this guards hooks and ports, also when
    /// what waits for them is given up.
    pub(super) struct Guarded<'t, F> {
        #[pin]
        future: Option<F>,
        trace: &'t Trace,
    }

    impl<F> PinnedDrop for Guarded<'_, F> {
        fn drop(this: Pin<&mut Self>) {
            let mut this = this.project();
            if this.future.is_some() {
                this.trace.within(|| contained(|| this.future.set(None)));
            }
        }
    }
}

impl<'t, F> Guarded<'t, F> {
    pub(super) fn new(future: F, trace: &'t Trace) -> Self {
        let future = Some(future);
        Self { future, trace }
    }
}

impl<F: Future> Future for Guarded<'_, F> {
    /// `None` when it panicked.
    type Output = Option<F::Output>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let Some(future) = this.future.as_pin_mut() else {
            return Poll::Ready(None);
        };
        match this.trace.within(|| contained(|| future.poll(cx))) {
            Some(polled) => polled.map(Some),
            None => Poll::Ready(None),
        }
    }
}
