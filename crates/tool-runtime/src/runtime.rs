//! The runtime: everything put together.

use std::fmt;
use std::sync::Arc;

use tool_core::{ArtifactStore, OutputStore, Permission, Tool};
use tool_registry::{Registration, RegistrationError, Registry, Snapshot};

use crate::{RuntimeBuilder, ServerStatus};

/// A registry with everything that its calls use: policy, store, built-in tools, MCP servers.
///
/// Dropping it ends every server that it started and runs no cleanup of any tool;
/// [`shutdown`](Self::shutdown) lets servers end themselves and runs what tools have registered.
#[must_use = "dropping it ends the servers that it started"]
pub struct Runtime {
    pub(crate) registry: Registry,
    pub(crate) permission: Permission,
    #[cfg(feature = "permission")]
    pub(crate) desk: Option<tool_permission::Desk>,
    pub(crate) outputs: Option<Arc<dyn OutputStore>>,
    pub(crate) artifacts: Option<Arc<dyn ArtifactStore>>,
    #[cfg(feature = "storage")]
    pub(crate) upkeep: crate::Upkeep,
    #[cfg(feature = "storage")]
    pub(crate) audit: Option<crate::audit_keeper::AuditKeeper>,
    #[cfg(feature = "provider")]
    pub(crate) tool_lists: crate::ToolLists,
    pub(crate) _builtins: Option<Registration>,
    #[cfg(feature = "mcp-child")]
    pub(crate) upstreams: Option<tool_mcp::Upstreams>,
    #[cfg(feature = "mcp-child")]
    pub(crate) _status: Option<Registration>,
}

impl Runtime {
    /// Starts a runtime.
    pub fn builder() -> RuntimeBuilder {
        RuntimeBuilder::new()
    }

    /// Registers tools of the host's own, all or none, for as long as the guard lives.
    ///
    /// # Errors
    /// [`RegistrationError`] with everything that is wrong with each tool.
    pub fn register<N: AsRef<str>, T: Into<Tool>>(
        &self,
        tools: impl IntoIterator<Item = (N, T)>,
    ) -> Result<Registration, RegistrationError> {
        self.registry.register(tools)
    }

    /// What is registered now, as one model request sees it.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        self.registry.snapshot()
    }

    /// The tools of a snapshot as a provider takes them, projected once for as long as the snapshots
    /// that it is asked for show the same. See [`ToolLists`](crate::ToolLists).
    #[cfg(feature = "provider")]
    #[must_use]
    pub fn tool_list(
        &self,
        snapshot: &Snapshot,
        profile: tool_provider::Profile,
    ) -> Arc<tool_provider::ToolList> {
        self.tool_lists.of(snapshot, profile)
    }

    /// The registry, for what this type does not show.
    #[must_use]
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Who decides, for tools to capture.
    #[must_use]
    pub fn permission(&self) -> &Permission {
        &self.permission
    }

    /// Where questions wait, if the runtime was built with a desk.
    #[cfg(feature = "permission")]
    #[must_use]
    pub fn desk(&self) -> Option<&tool_permission::Desk> {
        self.desk.as_ref()
    }

    /// Where long output is retained, if anywhere.
    #[must_use]
    pub fn outputs(&self) -> Option<&Arc<dyn OutputStore>> {
        self.outputs.as_ref()
    }

    /// Where artifacts are kept, if anywhere.
    #[must_use]
    pub fn artifacts(&self) -> Option<&Arc<dyn ArtifactStore>> {
        self.artifacts.as_ref()
    }

    /// The stores in the folder of this runtime, to be looked after while it runs.
    #[cfg(feature = "storage")]
    #[must_use]
    pub fn upkeep(&self) -> &crate::Upkeep {
        &self.upkeep
    }

    /// How each imported server is doing, by name.
    #[must_use]
    pub fn servers(&self) -> Vec<ServerStatus> {
        #[cfg(feature = "mcp-child")]
        if let Some(upstreams) = &self.upstreams {
            return upstreams
                .statuses()
                .into_iter()
                .map(ServerStatus::from)
                .collect();
        }
        Vec::new()
    }

    /// Waits until every server is ready or has failed.
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing.
    pub async fn servers_settled(&self) {
        #[cfg(feature = "mcp-child")]
        if let Some(upstreams) = &self.upstreams {
            upstreams.settled().await;
        }
    }

    /// An MCP server that offers everything in the registry, and what imported servers have beside
    /// tools.
    ///
    /// What a session of a client stores in the folder of this runtime stays for as long as the
    /// session lasts, whatever its age and the quota, and is removed when it ends. A session that
    /// the host itself names is the host's to end.
    #[cfg(feature = "mcp")]
    #[must_use]
    pub fn mcp_server(&self) -> tool_mcp::Server {
        let server = tool_mcp::Server::new(self.registry.clone())
            .implementation("tool", env!("CARGO_PKG_VERSION"));
        #[cfg(feature = "storage")]
        let server = {
            let upkeep = self.upkeep.clone();
            server
                .hold_sessions(move |facts| crate::live_session::LiveSession::begin(&upkeep, facts))
        };
        #[cfg(feature = "mcp-child")]
        let server = match &self.upstreams {
            Some(upstreams) => server.offerings(upstreams.offerings()),
            None => server,
        };
        server
    }

    /// Runs every cleanup that tools have registered, at most five seconds each, and then ends
    /// every server that it started, all at the same time and within five seconds. Call it when no
    /// call is running any more; who is told of calls is told of the cleanups.
    ///
    /// # Cancel safety
    /// Dropping the future drops the cleanups that have not run, and kills what has not ended yet.
    pub async fn shutdown(self) {
        // First, as a cleanup may still need a server.
        self.registry.shut_down().await;
        #[cfg(feature = "mcp-child")]
        if let Some(upstreams) = self.upstreams {
            upstreams.shutdown().await;
        }
        // Last, as all of these are put on record.
        #[cfg(feature = "storage")]
        if let Some(audit) = self.audit {
            audit.end().await;
        }
    }
}

impl fmt::Debug for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runtime")
            .field("servers", &self.servers())
            .finish_non_exhaustive()
    }
}
