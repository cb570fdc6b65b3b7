//! Stories across the crates, told through the facade, and the rules of the workspace itself.

#![expect(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

// The workspace: what it consists of and what its pages say.
mod acceptance;
mod architecture;
mod docs_sync;
mod manifests;
mod tidy;

// The examples, run.
mod stories;

// Parts of several crates, working together.
mod buckets;
mod dropped;
mod model_answers;
mod model_turns;
mod passing_on;
mod real_results;
mod redacted;
mod stopping;
mod upstream;
