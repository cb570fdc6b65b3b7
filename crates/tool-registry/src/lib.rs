#![doc = include_str!("../README.md")]

mod batch;
mod builder;
mod catalog;
mod changes;
mod door;
mod entry;
mod error;
mod nearest;
mod pipeline;
mod registrar;
mod registration;
mod registry;
mod services;
mod settling;
mod snapshot;
mod spelling;
mod strict_json;
mod validator;

pub use builder::RegistryBuilder;
pub use changes::Changes;
pub use door::Door;
pub use entry::Entry;
pub use error::{RefusedEntry, RegistrationError};
pub use registrar::Registrar;
pub use registration::{Notice, Registration};
pub use registry::Registry;
pub use settling::Settling;
pub use snapshot::Snapshot;
