//! The facade.

#[cfg(feature = "provider")]
mod turn_parts; // what a response tells a turn
