#![doc = include_str!("../README.md")]

mod batch;
mod builder;
mod catalog;
mod changes;
mod decision;
mod door;
mod entry;
mod error;
mod inner;
mod memory_state;
mod nearest;
mod pipeline;
mod queue;
mod registrar;
mod registration;
mod registry;
mod repeated;
mod seal;
mod services;
mod settlement_stream;
mod settling;
mod snapshot;
mod spelling;
mod strict_json;
mod teardowns;
mod toolkit;
mod turn;
mod validator;
mod view;

pub use batch::{Batch, BatchStream};
pub use builder::RegistryBuilder;
pub use changes::Changes;
pub use decision::{Approvals, Resolution};
pub use door::Door;
pub use entry::Entry;
pub use error::{RefusedEntry, RegistrationError};
pub use memory_state::MemoryState;
pub use registrar::Registrar;
pub use registration::{Notice, Registration};
pub use registry::Registry;
pub use repeated::RepeatedCalls;
pub use seal::SealKey;
pub use services::ColumnCheck;
pub use settlement_stream::{SettlementEvent, SettlementStream};
pub use settling::Settling;
pub use snapshot::Snapshot;
pub use teardowns::{TeardownEnd, TeardownReport};
pub use toolkit::{Handle, HandleError, Merge, Toolkit, ToolkitError};
pub use turn::{
    AssistantPart, FinishReason, History, Part, ResultPart, Turn, TurnError, TurnEvent, TurnStream,
};
pub use view::{RequestHook, View, ViewError};
