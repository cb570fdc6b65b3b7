#![doc = include_str!("../README.md")]

#[cfg(feature = "child")]
mod import;
mod serve;
mod wire;

#[cfg(feature = "child")]
pub use import::{
    ConfigError, EntryError, Limits, RefusedTool, ServerConfig, ServersConfig, UpstreamState,
    UpstreamStatus, Upstreams, UpstreamsBuilder,
};
#[cfg(feature = "http")]
pub use serve::{BearerToken, HttpOptions, HttpServer};
pub use serve::{
    Ask, AskError, AskKind, CallingClient, Completion, LogLevel, OfferChanges, OfferError, Offered,
    Offers, ServeError, ServeErrorKind, Server,
};
