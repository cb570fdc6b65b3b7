//! One call on its way to its settlement.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tool_core::{BoxFuture, Call, Facts, ProgressSink, Settlement};

use crate::{Door, Snapshot, pipeline};

/// One call on its way to its settlement. Nothing runs until it is awaited.
#[must_use = "nothing runs until it is awaited"]
pub struct Settling {
    pub(crate) snapshot: Snapshot,
    pub(crate) call: Call,
    pub(crate) facts: Facts,
    pub(crate) door: Door,
    pub(crate) progress: Option<Arc<dyn ProgressSink>>,
    pub(crate) timeout: Option<Duration>,
}

impl Settling {
    pub(crate) fn new(snapshot: Snapshot, call: Call, facts: Facts) -> Self {
        Self {
            snapshot,
            call,
            facts,
            door: Door::default(),
            progress: None,
            timeout: None,
        }
    }

    /// Sets the way by which the call came. Defaults to [`Door::Code`].
    pub fn door(mut self, door: Door) -> Self {
        self.door = door;
        self
    }

    /// Sets who listens to the call's progress. Nobody by default.
    pub fn progress(mut self, sink: impl ProgressSink + 'static) -> Self {
        self.progress = Some(Arc::new(sink));
        self
    }

    /// Ends the call that long after it began, questions to people included, whether or not its
    /// handler heeds it. No limit by default; the tool's own timeout holds besides.
    ///
    /// A call with a limit must be awaited inside a tokio runtime with time enabled.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }
}

impl IntoFuture for Settling {
    type Output = Settlement;
    type IntoFuture = BoxFuture<'static, Settlement>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(pipeline::settle(self))
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
