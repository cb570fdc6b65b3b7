//! Results that come before the final one.

use serde_json::Value;
use thiserror::Error;

use crate::BoxFuture;

/// Receives the preliminary results of one call.
pub trait PreliminarySink: Send + Sync {
    /// Takes one, encoded. Waits while as many as were agreed on have not been consumed.
    fn offer(&self, value: Value) -> BoxFuture<'_, Result<(), PreliminaryError>>;
}

/// A preliminary result that did not arrive.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PreliminaryError {
    /// The call has settled, and nothing comes after its final result.
    #[error("the call has settled already")]
    Settled,
    /// The value has no JSON form.
    #[error("preliminary result could not be encoded")]
    Encode(#[source] serde_json::Error),
    /// The value does not fit the tool's output schema.
    #[error("preliminary result does not fit the tool's output schema")]
    Mismatch,
}
