//! The facade.
#![cfg_attr(
    any(feature = "provider", feature = "storage"),
    expect(
        clippy::expect_used,
        reason = "a test stops at what it does not expect"
    )
)]

#[cfg(all(feature = "storage", feature = "permission"))]
mod kept; // what is remembered, while others write
#[cfg(feature = "provider")]
mod turn_parts; // what a response tells a turn
#[cfg(feature = "storage")]
mod upkeep; // what a host does for its stores while it runs
