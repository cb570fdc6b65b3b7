//! A registry, offered to clients.
//!
//! Spoken here by hand, on a few types of [`wire`](crate::wire): the protocol library would hold
//! every message in types of its own, which lose what they do not know and cost more than all the
//! rest of a call.

mod approval;
mod ask;
mod ask_error;
mod asks;
mod call;
mod calling_client;
mod capabilities;
mod changes;
mod client;
mod contained;
mod content;
mod definition;
mod held;
#[cfg(feature = "http")]
mod http;
mod log_level;
mod meta;
mod methods;
mod numbering;
mod offered;
mod outlet;
mod pages;
mod params;
mod request_state;
mod requests;
mod result;
mod retained;
mod rounds;
mod serve_error;
mod server;
mod serving;
mod shown_pages;
#[cfg(feature = "stdio")]
mod stdio;
mod stream;
mod turned_away;

pub use ask::{Ask, AskKind};
pub use ask_error::AskError;
pub use calling_client::CallingClient;
#[cfg(feature = "child")]
pub(crate) use changes::logger_of;
#[cfg(feature = "http")]
pub use http::{BearerToken, ClientToken, ClientTokens, HttpOptions, HttpServer, TokensError};
pub use log_level::LogLevel;
pub use serve_error::{ServeError, ServeErrorKind};
pub use server::Server;
#[cfg(feature = "child")]
pub(crate) use shown_pages::PAGE_ID_BYTES;
