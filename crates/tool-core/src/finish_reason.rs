//! Why the response of a model ended.

use serde::{Deserialize, Serialize};

/// Why the response of a model ended, whoever the provider is.
///
/// ```
/// use tool_core::FinishReason;
///
/// assert!(FinishReason::ToolCalls.is_complete());
/// assert!(!FinishReason::Length.is_complete());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FinishReason {
    /// The model was done.
    Stop,
    /// The model waits for its calls.
    ToolCalls,
    /// The provider paused a long response, which goes on later.
    Pause,
    /// It became too long and was cut off.
    Length,
    /// A filter cut it off.
    ContentFilter,
    /// The provider failed.
    Error,
    /// Anything else, and anything that was not known when this was written.
    Other(String),
}

impl FinishReason {
    /// Whether the response is whole. The calls of one that is not must never start.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        matches!(self, Self::Stop | Self::ToolCalls | Self::Pause)
    }
}
