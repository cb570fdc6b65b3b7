//! One call on its way to its settlement.

use std::borrow::Cow;
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tool_core::{
    Arguments, BoxFuture, Call, Facts, Progress, ProgressSink, Settlement, Suspension,
};

use crate::decision::Gating;
use crate::queue::{Queue, Reports};
use crate::siblings::Common;
use crate::{Approvals, Door, Resolution, SettlementStream, Snapshot, pipeline};

/// How many preliminary results a handler may be ahead of its consumer unless said otherwise.
const PRELIMINARIES: NonZeroUsize = NonZeroUsize::new(16).unwrap();

/// One call on its way to its settlement: await it, or take it as a stream. Nothing runs before.
///
/// ```
/// use std::time::Duration;
///
/// use tool_core::{Call, Facts};
/// use tool_registry::{Approvals, Registry};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let request = Registry::default().snapshot();
/// let settled = request
///     .settle(Call::new("grep", r#"{"pattern":"main"}"#).id("c1"), &Facts::new().session("s1"))
///     .approvals(Approvals::Suspend)
///     .timeout(Duration::from_secs(60))
///     .await;
/// assert_eq!(settled.text(), "there is no tool \"grep\"");
/// # }
/// ```
///
/// # Cancel safety
/// Dropping it, its future or its stream cancels the call wherever it is: the handler's future is
/// dropped at its await, a question that is open is withdrawn, nothing is published and nothing
/// that was retained or placed for it is kept. Cleanups that the handler registered are due with the next end
/// of a scope, see [`Registry::clean_up`](crate::Registry::clean_up).
#[must_use = "nothing runs until it is awaited"]
pub struct Settling {
    pub(crate) snapshot: Snapshot,
    pub(crate) call: Call,
    pub(crate) facts: Facts,
    pub(crate) door: Door,
    pub(crate) gating: Gating,
    pub(crate) progress: Option<Arc<dyn ProgressSink>>,
    pub(crate) early: Option<Arc<Queue>>,
    /// What it shares with the other calls of its batch or turn.
    pub(crate) common: Option<Arc<Common>>,
    pub(crate) timeout: Option<Duration>,
}

impl Settling {
    #[inline]
    pub(crate) fn new(snapshot: Snapshot, call: Call, facts: Facts) -> Self {
        Self {
            snapshot,
            call,
            facts,
            door: Door::default(),
            gating: Gating::default(),
            progress: None,
            early: None,
            common: None,
            timeout: None,
        }
    }

    /// A suspended call that goes on, or does not, as the resolution says.
    pub(crate) fn resumed(
        snapshot: Snapshot,
        suspension: Suspension,
        resolution: Resolution,
        facts: Facts,
    ) -> Self {
        let delivered = match &suspension.delivered {
            Value::String(text) => Arguments::Text(text.clone()),
            Value::Array(items) => Arguments::from(items.first().cloned().unwrap_or_default()),
            _ => Arguments::from(Value::Null),
        };
        let mut call = Call::new(&suspension.name, delivered);
        if let Some(id) = &suspension.call {
            call = call.id(id.clone());
        }
        let mut settling = Self::new(snapshot, call, facts).door(Door::Resumed);
        settling.gating = Gating::resumed(suspension, resolution);
        settling
    }

    /// Sets the way by which the call came. Defaults to [`Door::Code`].
    pub fn door(mut self, door: Door) -> Self {
        self.door = door;
        self
    }

    /// Sets what happens to questions that policy or the tool leaves open. Defaults to
    /// [`Approvals::Inline`].
    pub fn approvals(mut self, approvals: Approvals) -> Self {
        self.gating.approvals = approvals;
        self.gating.consent = approvals;
        self
    }

    /// Sets what happens where a service needs the consent of a person, for a host that can show a
    /// page and no question, or the other way round. Defaults to what [`approvals`](Self::approvals)
    /// says, which sets both.
    pub fn consent(mut self, consent: Approvals) -> Self {
        self.gating.consent = consent;
        self
    }

    /// Says whose decision it is that resumes the call, for whoever receives
    /// [`EventKind::Answered`](tool_core::EventKind::Answered). Nobody by default, and nothing for
    /// a call that was not suspended.
    pub fn decided_by(mut self, who: impl Into<Cow<'static, str>>) -> Self {
        self.gating.set_by(who.into());
        self
    }

    /// Sets who listens to the call's progress. Nobody by default.
    pub fn progress(mut self, sink: impl ProgressSink + 'static) -> Self {
        self.progress = Some(Arc::new(sink));
        self
    }

    /// Ends the call that long after it was first polled, questions to people included, whether or
    /// not its handler heeds it. No limit by default; the tool's own timeout holds besides.
    ///
    /// The settlement comes within ten seconds after that, in which cleanups of the call run: none
    /// begins after the first five, and each has five seconds. Those that did not begin run with the
    /// next end of a scope, see [`Registry::clean_up`](crate::Registry::clean_up).
    ///
    /// A call with a limit must be awaited inside a tokio runtime with time enabled.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Takes the call as a stream, its handler at most 16 preliminary results ahead.
    pub fn stream(self) -> SettlementStream {
        self.stream_ahead(PRELIMINARIES)
    }

    /// Takes the call as a stream, its handler at most so many preliminary results ahead.
    pub fn stream_ahead(mut self, preliminaries: NonZeroUsize) -> SettlementStream {
        let queue = Arc::new(Queue::new(preliminaries));
        self.early = Some(Arc::clone(&queue));
        let listener = self.progress.take();
        let reports = Reports(Arc::clone(&queue));
        self.progress = Some(match listener {
            None => Arc::new(reports),
            Some(listener) => Arc::new(move |progress: Progress| {
                reports.report(progress.clone());
                listener.report(progress);
            }),
        });
        let services = Arc::clone(self.snapshot.services());
        SettlementStream::new(services, queue, self.into_future())
    }

    pub(crate) fn beside(mut self, common: Arc<Common>) -> Self {
        self.common = Some(common);
        self
    }
}

impl IntoFuture for Settling {
    type Output = Settlement;
    type IntoFuture = BoxFuture<'static, Settlement>;

    fn into_future(self) -> Self::IntoFuture {
        // Written where it stays: it is large, and moving it costs as much as a stage.
        let settling = Box::write(Box::new_uninit(), pipeline::settle(self));
        Box::into_pin(settling)
    }
}

impl fmt::Debug for Settling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settling")
            .field("call", &self.call)
            .field("facts", &self.facts)
            .field("door", &self.door)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use tool_core::{Call, Facts};

    use crate::{Registry, pipeline};

    /// What the allocator of the C library hands out of a list that a thread keeps for itself.
    const AT_HAND: usize = 1032;

    #[test]
    fn a_call_needs_no_more_memory_than_an_allocator_has_at_hand() {
        let call = Call::new("grep", "{}").id("c1");
        let settling = Registry::default().snapshot().settle(call, &Facts::new());
        let bytes = std::mem::size_of_val(&pipeline::settle(settling));
        assert!(bytes <= AT_HAND, "{bytes} bytes");
    }
}
