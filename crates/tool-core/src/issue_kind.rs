//! What sort of thing is wrong with arguments, and where.

use std::fmt;

use crate::{Issue, Unrepresentable};

/// What sort of thing is wrong with arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum IssueKind {
    /// A required key is missing.
    MissingRequired,
    /// The arguments are no object.
    NotObject,
    /// A value is of another type.
    Type,
    /// A value is none of those allowed.
    Enum,
    /// A value breaks another rule of the schema.
    Constraint,
    /// The schema does not know a key.
    UnknownKey,
    /// A key stands twice.
    DuplicateKey,
    /// The text ends before the JSON does.
    Truncated,
    /// The text is not JSON.
    Syntax,
    /// A number cannot be held.
    NumberRange,
    /// Half of a character.
    Unicode,
    /// Nested too deeply.
    Depth,
    /// More than one reading.
    Ambiguous,
}

impl IssueKind {
    /// The name in records and logs.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::MissingRequired => "missing_required",
            Self::NotObject => "not_object",
            Self::Type => "type",
            Self::Enum => "enum",
            Self::Constraint => "constraint",
            Self::UnknownKey => "unknown_key",
            Self::DuplicateKey => "duplicate_key",
            Self::Truncated => "truncated",
            Self::Syntax => "syntax",
            Self::NumberRange => "number_range",
            Self::Unicode => "unicode",
            Self::Depth => "depth",
            Self::Ambiguous => "ambiguous",
        }
    }
}

impl fmt::Display for IssueKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Issue {
    /// What sort of thing it is.
    #[must_use]
    pub fn kind(&self) -> IssueKind {
        match self {
            Self::Syntax {
                truncated: true, ..
            } => IssueKind::Truncated,
            Self::Syntax { .. } => IssueKind::Syntax,
            Self::Unrepresentable { what, .. } => match what {
                Unrepresentable::Number => IssueKind::NumberRange,
                Unrepresentable::Surrogate => IssueKind::Unicode,
                Unrepresentable::Depth => IssueKind::Depth,
            },
            Self::DuplicateKey { .. } => IssueKind::DuplicateKey,
            Self::NotObject { .. } => IssueKind::NotObject,
            Self::Missing { .. } => IssueKind::MissingRequired,
            Self::UnknownKey { .. } => IssueKind::UnknownKey,
            Self::Type { .. } => IssueKind::Type,
            Self::NotAllowed { .. } => IssueKind::Enum,
            Self::Constraint { .. } => IssueKind::Constraint,
            Self::Ambiguous { .. } => IssueKind::Ambiguous,
        }
    }

    /// JSON pointer of the value, or of the key that is missing, unknown or there twice; empty for
    /// the arguments as a whole.
    #[must_use]
    pub fn pointer(&self) -> String {
        match self {
            Self::Syntax { .. } | Self::NotObject { .. } => String::new(),
            Self::DuplicateKey { path, key }
            | Self::Missing { path, key }
            | Self::UnknownKey { path, key, .. } => {
                format!("{path}/{}", key.replace('~', "~0").replace('/', "~1"))
            }
            Self::Unrepresentable { path, .. }
            | Self::Type { path, .. }
            | Self::NotAllowed { path, .. }
            | Self::Constraint { path, .. }
            | Self::Ambiguous { path } => path.clone(),
        }
    }

    /// What to send in its place, as far as that is known: the name of a key, or an allowed value
    /// as JSON.
    #[must_use]
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::Missing { key, .. } => Some(key),
            Self::UnknownKey { nearest, .. } | Self::NotAllowed { nearest, .. } => {
                nearest.as_deref()
            }
            _ => None,
        }
    }
}
