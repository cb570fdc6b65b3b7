//! What comes in for one request, in the order in which it came.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Poll, Waker};

use serde_json::Value;

use super::call_error::CallError;
use super::incoming::Asked;
use crate::serve::LogLevel;
use crate::wire::Id;
use crate::wire::exact::Rounded;

/// Reports that may wait. A server that floods a caller loses the oldest ones.
const WAITING_REPORTS: usize = 64;
/// Letters of other sorts that may wait. A server that floods a caller is not heard.
const WAITING_LETTERS: usize = 64;

/// Holds what came in for one request until its caller takes it. Clones are the same mailbox.
#[derive(Clone, Default)]
pub(crate) struct Mailbox(Arc<Mutex<Letters>>);

#[derive(Default)]
struct Letters {
    waiting: VecDeque<Letter>,
    /// Of whoever waits for the next.
    waker: Option<Waker>,
}

/// One thing that came in.
pub(crate) enum Letter {
    Progress(Report),
    /// The server asks for something before it goes on.
    Asked(Asked),
    /// The server logs something about it.
    Logged(Logged),
    /// It no longer waits for the answer to a question.
    Withdrawn(Id),
    /// The request is over.
    End(Result<Answer, CallError>),
}

/// The `result` of an answer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answer {
    pub(crate) result: Value,
    /// Numbers that are not in it to the last digit, where there are any.
    pub(crate) rounded: Option<Box<Rounded>>,
}

/// Something that a server logs.
#[derive(Clone, Debug)]
pub(crate) struct Logged {
    pub(crate) level: LogLevel,
    pub(crate) logger: Option<String>,
    pub(crate) data: Value,
}

/// A report of progress, as it came.
#[derive(Clone, Debug, serde::Deserialize)]
pub(crate) struct Report {
    pub(crate) progress: f64,
    #[serde(default)]
    pub(crate) total: Option<f64>,
    #[serde(default)]
    pub(crate) message: Option<String>,
}

impl Mailbox {
    pub(crate) fn put(&self, letter: Letter) {
        let report = |letter: &Letter| matches!(letter, Letter::Progress(_));
        let mut letters = self.letters();
        if report(&letter) && letters.waiting.len() >= WAITING_REPORTS {
            // Nothing but reports may be lost.
            let Some(oldest) = letters.waiting.iter().position(report) else {
                return;
            };
            letters.waiting.remove(oldest);
        }
        letters.waiting.push_back(letter);
        let waker = letters.waker.take();
        drop(letters);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// The same for a letter that may be refused where too many wait. Whether it was taken.
    pub(crate) fn offer(&self, letter: Letter) -> bool {
        let room = self.letters().waiting.len() < WAITING_REPORTS + WAITING_LETTERS;
        if room {
            self.put(letter);
        }
        room
    }

    /// Waits for the next letter. Only one may wait at a time.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing.
    pub(crate) async fn next(&self) -> Letter {
        std::future::poll_fn(|cx| {
            let mut letters = self.letters();
            if let Some(letter) = letters.waiting.pop_front() {
                return Poll::Ready(letter);
            }
            let waker = letters.waker.as_ref();
            if !waker.is_some_and(|waker| waker.will_wake(cx.waker())) {
                letters.waker = Some(cx.waker().clone());
            }
            Poll::Pending
        })
        .await
    }

    fn letters(&self) -> std::sync::MutexGuard<'_, Letters> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::{Asked, Letter, Mailbox, Report, WAITING_REPORTS};

    fn report(number: u32) -> Letter {
        Letter::Progress(Report {
            progress: f64::from(number),
            total: None,
            message: None,
        })
    }

    fn asked(id: u64) -> Letter {
        Letter::Asked(Asked {
            of: None,
            key: None,
            id: id.into(),
            method: "elicitation/create".to_owned(),
            params: Value::Null,
        })
    }

    #[tokio::test]
    async fn a_flood_of_reports_loses_nothing_but_reports() {
        let mailbox = Mailbox::default();
        assert!(mailbox.offer(asked(1)));
        for number in 0..100 {
            mailbox.put(report(number));
        }
        assert!(matches!(mailbox.next().await, Letter::Asked(_)));
        // The newest are there.
        let oldest = mailbox.next().await;
        let Letter::Progress(Report { progress, .. }) = oldest else {
            panic!("it is no report");
        };
        assert_eq!(progress, 37.0);
    }

    #[tokio::test]
    async fn a_report_that_finds_none_but_other_letters_is_lost_itself() {
        let mailbox = Mailbox::default();
        for id in 0..WAITING_REPORTS as u64 {
            assert!(mailbox.offer(asked(id)));
        }
        mailbox.put(report(1));
        assert!(mailbox.offer(Letter::Withdrawn(1.into())));
        for _ in 0..WAITING_REPORTS {
            assert!(matches!(mailbox.next().await, Letter::Asked(_)));
        }
        assert!(matches!(mailbox.next().await, Letter::Withdrawn(_)));
    }
}
