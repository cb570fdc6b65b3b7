//! A server that is imported for one scenario.

use serde_json::Value;
use tool_core::{
    BoxFuture, Call, Decision, Facts, NobodyToAsk, Permission, Policy, PolicyError, Request,
    Ruling, Settlement,
};
use tool_mcp::{ServerConfig, ServersConfig, UpstreamState, Upstreams, UpstreamsBuilder};
use tool_registry::Registry;

use crate::scenario::Failure;
use crate::setting::SERVER;

/// A server that is imported, for as long as it is held.
pub(crate) struct Session {
    registry: Registry,
    pub(crate) upstreams: Upstreams,
}

struct Anything;

impl Policy for Anything {
    fn decide<'a>(
        &'a self,
        _request: &'a Request<'a>,
    ) -> BoxFuture<'a, Result<Ruling, PolicyError>> {
        Box::pin(async { Ok(Ruling::new(Decision::Allow, "it is a fixture")) })
    }
}

impl Session {
    /// Imports a server and waits until its tools are there.
    pub(crate) async fn open(
        server: ServerConfig,
        set: impl FnOnce(UpstreamsBuilder) -> UpstreamsBuilder,
    ) -> Result<Self, Failure> {
        let session = Self::begin(server, set);
        session.upstreams.settled().await;
        for status in session.upstreams.statuses() {
            match status.state {
                UpstreamState::Ready { .. } => {}
                UpstreamState::Failed { reason } | UpstreamState::Away { reason, .. } => {
                    return Err(format!("the server {reason}").into());
                }
                other => return Err(format!("the server is {}", other.as_str()).into()),
            }
        }
        Ok(session)
    }

    /// Imports a server and does not wait for anything.
    pub(crate) fn begin(
        server: ServerConfig,
        set: impl FnOnce(UpstreamsBuilder) -> UpstreamsBuilder,
    ) -> Self {
        let permission = Permission::new(Anything, NobodyToAsk);
        let registry = Registry::builder().permission(permission).build();
        let config = ServersConfig::default().with(server);
        let builder = Upstreams::builder(config)
            .client("tool-mcp-conformance", env!("CARGO_PKG_VERSION"))
            .keep_lists();
        let upstreams = set(builder).connect(&registry);
        Self {
            registry,
            upstreams,
        }
    }

    /// The names of the tools that can be called, as the server names them.
    pub(crate) fn tools(&self) -> Vec<String> {
        let snapshot = self.registry.snapshot();
        let names = snapshot
            .entries()
            .map(|entry| entry.identity().name().to_string());
        names.collect()
    }

    /// The entry of a tool, as the server listed it.
    pub(crate) fn listed(&self, tool: &str) -> Option<Value> {
        let listed = self.upstreams.listed(SERVER)?;
        let mut entries = listed.iter();
        let named = |entry: &&Value| entry.get("name").is_some_and(|name| name == tool);
        entries.find(named).cloned()
    }

    /// Calls a tool by the name that the server gave it. Anything but success fails.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Result<Settlement, Failure> {
        let snapshot = self.registry.snapshot();
        let mut entries = snapshot.entries();
        let entry = entries
            .find(|entry| entry.identity().name().as_str() == tool)
            .ok_or_else(|| format!("the tool {tool} is not there"))?;
        let wire = entry.wire_name().to_string();
        let call = Call::new(wire, arguments.to_string());
        Ok(snapshot.settle(call, &Facts::new()).await.into_result()?)
    }

    /// Leaves the server.
    pub(crate) async fn close(self) -> Result<(), Failure> {
        self.upstreams.shutdown().await;
        Ok(())
    }
}
