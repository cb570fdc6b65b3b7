//! What a rule is.

use serde::Serialize;

use super::subject::{Hits, Subject};
use crate::Profile;
use crate::rules::Rules;

/// One rule of a provider, as far as the definition of a tool is concerned.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct LintRule {
    /// Its name: who has it, and what it is about. It is stable across versions.
    pub id: &'static str,
    /// What a definition that breaks it has to expect.
    pub level: Level,
    /// What must hold, as one sentence.
    pub summary: &'static str,
    /// What the author of a server should do, as one sentence.
    pub fix: &'static str,
    /// Where it was read.
    pub source: &'static str,
    /// The profiles that have it.
    pub profiles: &'static [Profile],
    pub(crate) check: Check,
}

/// The day on which the sources of all rules were read.
pub const RULES_READ: &str = "2026-11-29";

/// What a finding means for the tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Level {
    /// The provider refuses the definition as it stands, and with it the whole request.
    Refused,
    /// The provider takes it, or is sent something else, and a constraint is without effect.
    GivenUp,
    /// Worth knowing; nothing is refused and no constraint is lost.
    Note,
}

/// How a rule is looked into.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Check {
    /// By looking at one definition.
    Tool(fn(&Subject<'_>, &Rules, &mut Hits)),
    /// By counting the tools of a request.
    Count(usize),
    /// By names that stand before in the list.
    Name,
    /// By what the projection reports.
    Projection,
}

impl Level {
    /// One word, stable across versions: `refused`, `given_up` or `note`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Refused => "refused",
            Self::GivenUp => "given_up",
            Self::Note => "note",
        }
    }
}
