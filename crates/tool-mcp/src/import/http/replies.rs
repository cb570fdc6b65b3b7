//! Answers to questions of a server, each in a request of its own.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::Shared;
use crate::wire::Message;

/// Answers that may wait to be sent. Whoever has one more waits.
const WAITING: usize = 16;
/// Answers that may be on their way at the same time.
const SENDING: usize = 16;
/// How long a server may take to accept one.
const PATIENCE: Duration = Duration::from_secs(30);

/// Where answers to questions of a server go. Clones are the same.
#[derive(Clone)]
pub(super) struct Replies(mpsc::Sender<Message>);

impl Replies {
    pub(super) fn new() -> (Self, mpsc::Receiver<Message>) {
        let (replies, waiting) = mpsc::channel(WAITING);
        (Self(replies), waiting)
    }

    /// Sends an answer as soon as there is room for it.
    pub(super) async fn send(&self, reply: Message) {
        // A server that is gone waits for nothing.
        let _ = self.0.send(reply).await;
    }

    /// The same for somebody who does not wait. What finds no room is sent from a task of its own:
    /// only answers of callers come so, which are bounded by their questions.
    pub(super) fn post(&self, reply: Message) {
        if let Err(mpsc::error::TrySendError::Full(reply)) = self.0.try_send(reply) {
            let replies = self.clone();
            tokio::spawn(async move { replies.send(reply).await });
        }
    }
}

impl Shared {
    /// Sends answers until the server is left.
    pub(super) async fn send_replies(self: Arc<Self>, mut waiting: mpsc::Receiver<Message>) {
        let room = Arc::new(Semaphore::new(SENDING));
        let mut sending = JoinSet::new();
        let over = self.over.clone();
        let all = async {
            while let Some(reply) = waiting.recv().await {
                let Ok(permit) = Arc::clone(&room).acquire_owned().await else {
                    return;
                };
                while sending.try_join_next().is_some() {}
                let Ok(body) = serde_json::to_vec(&reply) else {
                    continue;
                };
                let shared = Arc::clone(&self);
                sending.spawn(async move {
                    let headers = shared.common();
                    // A server that is gone waits for nothing.
                    let _ = timeout(PATIENCE, shared.post(None, headers, body)).await;
                    drop(permit);
                });
            }
        };
        tokio::select! {
            () = over.cancelled() => {}
            () = all => {}
        }
    }
}
