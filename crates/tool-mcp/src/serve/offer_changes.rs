//! Telling clients that something offered has changed.

use tokio::sync::broadcast;

/// Changes that may wait for a client. One that falls behind further is told that everything has
/// changed.
const WAITING: usize = 256;

/// Tells the clients of a server that something offered has changed. Clones tell the same clients.
#[derive(Clone, Debug)]
pub struct OfferChanges(broadcast::Sender<OfferChange>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OfferChange {
    Resources,
    Prompts,
    Resource(String),
}

impl OfferChanges {
    pub(crate) fn new() -> Self {
        Self(broadcast::channel(WAITING).0)
    }

    /// The list of resources or of their templates is another.
    pub fn resources(&self) {
        self.tell(OfferChange::Resources);
    }

    /// The list of prompts is another.
    pub fn prompts(&self) {
        self.tell(OfferChange::Prompts);
    }

    /// What a resource holds is another. Clients that subscribed to it are told.
    pub fn resource(&self, uri: impl Into<String>) {
        self.tell(OfferChange::Resource(uri.into()));
    }

    pub(crate) fn subscribe(&self) -> broadcast::Receiver<OfferChange> {
        self.0.subscribe()
    }

    fn tell(&self, change: OfferChange) {
        // Without clients there is nobody to tell.
        let _ = self.0.send(change);
    }
}
