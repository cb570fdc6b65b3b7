//! What a tool says that it touches.

use std::fmt;

/// A word for something that a tool touches, so that policy can rule on it without knowing tools.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Capability {
    /// Reads what the agent remembers.
    MemoryRead,
    /// Changes what the agent remembers.
    MemoryWrite,
    /// Reaches the network outside.
    ExternalNet,
    /// Touches data of a person.
    UserData,
    /// A word of the host's own. `call` is taken: it stands for the call as a whole.
    Other(String),
}

impl Capability {
    /// The word as policies spell it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::MemoryRead => "memory_read",
            Self::MemoryWrite => "memory_write",
            Self::ExternalNet => "external_net",
            Self::UserData => "user_data",
            Self::Other(word) => word,
        }
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
