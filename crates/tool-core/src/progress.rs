//! What a running call says of itself.

use std::sync::Arc;

use serde_json::Value;

/// One report of a running call.
///
/// ```
/// use tool_core::Progress;
///
/// let report = Progress::new().message("indexing").of(3.0, 10.0);
/// assert_eq!(report.total, Some(10.0));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// How far the call is, in a unit of the tool's own.
    pub done: Option<f64>,
    /// How far the call will go, in the same unit, where known.
    pub total: Option<f64>,
    /// What the call does now, for people.
    pub message: Option<String>,
    /// Data for programs.
    pub data: Option<Value>,
}

impl Progress {
    /// A report that says nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how far the call is and how far it will go.
    #[must_use]
    pub fn of(mut self, done: f64, total: f64) -> Self {
        self.done = Some(done);
        self.total = Some(total);
        self
    }

    /// Sets how far the call is, where nobody knows how far it will go.
    #[must_use]
    pub fn done(mut self, done: f64) -> Self {
        self.done = Some(done);
        self
    }

    /// Sets what people read.
    #[must_use]
    pub fn message(mut self, message: impl Into<String>) -> Self {
        self.message = Some(message.into());
        self
    }

    /// Sets the data for programs.
    #[must_use]
    pub fn data(mut self, data: Value) -> Self {
        self.data = Some(data);
        self
    }
}

impl From<&str> for Progress {
    fn from(message: &str) -> Self {
        Self::new().message(message)
    }
}

impl From<String> for Progress {
    fn from(message: String) -> Self {
        Self::new().message(message)
    }
}

/// Receives the progress of one call, in the order in which the handler reported it.
///
/// Called on the handler's own thread of execution: it must return at once and must not block.
/// Nothing arrives after the call has settled.
pub trait ProgressSink: Send + Sync {
    /// Takes one report.
    fn report(&self, progress: Progress);
}

impl<F: Fn(Progress) + Send + Sync> ProgressSink for F {
    fn report(&self, progress: Progress) {
        self(progress);
    }
}

impl ProgressSink for Arc<dyn ProgressSink> {
    fn report(&self, progress: Progress) {
        (**self).report(progress);
    }
}
