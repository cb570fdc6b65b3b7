//! The guard of what was registered.

use std::fmt;
use std::sync::Arc;

use tool_core::{Identity, WireName};

use crate::RefusedEntry;
use crate::catalog::Live;

/// Keeps tools registered. Dropping it removes exactly these and reveals the ones below.
///
/// Requests whose snapshot was taken before keep calling them.
#[must_use = "the tools are registered only as long as this lives"]
pub struct Registration {
    live: Arc<Live>,
    token: u64,
    entries: Vec<(Identity, WireName)>,
    refused: Vec<RefusedEntry>,
    notices: Vec<Notice>,
}

/// Something that the registrant may want to know, though all is well.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Notice {
    /// The name could not be advertised as authored.
    Renamed {
        /// The authored name.
        name: String,
        /// The name to call it by.
        wire: WireName,
    },
    /// Another tool's name reads the same once its characters are made legal. Both can be called,
    /// each by its own wire name.
    Alike {
        /// The authored name.
        name: String,
        /// The other identity.
        other: Identity,
    },
}

impl Registration {
    pub(crate) fn new(
        live: Arc<Live>,
        token: u64,
        entries: Vec<(Identity, WireName)>,
        refused: Vec<RefusedEntry>,
        notices: Vec<Notice>,
    ) -> Self {
        Self {
            live,
            token,
            entries,
            refused,
            notices,
        }
    }

    /// What was registered: each identity with the name to call it by, in the order given.
    #[must_use]
    pub fn entries(&self) -> &[(Identity, WireName)] {
        &self.entries
    }

    /// What was refused, in the order given.
    #[must_use]
    pub fn refused(&self) -> &[RefusedEntry] {
        &self.refused
    }

    /// What the registrant may want to know.
    #[must_use]
    pub fn notices(&self) -> &[Notice] {
        &self.notices
    }

    /// Removes the tools now, as dropping does.
    pub fn close(self) {
        drop(self);
    }

    /// Keeps the tools registered as long as the registry lives.
    pub fn keep(mut self) {
        self.entries.clear();
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.live.remove(self.token, &self.entries);
    }
}

impl fmt::Debug for Registration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registration")
            .field("entries", &self.entries)
            .field("refused", &self.refused)
            .finish_non_exhaustive()
    }
}
