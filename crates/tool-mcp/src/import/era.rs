//! The two eras of the protocol.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::board::Tally;
use super::party::Party;
use crate::serve::{CallingClient, LogLevel};

/// The revision without a handshake.
pub(crate) const STATELESS: &str = "2026-07-28";
/// The latest revision with one.
pub(crate) const HANDSHAKE: &str = "2025-11-25";
/// Every revision with a handshake.
pub(crate) const HANDSHAKES: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", HANDSHAKE];

const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";
const INFO_KEY: &str = "io.modelcontextprotocol/clientInfo";
const LOG_KEY: &str = "io.modelcontextprotocol/logLevel";

/// The era that one server speaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    /// Every request carries who asks.
    Stateless,
    /// A handshake settled the revision that is named here.
    Handshake(Arc<str>),
}

/// What is known of a server after the first exchange.
#[derive(Clone, Debug)]
pub(crate) struct Greeting {
    pub(crate) era: Era,
    pub(crate) capabilities: Map<String, Value>,
}

impl Era {
    /// The revision.
    pub(crate) fn version(&self) -> &str {
        match self {
            Self::Stateless => STATELESS,
            Self::Handshake(version) => version,
        }
    }

    /// Whether a server may tell that a page is done.
    ///
    /// Source: Model Context Protocol 2025-11-25, "Elicitation", completion notifications; the
    /// revision after it has no such message.
    pub(crate) fn tells_pages(&self) -> bool {
        matches!(self, Self::Handshake(version) if **version == *HANDSHAKE)
    }

    /// Adds to a request what its era wants in it, and the token for reports about it.
    pub(crate) async fn dress(
        &self,
        params: &mut Map<String, Value>,
        party: &Party,
        tally: &Tally,
        token: u64,
    ) {
        let mut meta = match params.remove("_meta") {
            Some(Value::Object(meta)) => meta,
            _ => Map::new(),
        };
        meta.insert("progressToken".to_owned(), token.into());
        if *self == Self::Stateless {
            stateless(&mut meta, party, tally).await;
        }
        params.insert("_meta".to_owned(), meta.into());
    }
}

async fn stateless(meta: &mut Map<String, Value>, party: &Party, tally: &Tally) {
    meta.insert(VERSION_KEY.to_owned(), STATELESS.into());
    meta.insert(
        CAPABILITIES_KEY.to_owned(),
        party.capabilities(&tally.server).await.into(),
    );
    meta.insert(INFO_KEY.to_owned(), party.info());
    // Asked for, as a client of the gateway may listen; more where the one that calls wants more.
    let called = CallingClient::current().and_then(|client| client.log_level());
    let wanted = [tally.wishes.least(), called].into_iter().flatten().min();
    let level = wanted.unwrap_or(LogLevel::Info);
    meta.insert(LOG_KEY.to_owned(), level.as_str().into());
}
