//! What happens to servers.

use std::collections::BTreeMap;

use serde_json::Value;
use tokio::sync::broadcast;

use super::listing::Listing;

/// Events that may wait for one reader.
const WAITING: usize = 256;

/// Something that happened to a server.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UpstreamEvent {
    /// It is connected, for the first time or again, and its tools can be called.
    Connected {
        /// The configured name of the server.
        server: String,
        /// The revision of the protocol that is spoken with it.
        protocol: String,
    },
    /// Its list of tools is no longer what it was, on a running connection or since the last one.
    /// Sent before the new list is registered.
    ToolsChanged {
        /// The configured name of the server.
        server: String,
        /// Tools that were not listed before, by the server's own names, in order.
        added: Vec<String>,
        /// Tools that are not listed any more.
        removed: Vec<String>,
        /// Tools of which any part of the definition changed.
        changed: Vec<String>,
    },
    /// The connection ended.
    Lost {
        /// The configured name of the server.
        server: String,
        /// Why, as a clause that follows on the server's name.
        reason: String,
    },
    /// The reader was too slow, and so many events are lost to it.
    Missed(u64),
}

/// Receives what happens to servers, from the moment at which it was made.
#[derive(Debug)]
pub struct UpstreamEvents(broadcast::Receiver<UpstreamEvent>);

/// Sends to everybody who listens.
#[derive(Clone)]
pub(crate) struct EventFeed(broadcast::Sender<UpstreamEvent>);

impl UpstreamEvents {
    /// The next event; `None` once there will be no more.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<UpstreamEvent> {
        match self.0.recv().await {
            Ok(event) => Some(event),
            Err(broadcast::error::RecvError::Lagged(missed)) => Some(UpstreamEvent::Missed(missed)),
            Err(broadcast::error::RecvError::Closed) => None,
        }
    }
}

impl EventFeed {
    pub(crate) fn send(&self, event: UpstreamEvent) {
        // Nobody has to listen.
        let _ = self.0.send(event);
    }

    pub(crate) fn subscribe(&self) -> UpstreamEvents {
        UpstreamEvents(self.0.subscribe())
    }
}

impl Default for EventFeed {
    fn default() -> Self {
        Self(broadcast::channel(WAITING).0)
    }
}

/// What of a list is no longer what it was.
pub(crate) fn difference(server: &str, before: &Listing, after: &Listing) -> UpstreamEvent {
    let (before, after) = (by_name(before), by_name(after));
    let missing = |from: &BTreeMap<&str, &Value>, other: &BTreeMap<&str, &Value>| {
        let names = from.keys().filter(|name| !other.contains_key(**name));
        names.map(|name| (*name).to_owned()).collect()
    };
    UpstreamEvent::ToolsChanged {
        server: server.to_owned(),
        added: missing(&after, &before),
        removed: missing(&before, &after),
        changed: before
            .iter()
            .filter(|(name, entry)| after.get(**name).is_some_and(|other| other != *entry))
            .map(|(name, _)| (*name).to_owned())
            .collect(),
    }
}

fn by_name(listing: &Listing) -> BTreeMap<&str, &Value> {
    let named = |entry| Some((Value::get(entry, "name")?.as_str()?, entry));
    listing.entries.iter().filter_map(named).collect()
}
