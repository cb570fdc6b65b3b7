//! What was found.

use serde::Serialize;
use serde::ser::SerializeMap;

use super::rule::LintRule;
use crate::Profile;

/// One thing that a provider refuses, or takes without heeding it, or that an author should know.
///
/// It is serialised as an object with the keys `rule`, `level`, `profile`, `index`, `tool`, `path`,
/// `message`, `handling`, `handled` and `fix`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Finding {
    /// The rule that does not hold.
    pub rule: &'static LintRule,
    /// The profile whose provider has it.
    pub profile: Profile,
    /// Which entry of the list it is about, from 0; nothing where it is about the whole list.
    pub index: Option<usize>,
    /// The name of the tool; empty where it has none, or where it is about the whole list.
    pub tool: String,
    /// Where in the entry, as a JSON pointer, such as `/inputSchema/properties/limit/format`.
    pub pointer: String,
    /// The keyword that it is about, which may be missing there.
    pub(crate) keyword: String,
    /// What is there, as one clause.
    pub message: String,
    /// What this library does about it.
    pub handling: Handling,
    /// The same in words, as one clause.
    pub handled: String,
    /// What the author of the server should do, as one sentence.
    pub fix: String,
}

/// What a projection does about something that a provider refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Handling {
    /// It is sent as it is.
    Sent,
    /// It is sent in another form that means the same.
    Rewritten,
    /// It is sent without a constraint, which stands in a description where there is room.
    GivenUp,
    /// It is sent without strictness.
    NotStrict,
    /// The tool is not sent.
    LeftOut,
}

impl Handling {
    /// One word, stable across versions.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sent => "sent",
            Self::Rewritten => "rewritten",
            Self::GivenUp => "given_up",
            Self::NotStrict => "not_strict",
            Self::LeftOut => "left_out",
        }
    }
}

impl Serialize for Finding {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(10))?;
        map.serialize_entry("rule", self.rule.id)?;
        map.serialize_entry("level", &self.rule.level)?;
        map.serialize_entry("profile", self.profile.as_str())?;
        map.serialize_entry("index", &self.index)?;
        map.serialize_entry("tool", &self.tool)?;
        map.serialize_entry("path", &self.pointer)?;
        map.serialize_entry("message", &self.message)?;
        map.serialize_entry("handling", &self.handling)?;
        map.serialize_entry("handled", &self.handled)?;
        map.serialize_entry("fix", &self.fix)?;
        map.end()
    }
}
