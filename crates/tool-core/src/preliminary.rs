//! Results that come before the final one.

use thiserror::Error;

use crate::{BoxFuture, Output};

/// Receives the preliminary results of one call, in the order in which the handler gave them.
pub trait PreliminarySink: Send + Sync {
    /// Takes one, encoded. Waits while as many as were agreed on have not been consumed.
    ///
    /// # Errors
    /// [`PreliminaryError`] when the value does not fit, or when the call has settled: nobody waits
    /// for room for ever.
    ///
    /// # Cancel safety
    /// Dropping the future takes nothing.
    fn offer(&self, value: Output) -> BoxFuture<'_, Result<(), PreliminaryError>>;
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
    /// The value does not fit the tool's output schema, or is nested deeper than output may be.
    #[error("preliminary result does not fit the tool's output schema")]
    Mismatch,
}
