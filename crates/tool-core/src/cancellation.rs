//! How a handler learns that nobody waits for it any more.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use event_listener::{Event, listener};

/// A signal that a call was cancelled: seen by the handler, given by the runtime.
///
/// The handler's future is dropped when its call is cancelled, so most handlers need no signal. It
/// is for what outlives the future: a blocking thread or a child process. Clones share the state.
#[derive(Clone, Debug)]
pub struct Cancellation {
    /// `None` when it was given before anybody could look.
    shared: Option<Arc<Shared>>,
}

#[derive(Debug, Default)]
struct Shared {
    cancelled: AtomicBool,
    waiting: Event,
}

impl Cancellation {
    /// A signal that has not been given.
    #[must_use]
    pub fn new() -> Self {
        Self {
            shared: Some(Arc::default()),
        }
    }

    /// A signal that was given before anybody could look.
    pub(crate) fn given() -> Self {
        Self { shared: None }
    }

    /// Gives the signal. Giving it again does nothing.
    pub fn cancel(&self) {
        if let Some(shared) = &self.shared
            && !shared.cancelled.swap(true, Ordering::AcqRel)
        {
            shared.waiting.notify(usize::MAX);
        }
    }

    /// Whether the signal was given.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.shared
            .as_ref()
            .is_none_or(|shared| shared.cancelled.load(Ordering::Acquire))
    }

    /// Waits until the signal is given.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing; wait again at any time.
    pub async fn cancelled(&self) {
        let Some(shared) = &self.shared else { return };
        while !self.is_cancelled() {
            listener!(shared.waiting => listening);
            // The signal may have been given between the look and the listening.
            if self.is_cancelled() {
                return;
            }
            listening.await;
        }
    }
}

impl Default for Cancellation {
    fn default() -> Self {
        Self::new()
    }
}
