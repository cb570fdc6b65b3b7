//! What happens to things that are offered.

use serde_json::Value;
use tokio::sync::broadcast;

use super::OfferKind;

/// Events that may wait for one reader. One that is slower loses the oldest.
const WAITING: usize = 256;

/// Something that happened to what servers offer beside tools.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum OfferEvent {
    /// A list may have changed.
    Changed(OfferKind),
    /// A resource has changed.
    Updated {
        /// Its URI.
        uri: String,
    },
    /// What a person does on a page that a server had opened is done. For whoever was shown the
    /// page, and nobody else.
    PageDone {
        /// The configured name of the server.
        server: String,
        /// The server's own id of the page. Clients are shown another one, which names the server.
        id: String,
    },
    /// A server logs.
    Logged {
        /// The configured name of the server.
        server: String,
        /// The level, one of the eight of the specification.
        level: String,
        /// The part of the server that logs, where it says so.
        logger: Option<String>,
        /// What it logs.
        data: Value,
        /// Whether the client was told in the middle of whose call it was logged. Nobody else is to
        /// be told then: it may be about what that client alone may know.
        to_caller: bool,
    },
}

/// Receives events from the moment at which it was made.
#[derive(Debug)]
pub struct OfferEvents {
    receiver: broadcast::Receiver<OfferEvent>,
    /// Lists of which changes may have been missed.
    missed: Vec<OfferKind>,
}

/// Sends events to everybody who listens. Clones send to the same.
#[derive(Clone, Debug)]
pub struct OfferEventSender(broadcast::Sender<OfferEvent>);

impl OfferEvents {
    /// Events of nothing: it ends at once. For an implementation in which nothing ever happens.
    #[must_use]
    pub fn none() -> Self {
        OfferEventSender::default().subscribe()
    }

    /// The next event; `None` once there will be no more. A reader that was too slow is told that
    /// every list may have changed, in place of what it missed; that a page is done is not told
    /// again.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<OfferEvent> {
        loop {
            if let Some(kind) = self.missed.pop() {
                return Some(OfferEvent::Changed(kind));
            }
            match self.receiver.recv().await {
                Ok(event) => return Some(event),
                Err(broadcast::error::RecvError::Lagged(_)) => {
                    self.missed = OfferKind::ALL.to_vec();
                }
                Err(broadcast::error::RecvError::Closed) => return None,
            }
        }
    }
}

impl OfferEventSender {
    /// Tells everybody who listens now.
    pub fn send(&self, event: OfferEvent) {
        // Nobody has to listen.
        let _ = self.0.send(event);
    }

    /// Listens from now on.
    #[must_use]
    pub fn subscribe(&self) -> OfferEvents {
        OfferEvents {
            receiver: self.0.subscribe(),
            missed: Vec::new(),
        }
    }
}

impl Default for OfferEventSender {
    fn default() -> Self {
        Self(broadcast::channel(WAITING).0)
    }
}
