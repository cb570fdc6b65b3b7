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
/// Answers that may be late, as nobody waits until there is room for them. More are dropped.
const LATE: usize = 256;

/// Where answers to questions of a server go. Clones are the same.
#[derive(Clone)]
pub(super) struct Replies {
    waiting: mpsc::Sender<Message>,
    late: Arc<Semaphore>,
}

impl Replies {
    pub(super) fn new() -> (Self, mpsc::Receiver<Message>) {
        let (replies, waiting) = mpsc::channel(WAITING);
        let late = Arc::new(Semaphore::new(LATE));
        let replies = Self {
            waiting: replies,
            late,
        };
        (replies, waiting)
    }

    /// Sends an answer as soon as there is room for it.
    pub(super) async fn send(&self, reply: Message) {
        // A server that is gone waits for nothing.
        let _ = self.waiting.send(reply).await;
    }

    /// The same for somebody who does not wait. What finds no room is sent from a task of its own,
    /// and a server that takes too few answers for all that it asks does not get them all.
    pub(super) fn post(&self, reply: Message) {
        if let Err(mpsc::error::TrySendError::Full(reply)) = self.waiting.try_send(reply) {
            let Ok(late) = Arc::clone(&self.late).try_acquire_owned() else {
                tracing::warn!(
                    "an answer to a question of a server was dropped: too many are late"
                );
                return;
            };
            let replies = self.clone();
            tokio::spawn(async move {
                replies.send(reply).await;
                drop(late);
            });
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
                    let _ = timeout(PATIENCE, shared.post(None, None, headers, body)).await;
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::Value;

    use super::{LATE, Message, Replies, WAITING, timeout};

    #[tokio::test(start_paused = true)]
    async fn answers_that_a_server_does_not_take_are_bounded() {
        let (replies, mut waiting) = Replies::new();
        let post = |id: usize| replies.post(Message::answer((id as u64).into(), Ok(Value::Null)));
        (0..WAITING + LATE + 100).for_each(post);
        let mut taken = 0;
        while let Ok(Some(_)) = timeout(Duration::from_secs(1), waiting.recv()).await {
            taken += 1;
        }
        assert_eq!(taken, WAITING + LATE);
        // Those that went have left their room to others.
        (0..WAITING + 1).for_each(post);
        for _ in 0..=WAITING {
            assert!(waiting.recv().await.is_some());
        }
    }
}
