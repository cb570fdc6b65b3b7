//! Why a client gave no answer.

use thiserror::Error;
use tool_core::ToolFailure;

use super::AskKind;

/// Why a client gave no answer.
///
/// A handler that lets the model read it makes a failure of it:
/// `client.ask(..).await.map_err(ToolFailure::from)?`.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum AskError {
    /// The client did not say that it can do this.
    #[error("client cannot {}", .0.as_str())]
    Unsupported(AskKind),
    /// The client answered with an error, or with something that is no answer.
    #[error("client refused to {}", .0.as_str())]
    Refused(AskKind),
    /// The client is gone.
    #[error("client is gone")]
    Gone,
}

impl From<AskError> for ToolFailure {
    fn from(error: AskError) -> Self {
        Self::new(error.to_string())
    }
}
