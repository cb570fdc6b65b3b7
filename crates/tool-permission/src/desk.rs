//! Where questions wait for a person.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use thiserror::Error;
use tokio::sync::{broadcast, oneshot};
use tool_core::{Answer, Approver, ApproverError, Ask, BoxFuture, Decision, SessionId};

use crate::{Ending, Notice, Notices, Question, QuestionId, RulePolicy};

/// The approver that lists questions until a person, or a program for them, answers.
///
/// Each question ends exactly once, with one [`Notice`]: it is answered, it expires, or it is
/// withdrawn because nobody waits for the answer any more. Clones are the same desk.
///
/// ```
/// use std::sync::Arc;
/// use tool_core::Permission;
/// use tool_permission::{Desk, RulePolicy};
///
/// let policy = Arc::new(RulePolicy::new([]));
/// let desk = Desk::new(Arc::clone(&policy));
/// let permission = Permission::new(policy, desk.clone());
/// assert!(desk.all().is_empty());
/// # let _ = permission;
/// ```
#[derive(Clone)]
pub struct Desk(Arc<Shared>);

/// What a person answers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reply {
    /// Yes, this time.
    Once,
    /// Yes, and from now on whatever the patterns of [`Question::save`] match, for its action.
    ///
    /// Exactly those patterns are stored, for as long as the policy lives; a deny rule and a
    /// sticky rule still beat them. Other questions that the rules now allow are answered too.
    Always,
    /// No, with what the model reads.
    Reject {
        /// What the model reads; without it, only that the user declined.
        note: Option<String>,
    },
}

/// A question that is not, or no longer, waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("question {id} is not waiting for an answer")]
pub struct NotFound {
    id: QuestionId,
}

struct Shared {
    policy: Arc<RulePolicy>,
    deadline: Option<Duration>,
    waiting: Mutex<Waiting>,
    notices: broadcast::Sender<Notice>,
}

#[derive(Default)]
struct Waiting {
    asked: u64,
    /// In the order in which they were asked.
    open: BTreeMap<QuestionId, Open>,
}

struct Open {
    question: Arc<Question>,
    /// Policy left it open when it was put. Rules may answer only such a question; another was
    /// put for a reason of its own.
    by_policy: bool,
    answer: oneshot::Sender<Answer>,
}

/// Withdraws a question that is still open when the one who asked is gone.
struct Asker<'a> {
    desk: &'a Shared,
    id: QuestionId,
}

impl Desk {
    /// How many notices a subscriber may be behind before it misses the oldest.
    pub const NOTICES: usize = 1024;

    /// A desk for the questions that this policy leaves open. They wait without a deadline.
    #[must_use]
    pub fn new(policy: Arc<RulePolicy>) -> Self {
        Self::build(policy, None)
    }

    /// The same, where a question expires after that time; an expired question is denied.
    ///
    /// Asking then needs a tokio runtime with its timer enabled.
    #[must_use]
    pub fn with_deadline(policy: Arc<RulePolicy>, deadline: Duration) -> Self {
        Self::build(policy, Some(deadline))
    }

    fn build(policy: Arc<RulePolicy>, deadline: Option<Duration>) -> Self {
        Self(Arc::new(Shared {
            policy,
            deadline,
            waiting: Mutex::default(),
            notices: broadcast::Sender::new(Self::NOTICES),
        }))
    }

    /// The questions of one session that wait, in the order in which they were asked; with `None`
    /// those that belong to no session.
    #[must_use]
    pub fn of_session(&self, session: Option<&SessionId>) -> Vec<Arc<Question>> {
        let mut questions = self.all();
        questions.retain(|question| question.facts.session_id() == session);
        questions
    }

    /// All questions that wait, in the order in which they were asked.
    #[must_use]
    pub fn all(&self) -> Vec<Arc<Question>> {
        let waiting = self.0.waiting();
        let open = waiting.open.values();
        open.map(|open| Arc::clone(&open.question)).collect()
    }

    /// Answers a question.
    ///
    /// # Errors
    /// [`NotFound`] when it was never asked here, or has ended already.
    pub fn answer(&self, id: QuestionId, reply: Reply) -> Result<(), NotFound> {
        let always = reply == Reply::Always;
        let answer = match reply {
            Reply::Once | Reply::Always => Answer::Approved,
            Reply::Reject { note } => Answer::Declined { note },
        };
        self.0.end(id, Ending::Answered(answer), |question| {
            // Before the asker goes on, so that its next request meets the new rules.
            if always {
                self.0.policy.save(&question.action, &question.save);
            }
        })?;
        if always {
            self.release();
        }
        Ok(())
    }

    /// Listens to what happens at the desk from now on.
    #[must_use]
    pub fn notices(&self) -> Notices {
        Notices::new(self.0.notices.subscribe())
    }

    /// Approves what the rules allow by now, and leaves everything else as it is.
    fn release(&self) {
        let by_policy: Vec<_> = {
            let waiting = self.0.waiting();
            let open = waiting.open.values().filter(|open| open.by_policy);
            open.map(|open| Arc::clone(&open.question)).collect()
        };
        for question in by_policy {
            if self.0.policy.judge(&question.request()).decision == Decision::Allow {
                // It may have ended meanwhile, and then it has ended once already.
                let approved = Ending::Answered(Answer::Approved);
                let _ = self.0.end(question.id, approved, |_| {});
            }
        }
    }
}

impl Shared {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a question on the list.
    fn open(&self, ask: &Ask<'_>) -> (QuestionId, oneshot::Receiver<Answer>) {
        let (answer, answered) = oneshot::channel();
        let by_policy = self.policy.judge(ask.request).decision == Decision::Ask;
        let mut waiting = self.waiting();
        waiting.asked += 1;
        let id = QuestionId::new(waiting.asked);
        let question = Arc::new(Question::new(id, ask));
        let asked = Notice::Asked(Arc::clone(&question));
        let open = Open {
            question,
            by_policy,
            answer,
        };
        waiting.open.insert(id, open);
        // Nobody need listen. Sent under the lock, so that notices have the order of events.
        let _ = self.notices.send(asked);
        (id, answered)
    }

    /// Takes a question off the list. Only who finds it there ends it, and only an answer that
    /// somebody waits for has its consequence.
    fn end(
        &self,
        id: QuestionId,
        ending: Ending,
        consequence: impl FnOnce(&Question),
    ) -> Result<(), NotFound> {
        let mut waiting = self.waiting();
        let open = waiting.open.remove(&id).ok_or(NotFound { id })?;
        // The asker may be gone and not have told yet.
        let deserted = open.answer.is_closed();
        let ending = if deserted { Ending::Withdrawn } else { ending };
        if !deserted {
            consequence(&open.question);
        }
        if let Ending::Answered(answer) = &ending {
            // One who goes away at this moment does not read it.
            let _ = open.answer.send(answer.clone());
        }
        let _ = self.notices.send(Notice::Ended {
            question: open.question,
            ending,
        });
        if deserted {
            Err(NotFound { id })
        } else {
            Ok(())
        }
    }
}

impl Drop for Asker<'_> {
    fn drop(&mut self) {
        // It is gone already where an answer or the deadline came first.
        let _ = self.desk.end(self.id, Ending::Withdrawn, |_| {});
    }
}

impl Approver for Desk {
    /// Lists the question and waits.
    ///
    /// # Cancel safety
    /// Dropping the future withdraws the question.
    fn ask<'a>(&'a self, ask: Ask<'a>) -> BoxFuture<'a, Result<Answer, ApproverError>> {
        Box::pin(async move {
            let desk = &*self.0;
            let (id, mut answered) = desk.open(&ask);
            let _asker = Asker { desk, id };
            let Some(deadline) = desk.deadline else {
                return answered.await.map_err(ApproverError::new);
            };
            match tokio::time::timeout(deadline, &mut answered).await {
                Ok(answer) => answer.map_err(ApproverError::new),
                Err(_) => match desk.end(id, Ending::Expired, |_| {}) {
                    Ok(()) => Ok(Answer::Nobody),
                    // It was answered at the last moment.
                    Err(NotFound { .. }) => answered.try_recv().map_err(ApproverError::new),
                },
            }
        })
    }
}

impl fmt::Debug for Desk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Desk")
            .field("waiting", &self.0.waiting().open.len())
            .finish_non_exhaustive()
    }
}
