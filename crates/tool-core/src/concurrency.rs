//! Which calls of a batch may run beside each other.

use serde_json::Value;

/// The concurrency class of a tool inside one batch or one turn.
///
/// Calls of different batches, and the inner calls of a handler, never wait for each other: an
/// inner call that waited for the end of its own outer call would wait for ever.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Concurrency {
    /// Runs beside any other call. The default.
    #[default]
    Parallel,
    /// Runs while no other call of the batch runs.
    Exclusive,
    /// Runs while no other call of the same tool runs that has an equal value at this JSON pointer
    /// of its arguments. Calls without a value there count as equal.
    ByKey(String),
}

impl Concurrency {
    /// The key of a call of this class: calls with equal keys never run beside each other.
    #[must_use]
    pub fn key<'a>(&self, arguments: &'a Value) -> Option<&'a Value> {
        match self {
            Self::ByKey(pointer) => arguments.pointer(pointer),
            Self::Parallel | Self::Exclusive => None,
        }
    }
}
