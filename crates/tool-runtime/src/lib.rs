#![doc = include_str!("../README.md")]

#[cfg(feature = "storage")]
mod audit_keeper;
#[cfg(all(feature = "permission", feature = "mcp-child"))]
mod believed_hints;
mod builder;
#[cfg(feature = "permission")]
mod built_in_rules;
#[cfg(all(feature = "storage", feature = "mcp-http"))]
mod clients;
mod error;
mod gate;
#[cfg(all(feature = "storage", feature = "permission"))]
mod kept;
#[cfg(all(feature = "storage", feature = "mcp"))]
mod live_session;
#[cfg(all(feature = "storage", feature = "mcp-oauth"))]
mod logins;
#[cfg(feature = "storage")]
mod place;
mod runtime;
mod server_status;
#[cfg(feature = "permission")]
mod settings;
#[cfg(feature = "mcp-child")]
mod status_tool;
#[cfg(feature = "provider")]
mod tool_lists;
#[cfg(all(feature = "storage", feature = "mcp"))]
mod trusted;
#[cfg(feature = "provider")]
mod turn_parts;
#[cfg(feature = "storage")]
mod turns_aside;
#[cfg(feature = "storage")]
mod upkeep;

#[cfg(feature = "storage")]
pub use audit_keeper::audit_index_in;
pub use builder::RuntimeBuilder;
#[cfg(feature = "permission")]
pub use built_in_rules::built_in_rules;
#[cfg(all(feature = "storage", feature = "mcp-http"))]
pub use clients::client_tokens_in;
pub use error::RuntimeError;
#[cfg(all(feature = "storage", feature = "permission"))]
pub use kept::approvals_in;
#[cfg(all(feature = "storage", feature = "mcp-oauth"))]
pub use logins::logins_in;
#[cfg(feature = "storage")]
pub use place::Place;
pub use runtime::Runtime;
pub use schemars::JsonSchema;
pub use server_status::{ServerState, ServerStatus};
#[cfg(feature = "permission")]
pub use settings::Settings;
pub use tool_core::{Content, Context, HandlerError, Tool, ToolFailure};
#[cfg(feature = "provider")]
pub use tool_lists::ToolLists;
#[cfg(all(feature = "storage", feature = "mcp"))]
pub use trusted::pins_in;
#[cfg(feature = "provider")]
pub use turn_parts::{ResponseFailure, TurnParts};
#[cfg(feature = "storage")]
pub use upkeep::{Left, Upkeep};

#[cfg(feature = "builtin")]
pub use tool_builtin as builtin;
pub use tool_core as core;
#[cfg(feature = "mcp")]
pub use tool_mcp as mcp;
#[cfg(feature = "permission")]
pub use tool_permission as permission;
#[cfg(feature = "provider")]
pub use tool_provider as provider;
pub use tool_registry as registry;
#[cfg(feature = "storage")]
pub use tool_storage as storage;
