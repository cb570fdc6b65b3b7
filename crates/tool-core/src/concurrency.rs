//! Which calls of a batch may run beside each other.

/// The concurrency class of a tool inside one batch.
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
