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
            // Out of its place meanwhile, so that what panics is not gone on with.
            let Some(mut left) = self.left.take() else {
                return Poll::Ready(First::Nothing);
            };
            let answer = match left.as_mut().poll(cx) {
                Poll::Pending => {
                    self.left = Some(left);
                    return self.log.poll_told(cx).map(|()| {
                        self.keep();
                        First::More
                    });
                }
                Poll::Ready(answer) => answer,
            };
            // Nobody reads what is told behind an answer that goes alone.
            if !self.log.close_untold() {
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
            // Where it panicked nothing has said so yet.
            return self.log.close();
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

#[cfg(test)]
mod tests {
    use std::future::{pending, poll_fn, ready};
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::pin::pin;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::{Context, Poll, Waker};

    use serde_json::json;

    use super::super::event_log::EventLog;
    use super::{First, Work};
    use crate::wire::{Id, Message};

    fn answer() -> Message {
        let id: Id = serde_json::from_value(json!(1)).expect("an id");
        Message::answer(id, Ok(json!({})))
    }

    fn notice() -> Message {
        Message::notice("notifications/progress", None)
    }

    fn first(work: &mut Work) -> Poll<First> {
        pin!(work.first()).poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn nothing_can_be_told_behind_an_answer_that_went_alone() {
        let log = Arc::new(EventLog::once());
        let mut work = Work::new(ready(Some(answer())), Arc::clone(&log), None);
        assert!(matches!(first(&mut work), Poll::Ready(First::Answer(..))));
        assert!(log.push(&notice()).is_err());

        let log = Arc::new(EventLog::once());
        let mut work = Work::new(ready(None), Arc::clone(&log), None);
        assert!(matches!(first(&mut work), Poll::Ready(First::Nothing)));
        assert!(log.push(&notice()).is_err());
    }

    #[test]
    fn what_was_told_ahead_of_the_answer_comes_first() {
        let log = Arc::new(EventLog::once());
        let told = Arc::clone(&log);
        let working = async move {
            told.push(&notice()).expect("it is open");
            Some(answer())
        };
        let mut work = Work::new(working, Arc::clone(&log), None);
        assert!(matches!(first(&mut work), Poll::Ready(First::More)));
        assert!(log.push(&notice()).is_err(), "the answer is the last");
    }

    #[tokio::test]
    async fn what_panicked_is_not_gone_on_with() {
        let polls = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&polls);
        let broken = poll_fn(move |_| {
            counted.fetch_add(1, Ordering::Relaxed);
            panic!("it breaks")
        });
        let log = Arc::new(EventLog::once());
        let mut work = Work::new(broken, Arc::clone(&log), None);
        let caught = catch_unwind(AssertUnwindSafe(|| first(&mut work).is_ready()));
        assert!(caught.is_err());
        drop(work);
        tokio::task::yield_now().await;
        assert_eq!(polls.load(Ordering::Relaxed), 1);
        assert!(log.push(&notice()).is_err());
    }

    #[tokio::test]
    async fn what_is_left_goes_on_and_can_still_tell() {
        let log = Arc::new(EventLog::once());
        let mut work = Work::new(pending(), Arc::clone(&log), None);
        assert!(first(&mut work).is_pending());
        drop(work);
        tokio::task::yield_now().await;
        assert!(log.push(&notice()).is_ok());
    }
}
