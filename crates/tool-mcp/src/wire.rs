//! Messages: what both directions share below the methods.

mod aside;
pub(crate) mod base64;
#[cfg(feature = "child")]
pub(crate) mod clean;
mod envelope;
#[cfg(feature = "child")]
pub(crate) mod exact;
mod frames;
mod id;
#[cfg_attr(
    not(any(test, feature = "child", feature = "http")),
    expect(dead_code, reason = "only these send what is answered")
)]
mod lookout;
mod message;
#[cfg(any(feature = "http", feature = "http-client"))]
pub(crate) mod mirror;
mod one_line;
mod outbox;
mod overlong;
#[cfg(feature = "child")]
mod presentation;
pub(crate) mod revision;
mod rpc_error;

pub(crate) use aside::aside;
pub(crate) use envelope::Envelope;
pub(crate) use frames::{Frame, Frames};
pub(crate) use id::Id;
#[cfg(test)]
pub(crate) use lookout::tests as lookout_tests;
pub(crate) use lookout::{Lookout, look};
pub(crate) use message::{Incoming, Message, Misfit};
pub(crate) use one_line::OneLine;
pub(crate) use outbox::Outbox;
pub(crate) use overlong::{Overlong, Sort};
pub(crate) use rpc_error::RpcError;

/// The most bytes of one line unless said otherwise: 16 MiB.
pub(crate) const FRAME_BYTES: usize = 16 * 1024 * 1024;

/// The key of `_meta` under which the declarations of a tool travel.
///
/// Source: Model Context Protocol 2026-07-28, "Overview", `_meta`: a prefix in reverse domain
/// order, none of the protocol's own.
pub(crate) const DECLARATIONS: &str = "io.github.tool-runtime/declarations";
