#![doc = include_str!("../README.md")]

#[cfg(feature = "child")]
mod import;
#[cfg(feature = "oauth")]
mod oauth;
mod offerings;
mod pin;
mod serve;
mod wire;

#[cfg(feature = "child")]
pub use import::{
    ConfigError, EntryError, Inputs, Limits, RefusedTool, ServerConfig, ServersConfig,
    UpstreamEvent, UpstreamEvents, UpstreamState, UpstreamStatus, Upstreams, UpstreamsBuilder,
    WantedInput,
};
#[cfg(feature = "oauth")]
pub use oauth::{
    Authorization, AuthorizationPage, Authorizer, LoggedIn, LoginError, Logins, LoopbackAuthorizer,
    OAuthClient,
};
pub use offerings::{
    Completion, Offer, OfferError, OfferErrorKind, OfferEvent, OfferEventSender, OfferEvents,
    OfferKind, Offerings,
};
pub use pin::{Change, Difference, FirstSight, Launch, PinError, Pins, Side};
pub use serve::{
    Ask, AskError, AskKind, CallingClient, LogLevel, ServeError, ServeErrorKind, Server,
};
#[cfg(feature = "http")]
pub use serve::{BearerToken, HttpOptions, HttpServer};
