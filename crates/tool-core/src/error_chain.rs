//! An error with its causes, on one line.

use std::error::Error;
use std::fmt;

/// An error and all its causes as operators read them: each after a colon, the outermost first.
///
/// No model reads it: a cause may name paths and values.
///
/// ```
/// use tool_core::{ErrorChain, StoreError, StoreErrorKind};
///
/// let error = StoreError::new(StoreErrorKind::Io, "output could not be kept").because("disk full");
/// assert_eq!(ErrorChain::of(&error).to_string(), "output could not be kept: disk full");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ErrorChain<'e>(&'e (dyn Error + 'e));

impl<'e> ErrorChain<'e> {
    /// The chain that begins with an error.
    #[must_use]
    pub fn of(error: &'e (dyn Error + 'e)) -> Self {
        Self(error)
    }
}

impl fmt::Display for ErrorChain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        let mut cause = self.0.source();
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}
