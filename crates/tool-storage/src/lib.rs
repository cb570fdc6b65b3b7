#![doc = include_str!("../README.md")]

mod builder;
mod clock;
mod cut;
mod dir_store;
mod folder;
mod id;
mod index;
mod joined;
mod limits;
mod marker;
mod page;
mod pin;
mod preview;
mod reading;
mod record;
mod staged;
mod summary;
mod sweep;

pub use builder::{DirStoreBuilder, Durability};
pub use dir_store::DirStore;
pub use limits::{Limits, LimitsError};
pub use marker::{Marker, ReadingHint, ReadingHintError};
pub use pin::SessionPin;
pub use preview::preview;
pub use summary::OutputSummary;
pub use sweep::Swept;
