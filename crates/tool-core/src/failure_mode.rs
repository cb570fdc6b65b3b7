//! How a caller is told of failures, and where they came from.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Where a failed call failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FailureOrigin {
    /// The arguments do not fit the tool.
    Validation,
    /// The handler failed, deliberately or not.
    Handler,
    /// The result could not be encoded, projected or kept.
    Result,
    /// Somebody or something said no.
    Denied,
    /// The call was stopped, or never started.
    Interrupted,
}

/// How failures of a tool reach a caller that takes a settlement as a `Result`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "there is no third channel")]
pub enum FailureMode {
    /// Every failure is an error. The default.
    #[default]
    Error,
    /// Failures that the tool declares, and arguments that do not fit, are results like any other;
    /// defects are still errors.
    Return,
}

impl FailureOrigin {
    /// One word, stable across versions.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Validation => "validation",
            Self::Handler => "handler",
            Self::Result => "result",
            Self::Denied => "denied",
            Self::Interrupted => "interrupted",
        }
    }
}

impl fmt::Display for FailureOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
