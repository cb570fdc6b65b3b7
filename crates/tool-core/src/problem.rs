//! What is wrong with a definition.

use std::fmt;

/// One thing that is wrong with a definition or a name.
///
/// The text names the value and how to put it right; the tool is named by whoever knows under
/// which key it was to be registered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    kind: ProblemKind,
    detail: String,
}

/// The sort of a [`Problem`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ProblemKind {
    /// A name or a namespace cannot be used.
    Name,
    /// The description is blank.
    Description,
    /// A schema cannot be used.
    Schema,
    /// A declaration cannot be honoured.
    Declaration,
    /// Another tool stands where this one would be registered.
    Conflict,
}

impl Problem {
    /// A problem with a text of one lower-case clause.
    pub fn new(kind: ProblemKind, detail: impl Into<String>) -> Self {
        Self {
            kind,
            detail: detail.into(),
        }
    }

    /// What sort of problem it is.
    #[must_use]
    pub fn kind(&self) -> ProblemKind {
        self.kind
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.detail)
    }
}

impl std::error::Error for Problem {}
