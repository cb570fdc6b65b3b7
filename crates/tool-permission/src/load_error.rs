//! Why rules could not be loaded.

use std::fmt;
use std::io;
use std::sync::Arc;

/// Rules that could not be loaded. Nothing of them is in force.
///
/// The text names the file, the line where there is one, and the way out.
#[derive(Clone, Debug)]
pub struct LoadError {
    kind: LoadErrorKind,
    place: Arc<str>,
    line: Option<usize>,
    problem: String,
    source: Option<Arc<io::Error>>,
}

/// The sort of a [`LoadError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LoadErrorKind {
    /// The file is not there, not readable or not text.
    Unreadable,
    /// The text is not TOML, or was cut off.
    Syntax,
    /// The version of the grammar is missing or not known.
    Version,
    /// A key is missing or not known.
    Key,
    /// A value has the wrong type, or can never do what it says.
    Value,
    /// An example of a rule does not come out as it says.
    Example,
}

impl LoadError {
    pub(crate) fn new(kind: LoadErrorKind, place: &str, problem: impl Into<String>) -> Self {
        Self {
            kind,
            place: place.into(),
            line: None,
            problem: problem.into(),
            source: None,
        }
    }

    pub(crate) fn unreadable(place: &str, source: io::Error) -> Self {
        Self {
            source: Some(Arc::new(source)),
            ..Self::new(
                LoadErrorKind::Unreadable,
                place,
                "the policy file cannot be read; correct its path or its access rights",
            )
        }
    }

    pub(crate) fn line(mut self, line: usize) -> Self {
        self.line = Some(line);
        self
    }

    /// The sort of the error.
    #[must_use]
    pub fn kind(&self) -> LoadErrorKind {
        self.kind
    }

    /// The file, or the name of the layer.
    #[must_use]
    pub fn place(&self) -> &str {
        &self.place
    }

    /// The line, counted from 1, where the error has one.
    #[must_use]
    pub fn line_number(&self) -> Option<usize> {
        self.line
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.place)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}", self.problem)
    }
}

impl std::error::Error for LoadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        let source = self.source.as_deref()?;
        Some(source)
    }
}
