//! How a stage lets a call pass: at once, or later.

use tool_core::BoxFuture;

/// What a stage came to, or the wait for it. Most stages have nothing to wait for, and a wait is
/// on the heap, so that a call without one needs no room for it.
pub(super) enum Passage<'a, T> {
    At(T),
    After(BoxFuture<'a, T>),
}

impl<'a, T> Passage<'a, T> {
    /// Waits for what is begun here. It is not begun where the stage stands: a stage that lets its
    /// call pass would hold room for the wait.
    #[cold]
    #[inline(never)]
    pub(super) fn after<F>(begin: impl FnOnce() -> F) -> Self
    where
        F: Future<Output = T> + Send + 'a,
    {
        Self::After(Box::pin(begin()))
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
