//! Whose the things are that servers have beside tools.

use std::collections::HashMap;
use std::sync::Arc;

use super::upstream::Upstream;

#[derive(Clone)]
pub(crate) struct Owner {
    pub(crate) upstream: Arc<Upstream>,
    /// The server's own name or URI.
    pub(crate) own: String,
}

/// Where the keys of offers of a kind lead.
#[derive(Default)]
pub(crate) struct Owners {
    /// How the servers stood.
    standing: Vec<u64>,
    /// The keys in their order: those of the first server by name come first.
    order: Vec<String>,
    by_key: HashMap<String, Owner>,
}

impl Owners {
    /// None yet, while the servers stand so.
    pub(crate) fn of(standing: Vec<u64>) -> Self {
        Self {
            standing,
            ..Self::default()
        }
    }

    /// Adds an offer of a server, unless the key is another one's. Whether it was free.
    pub(crate) fn add(&mut self, upstream: &Arc<Upstream>, key: &str, own: &str) -> bool {
        if self.by_key.contains_key(key) {
            let server = upstream.name.as_str();
            tracing::debug!(server, key, "another server or entry has it already");
            return false;
        }
        let owner = Owner {
            upstream: Arc::clone(upstream),
            own: own.to_owned(),
        };
        self.by_key.insert(key.to_owned(), owner);
        self.order.push(key.to_owned());
        true
    }
    /// Whose a key is, as long as the servers stand as they are to.
    pub(crate) fn owner(&self, key: &str, standing: Option<&[u64]>) -> Option<&Owner> {
        let holds = standing.is_none_or(|standing| *self.standing == *standing);
        self.by_key.get(key).filter(|_| holds)
    }

    /// Whose the first key is that is one of these.
    pub(crate) fn first(&self, is_one: impl Fn(&str) -> bool) -> Option<&Owner> {
        let key = self.order.iter().find(|key| is_one(key))?;
        self.by_key.get(key)
    }
}
