//! What a tool itself has left out of its output.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a tool itself has left out of its output, before anybody else saw it: bytes of a process
/// beyond what is captured, rows beyond what a service gives. Nobody keeps them.
///
/// A handler reports it with [`Context::report_loss`](crate::Context::report_loss); the model is
/// told in a block of the runtime's own.
///
/// ```
/// use tool_core::Loss;
///
/// assert_eq!(Loss::bytes(1).to_string(), "1 byte");
/// assert_eq!(Loss::of(40, "rows").to_string(), "40 rows");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loss {
    count: u64,
    unit: String,
}

impl Loss {
    /// So many bytes.
    #[must_use]
    pub fn bytes(count: u64) -> Self {
        Self::of(count, if count == 1 { "byte" } else { "bytes" })
    }

    /// So many of something. Of a unit, 40 characters count.
    pub fn of(count: u64, unit: impl Into<String>) -> Self {
        let unit: String = unit.into();
        let shown = unit.chars().filter(|c| !c.is_control()).take(40).collect();
        Self { count, unit: shown }
    }

    /// How many.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Of what.
    #[must_use]
    pub fn unit(&self) -> &str {
        &self.unit
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.count, self.unit)
    }
}
