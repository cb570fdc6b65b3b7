//! Who answers for a tool.

use serde::{Deserialize, Serialize};

/// Who answers for a tool: a team, a skill, a plugin. A fact for records.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Owner {
    /// What sort of owner it is.
    pub kind: String,
    /// Which one.
    pub id: String,
}

impl Owner {
    /// An owner of a kind.
    pub fn new(kind: impl Into<String>, id: impl Into<String>) -> Self {
        Self {
            kind: kind.into(),
            id: id.into(),
        }
    }
}
