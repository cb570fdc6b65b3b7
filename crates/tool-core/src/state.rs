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

    /// Reads the value under a key. With the version that is known already, a value of that
    /// version is not read again.
    ///
    /// A reading that starts after a write was reported finds that write or a later one. Override
    /// it together with [`write`](Self::write) where values are kept; by default none are, and
    /// both are errors.
    ///
    /// # Errors
    /// [`StateError`] when it cannot be told what is there.
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing.
    fn read<'a>(
        &'a self,
        key: &'a str,
        known: Option<&'a StateVersion>,
    ) -> BoxFuture<'a, Result<StateReading, StateError>> {
        let _ = (key, known);
        Box::pin(async { Err(StateError::new("this state keeps no values")) })
    }

    /// Writes a value if the key still has the version that is expected, or no value where none is
    /// expected. The new version, or `None` when something else was there; nothing is written
    /// then. Of any number of writers that expect the same, at most one succeeds.
    ///
    /// # Errors
    /// [`StateError`] when it cannot be told whether it was written.
    ///
    /// # Cancel safety
    /// The value may be written though the future was dropped, wholly or not at all.
    fn write<'a>(
        &'a self,
        key: &'a str,
        expected: Option<&'a StateVersion>,
        value: &'a [u8],
    ) -> BoxFuture<'a, Result<Option<StateVersion>, StateError>> {
        let _ = (key, expected, value);
        Box::pin(async { Err(StateError::new("this state keeps no values")) })
    }
}

/// Which of the values that a key has had one after the other.
///
/// The text is the state's own; two values of one key never have the same.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StateVersion(Arc<str>);

/// What was found under a key.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "there is nothing else that can be found"
)]
pub enum StateReading {
    /// Nothing.
    Absent,
    /// The value that is known already.
    Unchanged,
    /// A value and its version.
    Value(Vec<u8>, StateVersion),
}

impl StateVersion {
    /// The version of that text.
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        Self(text.into())
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
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

    fn read<'a>(
        &'a self,
        key: &'a str,
        known: Option<&'a StateVersion>,
    ) -> BoxFuture<'a, Result<StateReading, StateError>> {
        (**self).read(key, known)
    }

    fn write<'a>(
        &'a self,
        key: &'a str,
        expected: Option<&'a StateVersion>,
        value: &'a [u8],
    ) -> BoxFuture<'a, Result<Option<StateVersion>, StateError>> {
        (**self).write(key, expected, value)
    }
}
