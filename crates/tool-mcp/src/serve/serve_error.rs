//! Why a registry is not served.

use std::error::Error;
use std::fmt;

/// Why a registry is not served, or not any more.
///
/// The text is for operators.
#[derive(Debug)]
pub struct ServeError {
    kind: ServeErrorKind,
    detail: String,
    source: Option<Box<dyn Error + Send + Sync>>,
}

/// The sort of a [`ServeError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ServeErrorKind {
    /// The address can be reached from other machines and nobody said that it may.
    NotLoopback,
    /// The address could not be listened on.
    Listen,
    /// No token could be made up, or the one that was given is none.
    Token,
    /// The client does not speak the protocol.
    Client,
    /// The task that serves broke.
    Broken,
}

impl ServeError {
    pub(crate) fn new(kind: ServeErrorKind, detail: impl Into<String>) -> Self {
        Self {
            kind,
            detail: detail.into(),
            source: None,
        }
    }

    #[cfg(feature = "http")]
    pub(crate) fn because(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Which sort it is.
    #[must_use]
    pub fn kind(&self) -> ServeErrorKind {
        self.kind
    }
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.detail)
    }
}

impl Error for ServeError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source
            .as_deref()
            .map(|source| source as &(dyn Error + 'static))
    }
}
