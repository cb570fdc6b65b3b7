//! What happens at a desk.

use std::sync::Arc;

use tokio::sync::broadcast::{self, error::RecvError};
use tool_core::Answer;

use crate::Question;

/// One thing that happened at a desk.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Notice {
    /// A question was put.
    Asked(Arc<Question>),
    /// A question ended. Each does exactly once.
    Ended {
        /// The question.
        question: Arc<Question>,
        /// How it ended.
        ending: Ending,
    },
    /// The listener was too slow and missed that many notices; list the questions anew.
    Missed(u64),
}

/// How a question ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ending {
    /// It was answered: by a person, or by the rules after somebody answered "always".
    Answered(Answer),
    /// It was declined, and with it the whole turn: the batch or turn begins no
    /// further call.
    Stopped {
        /// What the model reads.
        note: Option<String>,
    },
    /// Nobody answered in time.
    Expired,
    /// Nobody waited for the answer any more.
    Withdrawn,
}

/// Listens to a desk.
///
/// It holds at most [`Desk::NOTICES`](crate::Desk::NOTICES) notices that were not taken yet.
#[derive(Debug)]
pub struct Notices(broadcast::Receiver<Notice>);

impl Notices {
    pub(crate) fn new(receiver: broadcast::Receiver<Notice>) -> Self {
        Self(receiver)
    }

    /// The next notice; `None` when the desk is gone.
    ///
    /// # Cancel safety
    /// Dropping the future loses no notice.
    pub async fn next(&mut self) -> Option<Notice> {
        match self.0.recv().await {
            Ok(notice) => Some(notice),
            Err(RecvError::Lagged(missed)) => Some(Notice::Missed(missed)),
            Err(RecvError::Closed) => None,
        }
    }
}
