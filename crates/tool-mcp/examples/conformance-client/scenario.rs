//! What one scenario is.

use tool_core::BoxFuture;

use crate::setting::Setting;

/// Why a scenario came to nothing.
pub(crate) type Failure = Box<dyn std::error::Error + Send + Sync>;

/// How a scenario runs.
pub(crate) type Running = BoxFuture<'static, Result<(), Failure>>;

/// One thing that the suite wants to see a client do.
pub(crate) struct Scenario {
    /// As the suite names it.
    pub(crate) name: &'static str,
    pub(crate) run: fn(Setting) -> Running,
}

/// Fails unless something is what it should be.
pub(crate) fn same<T: PartialEq + std::fmt::Debug>(
    what: &str,
    found: &T,
    expected: &T,
) -> Result<(), Failure> {
    match found == expected {
        true => Ok(()),
        false => Err(format!("{what} is {found:?} and should be {expected:?}").into()),
    }
}
