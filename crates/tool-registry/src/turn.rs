//! One model response, from its first part to the results of its calls.

mod assembly;
mod event;
mod history;
mod part;
mod stream;

pub use event::TurnEvent;
pub use history::{AssistantPart, History, ResultPart};
pub use part::{FinishReason, Part, TurnError};
pub use stream::TurnStream;

use std::num::NonZeroUsize;

use futures_core::Stream;
use tool_core::Facts;

use crate::{Approvals, Snapshot};

/// One model response in the making: feed it with the parts as they come, take the events.
///
/// A call starts when the stream has moved past it, and never when the response was cut off. The
/// finish is held back until the results are out, and every call that the model made is answered.
///
/// ```
/// use futures_util::{StreamExt as _, stream};
/// use tool_core::{Call, Facts};
/// use tool_registry::{FinishReason, Part, Registry, TurnEvent};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let registry = Registry::default();
/// let parts = [Part::Call(Call::new("missing", "{}").id("c1")), Part::Finish(FinishReason::ToolCalls)];
/// let response = stream::iter(parts.map(Ok::<_, std::io::Error>));
///
/// let mut turn = registry.snapshot().turn(&Facts::new()).run(response);
/// let mut last = None;
/// while let Some(event) = turn.next().await {
///     last = Some(event);
/// }
/// assert!(matches!(last, Some(TurnEvent::Finish(FinishReason::ToolCalls))));
/// assert_eq!(turn.history().results().len(), 1);
/// # }
/// ```
#[must_use = "nothing runs until it is fed"]
#[derive(Debug)]
pub struct Turn {
    snapshot: Snapshot,
    facts: Facts,
    approvals: Approvals,
    limit: NonZeroUsize,
}

impl Turn {
    pub(crate) fn new(snapshot: Snapshot, facts: Facts) -> Self {
        let limit = snapshot.services.batch_concurrency;
        Self {
            snapshot,
            facts,
            approvals: Approvals::default(),
            limit,
        }
    }

    /// Sets how many calls run beside each other, questions to policy and to people included.
    /// Defaults to the registry's limit.
    pub fn concurrency(mut self, calls: NonZeroUsize) -> Self {
        self.limit = calls;
        self
    }

    /// Sets what happens to questions that policy or a tool leaves open. Defaults to
    /// [`Approvals::Inline`].
    pub fn approvals(mut self, approvals: Approvals) -> Self {
        self.approvals = approvals;
        self
    }

    /// Feeds the parts of the response. The calls run while the returned stream is polled;
    /// dropping it cancels them.
    pub fn run<S, E>(self, parts: S) -> TurnStream<S, E>
    where
        S: Stream<Item = Result<Part, E>>,
    {
        TurnStream::new(self.snapshot, self.facts, self.approvals, self.limit, parts)
    }
}
