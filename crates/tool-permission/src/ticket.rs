//! A place in the queue of a desk.

use std::fmt;
use std::sync::Arc;

use tokio::sync::oneshot;
use tool_core::{Answer, ApproverError, Word};

use crate::desk::Shared;
use crate::{Desk, Ending, NotFound, QuestionId};

/// Withdraws a question that is still open when the one who asked is gone.
pub(crate) struct Asker {
    pub(crate) desk: Arc<Shared>,
    pub(crate) id: QuestionId,
}

/// What became of a request that was queued.
#[derive(Debug)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a further outcome must break every match"
)]
pub enum Queued {
    /// The rules allow it.
    Allowed,
    /// It waits for an answer.
    Waiting(Ticket),
}

/// A place in the queue. Dropping it withdraws the question.
#[must_use = "dropping it withdraws the question"]
pub struct Ticket {
    pub(crate) asker: Asker,
    pub(crate) answered: oneshot::Receiver<Word>,
}

impl Ticket {
    /// The name of the question.
    #[must_use]
    pub fn id(&self) -> QuestionId {
        self.asker.id
    }

    /// Waits for the answer, no longer than the desk's deadline from now on.
    ///
    /// # Errors
    /// [`ApproverError`] when the desk is gone.
    ///
    /// # Cancel safety
    /// Dropping the future withdraws the question.
    pub async fn answer(self) -> Result<Answer, ApproverError> {
        self.word().await.map(|word| word.answer)
    }

    /// The same, with who gave it.
    ///
    /// # Errors
    /// [`ApproverError`] when the desk is gone.
    ///
    /// # Cancel safety
    /// Dropping the future withdraws the question.
    pub async fn word(self) -> Result<Word, ApproverError> {
        let Self {
            asker,
            mut answered,
        } = self;
        let Some(deadline) = asker.desk.deadline else {
            return answered.await.map_err(ApproverError::new);
        };
        match tokio::time::timeout(deadline, &mut answered).await {
            Ok(word) => word.map_err(ApproverError::new),
            Err(_) => match asker.desk.end(asker.id, Ending::Expired, Desk::NAME) {
                Ok(()) => Ok(Answer::Nobody.into()),
                // It was answered at the last moment.
                Err(NotFound { .. }) => answered.try_recv().map_err(ApproverError::new),
            },
        }
    }
}

impl fmt::Debug for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Ticket").field(&self.asker.id).finish()
    }
}

impl Drop for Asker {
    fn drop(&mut self) {
        // It is gone already where an answer or the deadline came first.
        let _ = self.desk.end(self.id, Ending::Withdrawn, Desk::NAME);
    }
}
