//! Where questions wait for a person.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{broadcast, oneshot};
use tool_core::{
    Answer, Approver, ApproverError, Ask, BoxFuture, Decision, Facts, MessageId, NobodyToAsk,
    Permission, Refusal, Request, RunId, SessionId, Word,
};

use crate::reply::saved;
use crate::ticket::Asker;
use crate::{
    AnswerError, ApprovalsError, Ending, NotFound, Notice, Notices, Question, QuestionId, Queued,
    Reply, ReplyScope, RulePolicy, Ticket,
};

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

pub(crate) struct Shared {
    policy: Arc<RulePolicy>,
    pub(crate) deadline: Option<Duration>,
    waiting: Mutex<Waiting>,
    notices: broadcast::Sender<Notice>,
}

#[derive(Default)]
struct Waiting {
    asked: u64,
    /// In the order in which they were asked.
    open: BTreeMap<QuestionId, Open>,
    /// Turns that were stopped, the oldest first.
    stopped: VecDeque<Turn>,
}

/// What a model asks for in one go.
#[derive(Clone, PartialEq, Eq)]
enum Turn {
    Message(Option<SessionId>, MessageId),
    Run(Option<SessionId>, RunId),
}

impl Turn {
    fn of(facts: &Facts) -> Option<Self> {
        let session = facts.session_id().cloned();
        let message = facts.message_id().cloned();
        let run = facts.run_id().cloned();
        message
            .map(|id| Self::Message(session.clone(), id))
            .or_else(|| run.map(|id| Self::Run(session, id)))
    }
}

/// Who answers what a rule or a saved approval allows by now.
const RULES: &str = "rules";

/// How many stopped turns are remembered.
const MOST_STOPPED: usize = 1024;

struct Open {
    question: Arc<Question>,
    /// Policy left it open when it was put. Rules may answer only such a question; another was
    /// put for a reason of its own.
    by_policy: bool,
    answer: oneshot::Sender<Word>,
}

impl Desk {
    /// How many notices a subscriber may be behind before it misses the oldest.
    pub const NOTICES: usize = 1024;
    /// Who gave an answer for which no name was given.
    pub const NAME: &str = "desk";

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

    /// Answers a question, in the name of the desk.
    ///
    /// # Errors
    /// [`AnswerError`]; nothing was answered then.
    ///
    /// # Cancel safety
    /// Dropping the future may leave an approval saved and the question waiting.
    pub async fn answer(&self, id: QuestionId, reply: Reply) -> Result<(), AnswerError> {
        self.answer_as(id, reply, Self::NAME).await
    }

    /// Answers a question in the name of somebody, as an audit log is to have it.
    ///
    /// What is to be saved is saved before the asker goes on, so that its next request meets it.
    ///
    /// # Errors
    /// [`AnswerError`]; nothing was answered then.
    ///
    /// # Cancel safety
    /// Dropping the future may leave an approval saved and the question waiting.
    pub async fn answer_as(
        &self,
        id: QuestionId,
        reply: Reply,
        by: &str,
    ) -> Result<(), AnswerError> {
        let (scope, lasts) = match reply {
            Reply::Once => {
                let approved = Ending::Answered(Answer::Approved);
                return Ok(self.0.end(id, approved, by)?);
            }
            Reply::Reject { note } => {
                let declined = Ending::Answered(Answer::Declined { note });
                return Ok(self.0.end(id, declined, by)?);
            }
            Reply::RejectAll { note } => {
                return Ok(self.0.reject_all(id, note.as_deref(), false, by)?);
            }
            Reply::RejectAndStop { note } => {
                return Ok(self.0.reject_all(id, note.as_deref(), true, by)?);
            }
            Reply::Always => (ReplyScope::Project, None),
            Reply::Save { scope, lasts } => (scope, lasts),
        };
        let question = self.0.waiting_for(id)?;
        let approvals = saved(&question, scope)?;
        let failed = |error| AnswerError::Approvals(id, error);
        let saved = self.0.policy.saved();
        let replaced = saved.replace(approvals, lasts).await.map_err(failed)?;
        let approved = Ending::Answered(Answer::Approved);
        if let Err(gone) = self.0.end(id, approved, by) {
            // Only an answer that somebody waited for has its consequence, and what was there
            // before holds on.
            saved.put_back(&replaced).await.map_err(failed)?;
            return Err(gone.into());
        }
        self.release();
        Ok(())
    }

    /// Decides a request, and queues a question where it is to be asked. It does not wait: the
    /// ticket does.
    ///
    /// # Errors
    /// The refusal, when the request is denied.
    ///
    /// # Cancel safety
    /// Dropping the future queues nothing.
    pub async fn queue(&self, request: &Request<'_>) -> Result<Queued, Refusal> {
        let permission = Permission::new(Arc::clone(&self.0.policy), NobodyToAsk);
        let ruling = permission.decide(request).await;
        if ruling.decision != Decision::Ask {
            return permission
                .enforce(request, &ruling)
                .await
                .map(|()| Queued::Allowed);
        }
        let (id, answered) =
            (self.0.open(&Ask::new(request, &ruling))).ok_or(Refusal::Stopped { note: None })?;
        let asker = Asker {
            desk: Arc::clone(&self.0),
            id,
        };
        Ok(Queued::Waiting(Ticket { asker, answered }))
    }

    /// Listens to what happens at the desk from now on.
    #[must_use]
    pub fn notices(&self) -> Notices {
        Notices::new(self.0.notices.subscribe())
    }

    /// Approves what the rules and approvals allow by now, also those that another gateway saved.
    ///
    /// # Errors
    /// [`ApprovalsError`] when saved approvals cannot be read; nothing was approved then.
    ///
    /// # Cancel safety
    /// Dropping the future approves nothing.
    pub async fn look_again(&self) -> Result<(), ApprovalsError> {
        self.0.policy.saved().refresh().await?;
        self.release();
        Ok(())
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
                let _ = self.0.end(question.id, approved, RULES);
            }
        }
    }
}

impl Shared {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a question on the list, unless its turn was stopped.
    fn open(&self, ask: &Ask<'_>) -> Option<(QuestionId, oneshot::Receiver<Word>)> {
        let (answer, answered) = oneshot::channel();
        let by_policy = self.policy.judge(ask.request).decision == Decision::Ask;
        let turn = Turn::of(ask.request.facts);
        // Looked at under the lock, so that no question comes between a stop and what it ends.
        let mut waiting = self.waiting();
        if turn.is_some_and(|turn| waiting.stopped.contains(&turn)) {
            return None;
        }
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
        Some((id, answered))
    }

    /// The question, if somebody still waits for its answer.
    fn waiting_for(&self, id: QuestionId) -> Result<Arc<Question>, NotFound> {
        let mut waiting = self.waiting();
        let open = waiting.open.get(&id).ok_or(NotFound { id })?;
        if open.answer.is_closed() {
            self.end_in(&mut waiting, id, Ending::Withdrawn, Desk::NAME)?;
            return Err(NotFound { id });
        }
        Ok(Arc::clone(&open.question))
    }

    /// Takes a question off the list. Only who finds it there ends it.
    pub(crate) fn end(&self, id: QuestionId, ending: Ending, by: &str) -> Result<(), NotFound> {
        let mut waiting = self.waiting();
        self.end_in(&mut waiting, id, ending, by)
    }

    fn end_in(
        &self,
        waiting: &mut Waiting,
        id: QuestionId,
        ending: Ending,
        by: &str,
    ) -> Result<(), NotFound> {
        let open = waiting.open.remove(&id).ok_or(NotFound { id })?;
        // The asker may be gone and not have told yet.
        let deserted = open.answer.is_closed();
        let ending = if deserted { Ending::Withdrawn } else { ending };
        let answer = match &ending {
            Ending::Answered(answer) => Some(answer.clone()),
            Ending::Stopped { note } => Some(Answer::Stopped { note: note.clone() }),
            Ending::Expired | Ending::Withdrawn => None,
        };
        if let Some(answer) = answer {
            // One who goes away at this moment does not read it.
            let _ = open.answer.send(answer.by(by.to_owned()));
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

    /// Declines a question with a note, and all others of its session without one.
    fn reject_all(
        &self,
        id: QuestionId,
        note: Option<&str>,
        stop: bool,
        by: &str,
    ) -> Result<(), NotFound> {
        let ending = |note| match stop {
            true => Ending::Stopped { note },
            false => Ending::Answered(Answer::Declined { note }),
        };
        let mut waiting = self.waiting();
        let first = waiting.open.get(&id).ok_or(NotFound { id })?;
        let facts = first.question.facts.clone();
        self.end_in(&mut waiting, id, ending(note.map(str::to_owned)), by)?;
        let others: Vec<QuestionId> = waiting
            .open
            .values()
            .filter(|open| open.question.facts.session_id() == facts.session_id())
            .map(|open| open.question.id)
            .collect();
        for id in others {
            // One that is deserted ends as withdrawn.
            let _ = self.end_in(&mut waiting, id, ending(None), by);
        }
        if stop && let Some(turn) = Turn::of(&facts) {
            waiting.stopped.retain(|stopped| *stopped != turn);
            waiting.stopped.push_back(turn);
            if waiting.stopped.len() > MOST_STOPPED {
                waiting.stopped.pop_front();
            }
        }
        Ok(())
    }
}

impl Approver for Desk {
    /// Lists the question and waits.
    ///
    /// # Cancel safety
    /// Dropping the future withdraws the question.
    fn ask<'a>(&'a self, ask: Ask<'a>) -> BoxFuture<'a, Result<Word, ApproverError>> {
        Box::pin(async move {
            let Some((id, answered)) = self.0.open(&ask) else {
                return Ok(Answer::Stopped { note: None }.by(Self::NAME));
            };
            let asker = Asker {
                desk: Arc::clone(&self.0),
                id,
            };
            Ticket { asker, answered }.word().await
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

#[cfg(test)]
mod tests;
