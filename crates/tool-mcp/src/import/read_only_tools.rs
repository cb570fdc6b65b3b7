//! Tools that only read, by the word of servers that are believed.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use tool_core::{Digest, Identity, Namespace};

/// The tools that only read, by the word of servers whose hints the operator believes. Clones are
/// the same.
///
/// It is kept by [`Upstreams`](super::Upstreams) for a policy, which may allow what no rule is
/// about: a word counts for the definition with which it was given, and as long as it is listed.
#[derive(Clone, Default)]
pub struct ReadOnlyTools(Arc<RwLock<HashMap<Identity, Digest>>>);

impl ReadOnlyTools {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether a tool of that definition only reads, as far as is believed.
    #[must_use]
    pub fn holds(&self, tool: &Identity, definition: &Digest) -> bool {
        let tools = self.0.read().unwrap_or_else(PoisonError::into_inner);
        tools.get(tool) == Some(definition)
    }

    /// Replaces those of one server.
    pub(crate) fn replace(
        &self,
        server: &Namespace,
        tools: impl IntoIterator<Item = (Identity, Digest)>,
    ) {
        let mut held = self.0.write().unwrap_or_else(PoisonError::into_inner);
        held.retain(|tool, _| tool.namespace() != Some(server));
        held.extend(tools);
    }
}

impl fmt::Debug for ReadOnlyTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ReadOnlyTools(..)")
    }
}
