//! An artifact store that did not do what was asked.

use std::error::Error;
use std::fmt;

use crate::ArtifactRef;

/// An artifact store that did not do what was asked.
///
/// [`Display`](fmt::Display) is for operators and holds neither payload nor tenant, principal or
/// session. An artifact that is not there is no error but an absence.
#[derive(Debug)]
pub struct ArtifactError {
    kind: ArtifactErrorKind,
    detail: String,
    unresolved: Vec<ArtifactRef>,
    source: Option<Box<dyn Error + Send + Sync>>,
}

/// The sort of an [`ArtifactError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ArtifactErrorKind {
    /// The store could not be read or written. Nothing was kept.
    Io,
    /// There is no store.
    NoStore,
    /// The store does not do that.
    Unsupported,
    /// What was asked for is wrong in itself: a blank media type, an end in the past, JSON that
    /// nests too deep, a stream of another length than declared, a cursor that is none.
    Invalid,
    /// A parent is not there.
    UnknownParent,
    /// The payload is larger than the store keeps, or does not fit beside what must stay.
    TooLarge,
    /// The bytes are not those that were put.
    Integrity,
    /// The call has settled, and nothing is kept, read or removed on its behalf any more.
    Settled,
}

impl ArtifactErrorKind {
    /// One word, stable across versions.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Io => "io",
            Self::NoStore => "no_store",
            Self::Unsupported => "unsupported",
            Self::Invalid => "invalid",
            Self::UnknownParent => "unknown_parent",
            Self::TooLarge => "too_large",
            Self::Integrity => "integrity",
            Self::Settled => "settled",
        }
    }
}

impl ArtifactError {
    /// A store that could not answer, with the cause.
    pub fn new(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::of(ArtifactErrorKind::Io, "artifact store could not answer").because(source)
    }

    /// An error with a text for operators.
    pub fn of(kind: ArtifactErrorKind, detail: impl Into<String>) -> Self {
        Self {
            kind,
            detail: detail.into(),
            unresolved: Vec::new(),
            source: None,
        }
    }

    /// Parents that are not there.
    #[must_use]
    pub fn unknown_parents(unresolved: Vec<ArtifactRef>) -> Self {
        let count = unresolved.len();
        let noun = if count == 1 { "parent" } else { "parents" };
        let detail = format!("{count} {noun} of an artifact cannot be found");
        Self {
            unresolved,
            ..Self::of(ArtifactErrorKind::UnknownParent, detail)
        }
    }

    /// Bytes of an artifact that are not those that were put.
    #[must_use]
    pub fn integrity(reference: &ArtifactRef, expected: &str, actual: &str) -> Self {
        Self::of(
            ArtifactErrorKind::Integrity,
            format!("artifact {reference} was put with {expected} and is {actual}"),
        )
    }

    /// A verb of a call that has settled already.
    pub(crate) fn settled() -> Self {
        Self::of(ArtifactErrorKind::Settled, "the call has settled already")
    }

    /// Adds the cause.
    #[must_use]
    pub fn because(mut self, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(cause.into());
        self
    }

    /// Which sort it is.
    #[must_use]
    pub fn kind(&self) -> ArtifactErrorKind {
        self.kind
    }

    /// The parents that are not there, for [`ArtifactErrorKind::UnknownParent`].
    #[must_use]
    pub fn unresolved(&self) -> &[ArtifactRef] {
        &self.unresolved
    }
}

impl fmt::Display for ArtifactError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.detail)
    }
}

impl Error for ArtifactError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source
            .as_deref()
            .map(|source| source as &(dyn Error + 'static))
    }
}
