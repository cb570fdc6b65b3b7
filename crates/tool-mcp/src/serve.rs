//! A registry, offered to clients.

mod call;
mod content;
mod definition;
mod handler;
#[cfg(feature = "http")]
mod http;
mod numbering;
mod result;
mod serve_error;
mod server;
mod serving;
#[cfg(feature = "stdio")]
mod stdio;
mod transport;

#[cfg(feature = "http")]
pub use http::{HttpOptions, HttpServer};
pub use serve_error::{ServeError, ServeErrorKind};
pub use server::Server;
