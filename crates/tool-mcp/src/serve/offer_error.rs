//! Why something that is offered could not be had.

use std::error::Error;
use std::fmt;

/// Why something that is offered could not be had. The text is for clients and their models: it
/// names no host path and no secret. The source is for operators.
#[derive(Debug)]
pub struct OfferError {
    text: String,
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl OfferError {
    /// An error with a text for the client: one lower-case clause.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            source: None,
        }
    }

    /// Adds what caused it.
    #[must_use]
    pub fn because(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }
}

impl fmt::Display for OfferError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Error for OfferError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source
            .as_deref()
            .map(|source| source as &(dyn Error + 'static))
    }
}
