//! What an answer is matched to its request by.

use serde::{Deserialize, Serialize};
use serde_json::Number;

/// The id of a request: a text or a number, given back as it came.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Id {
    Number(Number),
    Text(String),
}

#[cfg(feature = "http-client")]
impl Id {
    /// As the number that it is or spells out.
    pub(crate) fn number(&self) -> Option<u64> {
        match self {
            Self::Number(number) => number.as_u64(),
            Self::Text(text) => text.parse().ok(),
        }
    }
}

impl From<u64> for Id {
    fn from(number: u64) -> Self {
        Self::Number(number.into())
    }
}

impl std::fmt::Display for Id {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => f.write_str(text),
        }
    }
}
