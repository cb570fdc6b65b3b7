//! Logging in to servers over HTTP, with OAuth 2.1 as the authorization part of the protocol has it.
//!
//! Discovery, the metadata of servers, PKCE, the issuer of an answer, registration and the requests
//! for tokens are those of `rmcp`'s `transport::auth`, which passes every scenario of the official
//! suite. Around it stands what it leaves to its host:
//!
//! - [`Web`](web::Web) carries each of its requests: encrypted or on this machine alone, to addresses
//!   that were looked at when they were connected to, without proxies and redirects, bounded in
//!   bytes and time.
//! - A login is refused that the library would go on with: metadata that promises no PKCE, and a
//!   server without metadata, of which it would guess the endpoints.
//! - What is kept is a [record](record::Record) of our own in the state: the library's has neither
//!   the secret of a registered client nor the server that it is for.
//! - It runs with logging [switched off](quiet::quiet), as it logs authorization codes and whatever
//!   else a server sends with a token; and its errors are told by type, as their text holds what
//!   the other side wrote.
//!
//! Rejected: the crate `oauth2` with a discovery of our own, and all of it by hand. Both would
//! repeat what the library does right, against a specification that still moves.

mod address;
mod authorizer;
mod callback;
mod challenge;
mod client;
mod discovery;
mod flow;
mod login;
mod login_error;
mod logins;
mod loopback;
mod quiet;
mod record;
mod renewal;
mod revocation;
mod rules;
mod shelf;
mod tokens;
mod web;

pub use authorizer::{Authorization, AuthorizationPage, Authorizer};
pub(crate) use challenge::Challenge;
pub use client::OAuthClient;
pub(crate) use client::Secret;
pub(crate) use login::{Held, Lack, Login, Next};
pub use login_error::LoginError;
pub use logins::{LoggedIn, LoggedOut, Logins};
pub use loopback::LoopbackAuthorizer;
pub use revocation::Revocation;
