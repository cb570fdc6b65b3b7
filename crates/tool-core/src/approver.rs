//! Who is asked when policy does not decide alone.

use std::borrow::Cow;
use std::sync::Arc;

use thiserror::Error;

use crate::{BoxFuture, Request, Ruling};

/// Asks somebody.
///
/// It may be asked by many calls at once, and about one call several times: each gate of a call is
/// a question of its own.
#[diagnostic::on_unimplemented(message = "`{Self}` does not answer permission questions")]
pub trait Approver: Send + Sync {
    /// Asks and waits for the answer.
    ///
    /// # Errors
    /// [`ApproverError`] when the question could not be put; it counts as a denial.
    ///
    /// # Cancel safety
    /// Dropping the future must withdraw the question.
    fn ask<'a>(&'a self, ask: Ask<'a>) -> BoxFuture<'a, Result<Word, ApproverError>>;
}

/// A question: the request and the ruling that left it open.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Ask<'a> {
    /// What is to be done.
    pub request: &'a Request<'a>,
    /// Why it is asked.
    pub ruling: &'a Ruling,
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a further answer must break every match"
)]
pub enum Answer {
    /// Yes. Whether it also holds from now on is between the approver and its policy.
    Approved,
    /// No, with what the person wants the model to read.
    Declined {
        /// What the model reads.
        note: Option<String>,
    },
    /// No, and the batch or turn that the call belongs to ends with it: what it has not begun is
    /// not begun any more.
    Stopped {
        /// What the model reads.
        note: Option<String>,
    },
    /// There is nobody to ask; counts as a denial.
    Nobody,
}

/// An answer, and who gave it. An answer alone is one of somebody unknown: `answer.into()`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Word {
    /// The answer.
    pub answer: Answer,
    /// Who gave it, as an auditor is to read it: a person, or what stands for one. `None` where
    /// that is not known.
    pub by: Option<Cow<'static, str>>,
}

/// A question that could not be put.
#[derive(Clone, Debug, Error)]
#[error("approver could not ask")]
pub struct ApproverError {
    #[source]
    source: Arc<dyn std::error::Error + Send + Sync>,
}

/// The approver of a runtime without anybody to ask.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "it holds nothing and never will")]
pub struct NobodyToAsk;

impl<'a> Ask<'a> {
    /// A question.
    #[must_use]
    pub fn new(request: &'a Request<'a>, ruling: &'a Ruling) -> Self {
        Self { request, ruling }
    }
}

impl Answer {
    /// The answer of somebody.
    ///
    /// ```
    /// use tool_core::Answer;
    ///
    /// let word = Answer::Approved.by("ada");
    /// assert_eq!(word.by.as_deref(), Some("ada"));
    /// ```
    #[must_use]
    pub fn by(self, who: impl Into<Cow<'static, str>>) -> Word {
        Word {
            answer: self,
            by: Some(who.into()),
        }
    }
}

impl From<Answer> for Word {
    fn from(answer: Answer) -> Self {
        Self { answer, by: None }
    }
}

impl ApproverError {
    /// An error with its cause.
    pub fn new(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self {
            source: Arc::from(source.into()),
        }
    }
}

impl Approver for NobodyToAsk {
    fn ask<'a>(&'a self, _ask: Ask<'a>) -> BoxFuture<'a, Result<Word, ApproverError>> {
        Box::pin(async { Ok(Answer::Nobody.into()) })
    }
}

impl<A: Approver + ?Sized> Approver for Arc<A> {
    fn ask<'a>(&'a self, ask: Ask<'a>) -> BoxFuture<'a, Result<Word, ApproverError>> {
        (**self).ask(ask)
    }
}
