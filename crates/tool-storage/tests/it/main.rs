//! What the store promises, through its public interface.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test fails by panicking and says what it skips"
)]

/// What is in the directory of an artifact store.
mod artifact_files;
/// What leaves for an artifact, as a function.
mod artifact_plans;
/// What every artifact store promises, and what one in a directory does beside.
mod artifacts;
/// One line for each call.
mod audit;
/// Which files audit logs have, and whether they are as they were.
mod audit_index;
/// State in a bucket.
#[cfg(feature = "object-store")]
mod bucket_state;
/// Buckets: what they do beside what every store promises.
#[cfg(feature = "object-store")]
mod buckets;
/// Processes that are killed, futures that are dropped.
mod crash;
/// Files that are not what they were.
mod damage;
/// What the tests share.
mod fixture;
/// Outputs that nobody will ask for.
mod forgetting;
/// Stored outputs of every format there was.
mod format;
/// Disks that are full or cannot be written.
mod full_disk;
/// What is told of outputs that are no longer kept.
mod gone;
/// JSON that is shown in part.
mod json_preview;
/// Quota, age, pins and sweeps.
mod limits;
/// Which outputs there are, page by page.
mod listing;
/// What every output store promises.
mod outputs;
/// Outputs, read by lines, by pointers, and searched.
mod parts;
/// The preview, case by case.
mod preview;
/// Modes, links and names.
mod privacy;
/// The preview and the pages as properties.
mod prop_laws;
/// Pages, and who may read them.
mod reading;
/// What is stored of which content.
mod retention;
mod state; // small facts in a directory
/// Locks that another process holds.
mod turns;
/// Output that is written while it is made.
mod writing;
