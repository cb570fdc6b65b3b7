//! How a stage lets a call pass: at once, or later.

use tool_core::BoxFuture;

/// What a stage came to, or the wait for it. Most stages have nothing to wait for, and a wait is
/// on the heap, so that a call without one needs no room for it.
pub(super) enum Passage<'a, T> {
    At(T),
    After(BoxFuture<'a, T>),
}

impl<'a, T> Passage<'a, T> {
    pub(super) fn after(wait: impl Future<Output = T> + Send + 'a) -> Self {
        Self::After(Box::pin(wait))
    }
}

/// Awaits a stage.
macro_rules! passed {
    ($stage:expr) => {
        match $stage {
            crate::pipeline::passage::Passage::At(passed) => passed,
            crate::pipeline::passage::Passage::After(wait) => wait.await,
        }
    };
}

pub(super) use passed;
