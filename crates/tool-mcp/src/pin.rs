//! What was trusted of a server, and what of it has changed since.

mod change;
mod difference;
mod first_sight;
mod launch;
mod names;
mod pin_error;
mod pinned;
mod pins;
mod record;
mod records;

pub use change::Change;
pub use difference::{Difference, Side};
pub use first_sight::FirstSight;
pub use launch::Launch;
pub use pin_error::PinError;
#[cfg(feature = "child")]
pub(crate) use pinned::pinned;
pub use pins::Pins;
