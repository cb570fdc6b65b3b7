//! Servers of others, imported as tools.

mod advertised;
mod answer;
mod board;
mod call_error;
mod config;
mod config_error;
mod connection;
mod content;
mod driver;
mod environment;
mod limits;
mod listing;
mod mailbox;
mod process;
mod remote;
mod ring;
mod status;
mod transport;
mod upstreams;

pub use config::{ServerConfig, ServersConfig};
pub use config_error::{ConfigError, EntryError};
pub use limits::Limits;
pub use status::{RefusedTool, UpstreamState, UpstreamStatus};
pub use upstreams::{Upstreams, UpstreamsBuilder};
