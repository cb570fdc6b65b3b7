//! Why a request to a server got no result.

use std::time::Duration;

use rmcp::service::ServiceError;

/// Why a request to a server got no result. The text is for operators.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CallError {
    #[error("the connection to the server ended")]
    Gone,
    #[error("the request could not be sent")]
    NotSent(#[source] ServiceError),
    #[error("the server answered with error {code}: {message}")]
    Peer { code: i32, message: String },
    #[error("the answer is longer than {limit} bytes")]
    TooLong { limit: usize },
    #[error("the answer cannot be read")]
    Unreadable,
    #[error("the server sent neither an answer nor progress for {} s", .0.as_secs_f64())]
    Idle(Duration),
    #[error("the server did not answer within {} s", .0.as_secs_f64())]
    Total(Duration),
}

impl From<ServiceError> for CallError {
    fn from(error: ServiceError) -> Self {
        match error {
            ServiceError::McpError(error) => Self::Peer {
                code: error.code.0,
                message: error.message.into_owned(),
            },
            ServiceError::TransportClosed | ServiceError::Cancelled { .. } => Self::Gone,
            other => Self::NotSent(other),
        }
    }
}
