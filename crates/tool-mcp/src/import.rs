//! Servers of others, imported as tools.

mod advertised;
mod answer;
mod board;
mod call_error;
mod caller;
mod carrier;
mod catalogue;
mod config;
mod config_entry;
mod config_error;
mod connection;
mod content;
mod dial;
mod driver;
mod environment;
mod era;
mod event;
mod greeting;
#[cfg(feature = "http-client")]
mod http;
mod incoming;
mod inputs;
mod limits;
mod line;
mod listing;
mod mailbox;
#[cfg(feature = "oauth")]
mod oauth_entry;
mod offered;
mod party;
mod process;
mod remote;
mod retry;
mod ring;
mod server_config;
mod status;
mod trust;
mod upstream;
mod upstreams;

pub use config::ServersConfig;
pub use config_error::{ConfigError, EntryError};
pub use event::{UpstreamEvent, UpstreamEvents};
pub use inputs::{Inputs, WantedInput};
pub use limits::Limits;
pub use server_config::ServerConfig;
pub use status::{RefusedTool, UpstreamState, UpstreamStatus};
pub use upstreams::{Upstreams, UpstreamsBuilder};
