//! Results that come before the final one.

use std::any::Any;
use std::error::Error;

use thiserror::Error as ThisError;

use crate::{BoxFuture, Output};

/// Receives the preliminary results of one call, in the order in which the handler gave them.
pub trait PreliminarySink: Send + Sync {
    /// Encodes one by the codec of the tool that runs, as
    /// [`Executor::encode_preliminary`](crate::Executor::encode_preliminary) says. `None`, the
    /// default, where it is encoded by serde.
    fn encode(&self, output: &dyn Any) -> Option<Result<Output, PreliminaryError>> {
        let _ = output;
        None
    }

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
#[derive(Debug, ThisError)]
#[non_exhaustive]
pub enum PreliminaryError {
    /// The call has settled, and nothing comes after its final result.
    #[error("the call has settled already")]
    Settled,
    /// The value cannot be encoded.
    #[error("preliminary result could not be encoded")]
    Encode(#[source] Box<dyn Error + Send + Sync>),
    /// The value is not of the type that the tool's own codec encodes.
    #[error("preliminary result is not of the type that the tool's codec encodes")]
    Type,
    /// The value does not fit the tool's output schema, or is nested deeper than output may be.
    #[error("preliminary result does not fit the tool's output schema")]
    Mismatch,
}
