//! What was trusted of a server, and what of it has changed since.

mod change;
mod difference;
mod launch;
mod names;
mod pin_error;
mod pins;
mod record;

pub use change::Change;
pub use difference::{Difference, Side};
pub use launch::Launch;
pub use pin_error::PinError;
#[cfg(feature = "child")]
pub(crate) use pins::pinned;
pub use pins::{FirstSight, Pins};
