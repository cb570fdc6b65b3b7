//! Work on one request, where its client waits for the answer.

use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use axum::body::Bytes;
use tokio::runtime::Handle;

use super::event_log::EventLog;
use super::session::Session;
use crate::wire::Message;

/// Work on one request, done by whoever waits for the answer: most answers are there after a moment,
/// and a task for each would cost more than that. Whatever is left when nobody waits here any more
/// goes on in a task of its own, which tells the log.
pub(crate) struct Work {
    left: Option<Pin<Box<dyn Future<Output = Option<Message>> + Send>>>,
    log: Arc<EventLog>,
    /// Where the client can come back for the rest.
    session: Option<Arc<Session>>,
}

/// The first thing that there is to tell.
pub(crate) enum First {
    /// The answer, ahead of everything else, with the code of its error.
    Answer(Bytes, Option<i64>),
    /// Something else, with more to come.
    More,
    /// Nothing, ever.
    Nothing,
}

impl Work {
    /// What it tells beside its answer, and the answer behind that, is told to the log.
    pub(crate) fn new(
        work: impl Future<Output = Option<Message>> + Send + 'static,
        log: Arc<EventLog>,
        session: Option<Arc<Session>>,
    ) -> Self {
        Self {
            left: Some(Box::pin(work)),
            log,
            session,
        }
    }

    /// Works until there is something to tell.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing.
    pub(crate) async fn first(&mut self) -> First {
        std::future::poll_fn(|cx| {
            let Some(left) = &mut self.left else {
                return Poll::Ready(First::Nothing);
            };
            let answer = match left.as_mut().poll(cx) {
                Poll::Pending => {
                    return self.log.poll_told(cx).map(|()| {
                        self.keep();
                        First::More
                    });
                }
                Poll::Ready(answer) => answer,
            };
            self.left = None;
            if self.log.poll_told(cx).is_ready() {
                // In the order in which it was told.
                self.keep();
                finish(&self.log, answer.as_ref());
                return Poll::Ready(First::More);
            }
            let answer = answer.and_then(|answer| {
                let json = serde_json::to_vec(&answer).ok()?;
                Some(First::Answer(json.into(), answer.error_code()))
            });
            Poll::Ready(answer.unwrap_or(First::Nothing))
        })
        .await
    }

    fn keep(&mut self) {
        if let Some(session) = self.session.take() {
            session.keep(&self.log);
        }
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        let Some(left) = self.left.take() else {
            return;
        };
        self.keep();
        // A runtime that ends takes everything with it.
        if let Ok(here) = Handle::try_current() {
            let log = Arc::clone(&self.log);
            here.spawn(async move { finish(&log, left.await.as_ref()) });
        }
    }
}

fn finish(log: &EventLog, answer: Option<&Message>) {
    if let Some(answer) = answer {
        // A client that is gone needs none.
        let _ = log.push(answer);
    }
    log.close();
}
