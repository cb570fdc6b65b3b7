//! Messages as lines: what both directions share below the protocol.

pub(crate) mod base64;
#[cfg(feature = "child")]
pub(crate) mod clean;
#[cfg(feature = "child")]
mod envelope;
#[cfg(feature = "child")]
pub(crate) mod exact;
mod frames;
mod outbox;
mod overlong;

#[cfg(feature = "child")]
pub(crate) use envelope::{Envelope, ErrorBody, Outgoing, Reply};
pub(crate) use frames::{Frame, Frames};
pub(crate) use outbox::Outbox;
pub(crate) use overlong::{Overlong, Sort};

/// The most bytes of one line unless said otherwise: 16 MiB.
pub(crate) const FRAME_BYTES: usize = 16 * 1024 * 1024;
