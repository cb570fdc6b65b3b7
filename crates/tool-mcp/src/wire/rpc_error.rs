//! Errors of the protocol.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

/// An error of the protocol, as it stands on the wire. What a peer leaves out is nothing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct RpcError {
    pub(crate) code: i64,
    pub(crate) message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) data: Option<Value>,
}

impl RpcError {
    #[cfg(feature = "http")]
    pub(crate) const PARSE: i64 = -32700;
    pub(crate) const REQUEST: i64 = -32600;
    pub(crate) const METHOD: i64 = -32601;
    pub(crate) const PARAMS: i64 = -32602;
    pub(crate) const INTERNAL: i64 = -32603;
    /// A resource that does not exist, to clients of the era with a handshake.
    pub(crate) const NO_RESOURCE: i64 = -32002;
    #[cfg(feature = "http")]
    pub(crate) const HEADERS: i64 = -32020;
    pub(crate) const CAPABILITY: i64 = -32021;
    pub(crate) const VERSION: i64 = -32022;
    /// A person has to open pages first, to clients of 2025-11-25.
    #[cfg(feature = "child")]
    pub(crate) const PAGES: i64 = -32042;

    /// Codes that the protocol keeps to itself.
    ///
    /// Source: Model Context Protocol 2026-07-28, "Overview", error codes.
    #[cfg(feature = "child")]
    pub(crate) const RESERVED: std::ops::RangeInclusive<i64> = -32_099..=-32_020;

    /// More is asked than can be answered at the same time.
    #[cfg(feature = "child")]
    pub(crate) const BUSY: i64 = -32000;

    /// Reads the error of an answer. One that does not fit is an error all the same.
    pub(crate) fn read(text: &RawValue) -> Self {
        serde_json::from_str(text.get()).unwrap_or_default()
    }

    pub(crate) fn new(code: i64, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            data: None,
        }
    }

    pub(crate) fn request(message: impl Into<String>) -> Self {
        Self::new(Self::REQUEST, message)
    }

    pub(crate) fn params(message: impl Into<String>) -> Self {
        Self::new(Self::PARAMS, message)
    }

    pub(crate) fn method(method: &str) -> Self {
        Self::new(Self::METHOD, format!("there is no method {method}"))
    }

    pub(crate) fn data(mut self, data: Value) -> Self {
        self.data = Some(data);
        self
    }
}
