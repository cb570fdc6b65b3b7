//! Why a tool is not sent.

use thiserror::Error;

use crate::Profile;

/// A tool that is kept out of requests, so that it does not fail the others.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("tool \"{tool}\" cannot be sent to {profile}: at \"{path}\", {reason}")]
#[non_exhaustive]
pub struct Quarantine {
    /// The wire name of the tool.
    pub tool: String,
    /// The profile that it was meant for.
    pub profile: Profile,
    /// Where in its input schema, as a JSON pointer.
    pub path: String,
    /// Why, as one clause.
    pub reason: String,
}

impl Quarantine {
    /// The same of another profile.
    pub(crate) fn of(self, profile: Profile) -> Self {
        Self { profile, ..self }
    }
}
