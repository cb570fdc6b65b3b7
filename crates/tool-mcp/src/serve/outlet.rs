//! Where messages to one client go.

use std::sync::Arc;

#[cfg(feature = "http")]
use super::http::EventLog;
use crate::wire::{Message, Outbox};

/// Where messages to one client go, in the order in which they are sent.
#[derive(Clone)]
pub(crate) enum Outlet {
    /// The stream that is the connection.
    Lines(Arc<Outbox>),
    /// The answer to one HTTP request, or the stream that a session has besides.
    #[cfg(feature = "http")]
    Events(Arc<EventLog>),
    /// A client that takes nothing but the answer.
    #[cfg(feature = "http")]
    Nowhere,
}

/// The client is gone.
#[derive(Debug)]
pub(crate) struct Gone;

impl Outlet {
    /// Sends a message. It is in its place when the future is polled first; waiting for the rest
    /// keeps a sender from running ahead of a slow client.
    pub(crate) async fn send(&self, message: &Message) -> Result<(), Gone> {
        match self {
            Self::Lines(lines) => lines.push(message).await.map_err(|_| Gone),
            #[cfg(feature = "http")]
            Self::Events(log) => log.push(message),
            // Whoever waits for an answer to it would wait for ever.
            #[cfg(feature = "http")]
            Self::Nowhere => Err(Gone),
        }
    }

    /// Sends a message without waiting until it is written.
    pub(crate) fn post(&self, message: &Message) {
        match self {
            Self::Lines(lines) => {
                // Whoever is gone needs none.
                let _ = lines.post(message);
            }
            #[cfg(feature = "http")]
            Self::Events(log) => {
                let _ = log.push(message);
            }
            #[cfg(feature = "http")]
            Self::Nowhere => {}
        }
    }
}
