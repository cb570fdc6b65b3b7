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
    CallerInputs, ConfigError, EntryError, InputAnswer, Inputs, Limits, Overlay, ReadOnlyTools,
    RefusedTool, ServerConfig, ServersConfig, UnknownKey, UpstreamEvent, UpstreamEvents,
    UpstreamState, UpstreamStatus, Upstreams, UpstreamsBuilder, UpstreamsWatch, WantedInput,
};
#[cfg(feature = "oauth")]
pub use oauth::{
    Authorization, AuthorizationPage, Authorizer, LoggedIn, LoggedOut, LoginError, Logins,
    LoopbackAuthorizer, OAuthClient, Revocation,
};
pub use offerings::{
    Completion, Offer, OfferError, OfferErrorKind, OfferEvent, OfferEventSender, OfferEvents,
    OfferKind, Offerings, Watching,
};
pub use pin::{Change, Difference, FirstSight, Launch, PinError, Pins, Side};
pub use serve::{
    Ask, AskError, AskKind, CallingClient, LogLevel, ServeError, ServeErrorKind, Server,
};
#[cfg(feature = "http")]
pub use serve::{BearerToken, ClientToken, ClientTokens, HttpOptions, HttpServer, TokensError};
