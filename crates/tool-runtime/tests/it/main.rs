//! The facade.
#![cfg_attr(
    feature = "provider",
    expect(
        clippy::expect_used,
        reason = "a test stops at what it does not expect"
    )
)]

#[cfg(feature = "provider")]
mod turn_parts; // what a response tells a turn
