//! Data that tools pass to each other by reference.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;
use thiserror::Error;

use crate::{BoxFuture, Facts};

/// The kind of an artifact. Kinds match exactly or not at all.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ArtifactKind(Arc<str>);

/// An artifact with its data.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Artifact {
    /// What kind of data it is.
    pub kind: ArtifactKind,
    /// The data.
    pub data: Value,
}

/// Where artifacts are kept.
///
/// A reference opens nothing without the facts of the caller whose artifact it is.
#[diagnostic::on_unimplemented(message = "`{Self}` does not keep artifacts")]
pub trait ArtifactStore: Send + Sync {
    /// Gets an artifact. `None` for one that is missing, expired or another caller's: these are
    /// told apart to nobody.
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing.
    fn get<'a>(
        &'a self,
        facts: &'a Facts,
        reference: &'a str,
    ) -> BoxFuture<'a, Result<Option<Artifact>, ArtifactError>>;
}

/// A store that could not answer.
#[derive(Debug, Error)]
#[error("artifact store could not answer")]
pub struct ArtifactError {
    #[source]
    source: Box<dyn std::error::Error + Send + Sync>,
}

/// The absence of an artifact store: every reference is unknown.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "it holds nothing and never will")]
pub struct NoArtifacts;

impl ArtifactKind {
    /// A kind of that word, or `None` when the word is blank.
    #[must_use]
    pub fn new(word: &str) -> Option<Self> {
        if word.trim().is_empty() {
            None
        } else {
            Some(Self(word.into()))
        }
    }
}

impl Artifact {
    /// An artifact of a kind.
    pub fn new(kind: ArtifactKind, data: impl Into<Value>) -> Self {
        Self {
            kind,
            data: data.into(),
        }
    }
}

impl ArtifactError {
    /// An error with its cause.
    pub fn new(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self {
            source: source.into(),
        }
    }
}

impl fmt::Display for ArtifactKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl ArtifactStore for NoArtifacts {
    fn get<'a>(
        &'a self,
        _facts: &'a Facts,
        _reference: &'a str,
    ) -> BoxFuture<'a, Result<Option<Artifact>, ArtifactError>> {
        Box::pin(async {
            Err(ArtifactError::new(
                "no artifact store is configured; give the registry one",
            ))
        })
    }
}
