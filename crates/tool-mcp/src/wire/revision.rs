//! Revisions of the protocol.

/// The revisions with a handshake, the oldest first.
pub(crate) const WITH_HANDSHAKE: [&str; 4] =
    ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// The newest revision with a handshake.
pub(crate) const NEWEST_WITH_HANDSHAKE: &str = "2025-11-25";

/// The revision without a handshake, of which every request tells what there is to know.
pub(crate) const STATELESS: &str = "2026-07-28";

/// Keys of `_meta` in requests and results of the revision without a handshake.
///
/// Source: Model Context Protocol 2026-07-28, "Overview", `_meta`.
pub(crate) mod meta {
    pub(crate) const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
    pub(crate) const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
    pub(crate) const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
    pub(crate) const SERVER: &str = "io.modelcontextprotocol/serverInfo";
    pub(crate) const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";
}

/// Every revision that is spoken, the oldest first.
pub(crate) fn all() -> impl Iterator<Item = &'static str> {
    WITH_HANDSHAKE.into_iter().chain([STATELESS])
}

/// The revision with a handshake of that name.
pub(crate) fn with_handshake(name: &str) -> Option<&'static str> {
    WITH_HANDSHAKE.into_iter().find(|known| *known == name)
}
