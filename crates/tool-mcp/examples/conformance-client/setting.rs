//! What the suite says of a scenario.

use serde_json::Value;
use tool_core::Namespace;
use tool_mcp::{ServerConfig, UpstreamsBuilder};

use crate::scenario::Failure;
use crate::session::Session;

/// The name of the server under test, for whoever imports it.
pub(crate) const SERVER: &str = "suite";

/// Where the server of a scenario is, and what there is to know about it.
pub(crate) struct Setting {
    pub(crate) url: String,
    /// What differs from scenario to scenario: calls to make, names and secrets of a client.
    pub(crate) context: Value,
}

impl Setting {
    /// Reads the command line and the environment.
    pub(crate) fn from_env() -> Result<Self, Failure> {
        let url = std::env::args().nth(1).ok_or("the address is missing")?;
        let context = match std::env::var("MCP_CONFORMANCE_CONTEXT") {
            Ok(text) => serde_json::from_str(&text)?,
            Err(_) => Value::Null,
        };
        Ok(Self { url, context })
    }

    /// How the server is reached, unless a scenario says more.
    pub(crate) fn server(&self) -> Result<ServerConfig, Failure> {
        Ok(ServerConfig::http(Namespace::new(SERVER)?, &self.url))
    }

    /// Imports the server.
    pub(crate) async fn connect(&self) -> Result<Session, Failure> {
        self.connect_with(|upstreams| upstreams).await
    }

    /// The same, with something set beside.
    pub(crate) async fn connect_with(
        &self,
        set: impl FnOnce(UpstreamsBuilder) -> UpstreamsBuilder,
    ) -> Result<Session, Failure> {
        Session::open(self.server()?, set).await
    }
}
