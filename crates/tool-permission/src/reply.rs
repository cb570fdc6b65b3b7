//! What people answer.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{Approval, ApprovalsError, Question, QuestionId, Scope};

/// What a person answers, also as a [`Mailbox`](crate::Mailbox) posts it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reply", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Reply {
    /// Yes, this time.
    Once,
    /// Yes, and from now on in the whole project, without an end:
    /// [`Save`](Self::Save) in [`ReplyScope::Project`].
    Always,
    /// Yes, and from now on whatever the patterns of [`Question::save`] match, for its action and
    /// its tool.
    ///
    /// Exactly those patterns are saved; a deny rule and a sticky rule still beat them. Other
    /// questions that the rules now allow are answered too. Without patterns it means "once".
    Save {
        /// For whom.
        scope: ReplyScope,
        /// How long; without an end where it says nothing. Posted in whole milliseconds.
        #[serde(default, rename = "lasts_ms", with = "crate::kept")]
        lasts: Option<Duration>,
    },
    /// No, with what the model reads. Other questions stay.
    Reject {
        /// What the model reads; without it, only that the user declined.
        note: Option<String>,
    },
    /// No to this and to every other question of the same session. The note is for this one.
    RejectAll {
        /// What the model reads.
        note: Option<String>,
    },
    /// No to all of the session, and to whatever the same message of the assistant, or without its
    /// id the same run, still asks. They are refused as
    /// [`Refusal::Stopped`](tool_core::Refusal::Stopped), with which a batch or turn begins no
    /// further call, and whoever listens is told [`Ending::Stopped`](crate::Ending::Stopped).
    RejectAndStop {
        /// What the model reads.
        note: Option<String>,
    },
}

/// For whom an answer is saved: whoever asked, widened as far as said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ReplyScope {
    /// The session of the question.
    Session,
    /// The agent of the question, in every session.
    Agent,
    /// The whole project.
    Project,
}

/// A question that is not, or no longer, waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("question {id} is not waiting for an answer")]
pub struct NotFound {
    pub(crate) id: QuestionId,
}

/// An answer that was not taken. The question still waits, unless it was not found.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AnswerError {
    /// It was never asked here, or has ended already.
    #[error(transparent)]
    NotFound(#[from] NotFound),
    /// The question belongs to no session, or to no agent, that it could be saved for.
    #[error("question {0} has no {1} to save an answer for")]
    NoScope(QuestionId, &'static str),
    /// It could not be saved.
    #[error("the answer to question {0} could not be saved")]
    Approvals(QuestionId, #[source] ApprovalsError),
}

/// The approvals that an answer saves.
pub(crate) fn saved(question: &Question, scope: ReplyScope) -> Result<Vec<Approval>, AnswerError> {
    let facts = &question.facts;
    let scope = match scope {
        ReplyScope::Project => Some(Scope::Project),
        ReplyScope::Session => facts.session_id().cloned().map(Scope::Session),
        ReplyScope::Agent => facts.agent_id().cloned().map(Scope::Agent),
    }
    .ok_or(AnswerError::NoScope(
        question.id,
        match scope {
            ReplyScope::Agent => "agent",
            _ => "session",
        },
    ))?;
    let request = question.request();
    let approval = |pattern| Approval::new(&question.action, pattern, scope.clone());
    Ok(question
        .save
        .iter()
        .map(|pattern| approval(pattern).for_tool_of(&request))
        .collect())
}
