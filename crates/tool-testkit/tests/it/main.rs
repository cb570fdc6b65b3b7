//! What the suites find in stores that break their promises.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

/// A state where a test comes between.
mod between;
/// Artifact stores that break their promises.
mod broken_artifacts;
/// States that break their promises.
mod broken_state;
