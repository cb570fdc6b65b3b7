//! What must be remembered beyond one call.

use std::sync::Arc;
use std::time::SystemTime;

use thiserror::Error;

use crate::BoxFuture;

/// Remembers small facts, so that what may happen once happens once, in however many processes.
#[diagnostic::on_unimplemented(message = "`{Self}` does not remember state")]
pub trait State: Send + Sync {
    /// Remembers a key at least until a moment. `true` when it was not remembered before: of any
    /// number of callers, at once or one after the other, exactly one is told so.
    ///
    /// A key may be forgotten once its moment has passed. Where clocks may go backwards, an
    /// implementation takes care that no key that it may have forgotten counts as new.
    ///
    /// # Errors
    /// [`StateError`] when it cannot be told; callers then act as if the key was there before.
    ///
    /// # Cancel safety
    /// A key may be remembered though the future was dropped.
    fn claim<'a>(
        &'a self,
        key: &'a str,
        until: SystemTime,
    ) -> BoxFuture<'a, Result<bool, StateError>>;
}

/// State that could not be read or written.
#[derive(Clone, Debug, Error)]
#[error("state could not be read or written")]
pub struct StateError {
    #[source]
    source: Arc<dyn std::error::Error + Send + Sync>,
}

impl StateError {
    /// An error with its cause.
    pub fn new(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self {
            source: Arc::from(source.into()),
        }
    }
}

impl<S: State + ?Sized> State for Arc<S> {
    fn claim<'a>(
        &'a self,
        key: &'a str,
        until: SystemTime,
    ) -> BoxFuture<'a, Result<bool, StateError>> {
        (**self).claim(key, until)
    }
}
