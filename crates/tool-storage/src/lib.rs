#![doc = include_str!("../README.md")]

mod artifact_draft;
mod artifact_files;
mod artifact_forgotten;
mod artifact_intake;
mod artifact_limits;
mod artifact_plan;
mod artifact_record;
mod artifact_room;
mod aside;
mod audit;
#[cfg(feature = "object-store")]
mod bucket;
mod builder;
mod checksum;
mod clock;
mod cut;
mod dir_artifacts;
mod dir_state;
mod dir_store;
mod faults;
mod folder;
mod footer;
mod gauge;
mod glimpse;
mod gone;
mod id;
mod incoming;
mod index;
mod joined;
mod json_cut;
mod limits;
mod listing;
mod managed;
mod marker;
mod memory_artifacts;
mod page;
mod pieces;
mod pin;
mod preview;
mod reading;
mod record;
mod shelf;
mod signal;
mod staged;
mod store_file;
mod summary;
mod sweep;
mod truncated;
mod turn;
mod verify;
mod watch;
mod writer;

pub use artifact_limits::ArtifactLimits;
pub use artifact_plan::{ArtifactRow, NoRoom, plan_artifacts};
pub use audit::{
    AuditCheck, AuditFailure, AuditFiles, AuditFinding, AuditIndex, AuditLog, AuditOptions,
    AuditSegment, AuditSegmentState,
};
#[cfg(feature = "object-store")]
pub use bucket::{
    Bucket, artifacts::BucketArtifacts, outputs::BucketOutputs, setup::BucketOutputsBuilder,
    state::BucketState, url::BucketUrlError, writer::BucketOutputWriter,
};
pub use builder::{DirStoreBuilder, Durability};
pub use dir_artifacts::{DirArtifacts, DirArtifactsBuilder};
pub use dir_state::DirState;
pub use dir_store::DirStore;
pub use limits::{Limits, LimitsError};
pub use managed::{ManagedArtifacts, ManagedOutputs};
pub use marker::{Marker, ReadingHint, ReadingHintError};
pub use memory_artifacts::MemoryArtifacts;
#[cfg(feature = "object-store")]
pub use object_store;
pub use pin::SessionPin;
pub use preview::preview;
pub use summary::{OutputSummary, OutputsPage};
pub use sweep::Swept;
pub use writer::OutputWriter;
