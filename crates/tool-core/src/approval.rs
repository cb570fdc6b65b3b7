//! When a tool wants a person's leave, whatever policy says.

use std::any::TypeId;
use std::error::Error;
use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::contained::contained;
use crate::{BoxFuture, CallId, Facts};

type Failure = Box<dyn Error + Send + Sync>;
type Predicate =
    dyn Fn(&Value, CallFacts) -> BoxFuture<'static, Result<bool, Failure>> + Send + Sync;

/// What a predicate is told of a call beside its input.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct CallFacts {
    /// Who calls.
    pub facts: Facts,
    /// The id of the call, where it has one.
    pub call: Option<CallId>,
}

impl CallFacts {
    /// The facts of a call.
    #[must_use]
    pub fn new(facts: Facts, call: Option<CallId>) -> Self {
        Self { facts, call }
    }
}

/// Whether calls of a tool need approval. A predicate that fails says yes.
///
/// ```
/// use tool_core::{CallFacts, NeedsApproval};
///
/// #[derive(serde::Deserialize)]
/// struct Refund {
///     cents: u64,
/// }
///
/// let large = NeedsApproval::when(|refund: Refund, _: CallFacts| async move {
///     Ok(refund.cents > 10_000)
/// });
/// # let _ = large;
/// ```
#[derive(Clone, Default)]
pub struct NeedsApproval(Approval);

#[derive(Clone, Default)]
enum Approval {
    #[default]
    Never,
    Always,
    When {
        predicate: Arc<Predicate>,
        /// It reads the arguments into a type of its own, past the codec of the tool.
        by_serde: bool,
    },
}

impl NeedsApproval {
    /// No call needs approval. The default.
    pub const NEVER: Self = Self(Approval::Never);
    /// Every call needs approval.
    pub const ALWAYS: Self = Self(Approval::Always);

    /// Calls need approval for which the predicate says so, over the arguments, read by serde: a
    /// [`Value`] takes them as they are. A tool with a codec of its own takes no other, as that would
    /// pass its codec by: [`TypedTool::needs_approval_when`](crate::TypedTool::needs_approval_when)
    /// is for the input that the tool's codec decodes.
    ///
    /// The predicate runs once for each attempt, after validation, and again when the call is
    /// resumed. One that fails, panics, cannot read the input or takes longer than the runtime
    /// lets its gates take says yes.
    pub fn when<I, F, Fut>(predicate: F) -> Self
    where
        I: DeserializeOwned + 'static,
        F: Fn(I, CallFacts) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<bool, Failure>> + Send + 'static,
    {
        let by_serde = TypeId::of::<I>() != TypeId::of::<Value>();
        Self::over(|input| Ok(I::deserialize(input)?), by_serde, predicate)
    }

    /// The same over input that somebody else decodes.
    pub(crate) fn over<I, F, Fut>(
        decode: impl Fn(&Value) -> Result<I, Failure> + Send + Sync + 'static,
        by_serde: bool,
        predicate: F,
    ) -> Self
    where
        F: Fn(I, CallFacts) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<bool, Failure>> + Send + 'static,
    {
        let predicate: Arc<Predicate> = Arc::new(move |input, facts| match decode(input) {
            Ok(input) => Box::pin(predicate(input, facts)),
            Err(error) => Box::pin(async move { Err(error) }),
        });
        Self(Approval::When {
            predicate,
            by_serde,
        })
    }

    /// Whether it reads the arguments into a type of its own.
    pub(crate) fn reads_by_serde(&self) -> bool {
        matches!(self.0, Approval::When { by_serde: true, .. })
    }

    /// Whether no call needs approval, whatever its input.
    #[must_use]
    pub fn is_never(&self) -> bool {
        matches!(self.0, Approval::Never)
    }

    /// Whether a call needs approval. A predicate that fails, panics or cannot read the input
    /// counts as yes.
    ///
    /// # Cancel safety
    /// As the predicate's.
    pub async fn holds(&self, input: &Value, facts: impl FnOnce() -> CallFacts) -> bool {
        match &self.0 {
            Approval::Never => false,
            Approval::Always => true,
            Approval::When { predicate, .. } => {
                let facts = facts();
                let Some(mut asking) = contained(|| predicate(input, facts)) else {
                    return true;
                };
                poll_fn(|cx| match contained(|| asking.as_mut().poll(cx)) {
                    Some(Poll::Pending) => Poll::Pending,
                    Some(Poll::Ready(said)) => Poll::Ready(said.unwrap_or(true)),
                    None => Poll::Ready(true),
                })
                .await
            }
        }
    }
}

impl From<bool> for NeedsApproval {
    fn from(always: bool) -> Self {
        if always { Self::ALWAYS } else { Self::NEVER }
    }
}

impl fmt::Debug for NeedsApproval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Approval::Never => "Never",
            Approval::Always => "Always",
            Approval::When { .. } => "When(..)",
        })
    }
}
