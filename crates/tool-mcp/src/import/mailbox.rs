//! What comes in for one request, in the order in which it came.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;
use tokio::sync::Notify;

use super::call_error::CallError;
use super::incoming::Asked;
use crate::wire::Id;
use crate::wire::exact::Rounded;

/// Reports that may wait. A server that floods a caller loses the oldest ones.
const WAITING_REPORTS: usize = 64;
/// Letters of other sorts that may wait. A server that floods a caller is not heard.
const WAITING_LETTERS: usize = 64;

/// Holds what came in for one request until its caller takes it. Clones are the same mailbox.
#[derive(Clone, Default)]
pub(crate) struct Mailbox(Arc<Shared>);

#[derive(Default)]
struct Shared {
    letters: Mutex<VecDeque<Letter>>,
    arrived: Notify,
}

/// One thing that came in.
pub(crate) enum Letter {
    Progress(Report),
    /// The server asks for something before it goes on.
    Asked(Asked),
    /// It no longer waits for the answer to a question.
    Withdrawn(Id),
    /// The request is over.
    End(Result<Answer, CallError>),
}

/// The `result` of an answer.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    pub(crate) result: Value,
    /// Numbers that are not in it to the last digit.
    pub(crate) rounded: Vec<Rounded>,
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
        let mut letters = self.letters();
        if matches!(letter, Letter::Progress(_)) && letters.len() >= WAITING_REPORTS {
            letters.pop_front();
        }
        letters.push_back(letter);
        drop(letters);
        self.0.arrived.notify_one();
    }

    /// The same for a letter that may be refused where too many wait. Whether it was taken.
    pub(crate) fn offer(&self, letter: Letter) -> bool {
        let taken = {
            let mut letters = self.letters();
            let room = letters.len() < WAITING_REPORTS + WAITING_LETTERS;
            if room {
                letters.push_back(letter);
            }
            room
        };
        self.0.arrived.notify_one();
        taken
    }

    /// Waits for the next letter. Only one may wait at a time.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing.
    pub(crate) async fn next(&self) -> Letter {
        loop {
            if let Some(letter) = self.letters().pop_front() {
                return letter;
            }
            self.0.arrived.notified().await;
        }
    }

    fn letters(&self) -> std::sync::MutexGuard<'_, VecDeque<Letter>> {
        self.0
            .letters
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
