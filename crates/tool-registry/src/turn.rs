//! One model response, from its first part to the results of its calls.

mod assembly;
mod event;
mod history;
mod part;
mod stream;
mod whole;

pub use event::TurnEvent;
pub use history::{AssistantPart, History, ResultPart};
pub use part::{Part, TurnError};
pub use stream::TurnStream;
pub use whole::WholeResponse;

use std::convert::Infallible;
use std::num::NonZeroUsize;
use std::time::Duration;

use futures_core::Stream;
use tool_core::{Facts, Settlement};

use crate::siblings::Siblings;
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
    siblings: Siblings,
    resolved: Vec<Settlement>,
}

impl Turn {
    pub(crate) fn new(snapshot: Snapshot, facts: Facts) -> Self {
        Self {
            siblings: Siblings::new(snapshot, facts),
            resolved: Vec::new(),
        }
    }

    /// Sets how many calls run beside each other, questions to policy and to people included.
    /// Defaults to the registry's limit.
    pub fn concurrency(mut self, calls: NonZeroUsize) -> Self {
        self.siblings.limit = calls;
        self
    }

    /// Sets what happens to questions that policy or a tool leaves open. Defaults to
    /// [`Approvals::Inline`].
    pub fn approvals(mut self, approvals: Approvals) -> Self {
        self.siblings.approvals = approvals;
        self
    }

    /// Ends each call that long after it was first polled, questions to people included. No limit
    /// by default; the tools' own timeouts hold besides.
    /// Cleanups of a call that is late run as with [`Settling::timeout`](crate::Settling::timeout).
    ///
    /// A turn with a limit must be polled inside a tokio runtime with time enabled.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.siblings.timeout = Some(timeout);
        self
    }

    /// Says which settlements stop the turn: calls that have begun go on, and every other that the
    /// model made or makes is answered as
    /// [`NotDispatched`](tool_core::Outcome::NotDispatched) by the first call that did. By default
    /// only a person does who says so ([`Refusal::Stopped`](tool_core::Refusal::Stopped)), and then
    /// whatever is said here. A predicate that panics stops.
    pub fn stop_when(
        mut self,
        stops: impl Fn(&Settlement) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.siblings.stop_when(stops);
        self
    }

    /// Hands out these settlements ahead of the response: of calls that an earlier turn left
    /// waiting and that were resumed since, whose results the request already carries. None by
    /// default.
    pub fn resolved(mut self, settlements: impl IntoIterator<Item = Settlement>) -> Self {
        self.resolved.extend(settlements);
        self
    }

    /// Feeds the parts of the response. The calls run while the returned stream is polled;
    /// dropping it cancels them.
    ///
    /// Parts that end without [`Part::Finish`](crate::Part::Finish) count as a whole response, as
    /// some hosts have no reason to give. Whoever reads a connection gives an error where it broke.
    ///
    /// Calls have their turn whenever the parts make whoever polls wait, and after 32 parts at the
    /// latest: those that the stream has moved past run by then, though the response may be cut off
    /// later. One that is there as a whole is fed by [`run_whole`](Self::run_whole), which knows.
    pub fn run<S, E>(self, parts: S) -> TurnStream<S, E>
    where
        S: Stream<Item = Result<Part, E>>,
    {
        TurnStream::new(self, parts, false)
    }

    /// Feeds a response that is there as a whole: all parts are read before any call begins, however
    /// many they are. None begins where the response was cut off or its parts do not fit together;
    /// each is answered. Else it is as [`run`](Self::run).
    ///
    /// ```
    /// use futures_util::StreamExt as _;
    /// use tool_core::{Call, Facts};
    /// use tool_registry::{FinishReason, Part, Registry};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let calls = (0..100).map(|_| Part::Call(Call::new("delete", "{}")));
    /// let cut_off = calls.chain([Part::Finish(FinishReason::Length)]);
    ///
    /// let mut turn = Registry::default().snapshot().turn(&Facts::new()).run_whole(cut_off);
    /// while turn.next().await.is_some() {}
    /// let results = turn.history().results();
    /// assert!(results.iter().all(|result| result.outcome == "not_dispatched"));
    /// # }
    /// ```
    pub fn run_whole(
        self,
        parts: impl IntoIterator<Item = Part>,
    ) -> TurnStream<WholeResponse, Infallible> {
        TurnStream::new(self, WholeResponse::new(parts), true)
    }
}
