//! What somebody wants to be told of.

use std::any::Any;
use std::fmt;

/// Something that somebody wants to be told of, for as long as it is held. Dropping it says that
/// nobody wants it any more.
#[must_use = "dropping it ends it at once"]
pub struct Watching(Option<Box<dyn Any + Send + Sync>>);

impl Watching {
    /// Holds nothing: for what is told anyway.
    pub fn nothing() -> Self {
        Self(None)
    }

    /// Holds a value whose drop ends it.
    pub fn holding(guard: impl Any + Send + Sync) -> Self {
        Self(Some(Box::new(guard)))
    }
}

impl fmt::Debug for Watching {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = if self.0.is_some() { ".." } else { "nothing" };
        write!(f, "Watching({word})")
    }
}
