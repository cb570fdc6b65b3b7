//! Why a suspended call does not go on.

use std::fmt;

/// Why a suspended call cannot be resumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ResumeFault {
    /// It was not made here, or was altered.
    Forged,
    /// It has expired.
    Expired,
    /// It was decided before.
    Used,
    /// It is another caller's.
    Foreign,
    /// The tool or its definition is not what it was.
    Definition,
    /// The arguments are not what they were.
    Arguments,
    /// Whether it was decided before cannot be told.
    Unknown,
    /// It waits for something else than what was brought.
    Mismatch,
}

impl fmt::Display for ResumeFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Forged => "it was not made here or was altered",
            Self::Expired => "it has expired",
            Self::Used => "it was decided before",
            Self::Foreign => "it belongs to another caller",
            Self::Definition => "the tool has changed since",
            Self::Arguments => "the arguments have changed since",
            Self::Unknown => "it cannot be told whether it was decided before",
            Self::Mismatch => "it waits for something else",
        })
    }
}
