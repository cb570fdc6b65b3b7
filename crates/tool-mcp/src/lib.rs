#![doc = include_str!("../README.md")]

#[cfg(feature = "child")]
mod import;
mod offerings;
mod pin;
mod serve;
mod wire;

#[cfg(feature = "child")]
pub use import::{
    ConfigError, EntryError, Limits, RefusedTool, ServerConfig, ServersConfig, UpstreamState,
    UpstreamStatus, Upstreams, UpstreamsBuilder,
};
pub use offerings::{
    Completion, Offer, OfferError, OfferErrorKind, OfferEvent, OfferEventSender, OfferEvents,
    OfferKind, Offerings,
};
pub use pin::{Change, Difference, FirstSight, Launch, PinError, Pins, Side};
#[cfg(feature = "http")]
pub use serve::{BearerToken, HttpOptions, HttpServer};
pub use serve::{
    Ask, AskError, AskKind, CallingClient, Completion, LogLevel, OfferChanges, OfferError, Offered,
    Offers, ServeError, ServeErrorKind, Server,
};
