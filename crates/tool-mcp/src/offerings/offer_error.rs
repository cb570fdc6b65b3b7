//! Why something that is offered could not be had.

use std::error::Error;

/// Why something that is offered could not be had. The text may be shown to clients.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct OfferError {
    kind: OfferErrorKind,
    message: String,
    #[source]
    cause: Option<Box<dyn Error + Send + Sync>>,
}

/// What sort of failure it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OfferErrorKind {
    /// Nothing of that name or URI is offered here.
    NotFound,
    /// The server that has it answered with an error of this code.
    Peer(i64),
    /// The server that has it cannot be reached now.
    Unavailable,
    /// It did not come within the limits of time.
    TimedOut,
    /// It came and is too large or does not fit the protocol.
    Unusable,
    /// The server wants something first that cannot be had here.
    Refused,
}

impl OfferError {
    /// A failure with a clause that says what failed.
    pub fn new(kind: OfferErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            cause: None,
        }
    }

    /// Adds what an operator should know and a client should not.
    #[must_use]
    pub fn because(mut self, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.cause = Some(cause.into());
        self
    }

    /// What sort of failure it is.
    #[must_use]
    pub fn kind(&self) -> OfferErrorKind {
        self.kind
    }
}
