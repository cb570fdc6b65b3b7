#![doc = include_str!("../README.md")]

mod budget;
mod describe;
mod dialect;
mod envelope;
mod fits;
mod groups;
mod incoming;
mod inverse;
#[cfg(feature = "lint")]
mod lint;
mod loss;
mod node;
mod pass;
mod profile;
mod project;
mod quarantine;
mod restored;
mod results;
mod rules;
mod streamed;
mod survey;
mod table;
mod tool_list;
mod unique_ids;

pub use incoming::{Api, IncomingCall, ReadError, Response};
pub use inverse::Inverse;
#[cfg(feature = "lint")]
pub use lint::{Finding, Handling, Level, LintRule, RULES_READ, lint_rules, lint_tools};
pub use loss::{Effect, Loss};
pub use profile::{Profile, UnknownProfile};
pub use project::Projection;
pub use quarantine::Quarantine;
pub use streamed::{ResponseStream, StreamPart};
pub use tool_core::FinishReason;
pub use tool_list::ToolList;
