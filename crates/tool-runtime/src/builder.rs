//! A runtime in the making.

use std::fmt;
#[cfg(any(feature = "permission", feature = "builtin", feature = "mcp-child"))]
use std::path::PathBuf;
use std::sync::Arc;
#[cfg(feature = "permission")]
use std::time::Duration;

use tool_core::{Approver, ArtifactStore, Bound, NobodyToAsk, OutputStore, Permission};
use tool_registry::{Registry, RegistryBuilder};

#[cfg(feature = "storage")]
use crate::Upkeep;
use crate::{Runtime, RuntimeError};

/// A [`Runtime`] in the making. What is not said keeps its default.
#[must_use]
pub struct RuntimeBuilder {
    registry: RegistryBuilder,
    pub(crate) approver: Arc<dyn Approver>,
    pub(crate) permission: Option<Permission>,
    outputs: Option<Arc<dyn OutputStore>>,
    artifacts: Option<Arc<dyn ArtifactStore>>,
    #[cfg(feature = "builtin")]
    pub(crate) workspace: Option<PathBuf>,
    #[cfg(feature = "permission")]
    pub(crate) layers: Vec<tool_permission::Layer>,
    #[cfg(feature = "permission")]
    pub(crate) policies: Vec<PathBuf>,
    #[cfg(feature = "storage")]
    state: Option<crate::Place>,
    #[cfg(feature = "storage")]
    limits: tool_storage::Limits,
    #[cfg(feature = "storage")]
    audit: Option<tool_storage::AuditLog>,
    #[cfg(feature = "storage")]
    artifact_limits: tool_storage::ArtifactLimits,
    #[cfg(feature = "permission")]
    pub(crate) desk: Option<Option<Duration>>,
    #[cfg(feature = "permission")]
    pub(crate) failing: Option<tool_registry::FailingCalls>,
    #[cfg(feature = "mcp-child")]
    servers: Option<PathBuf>,
    #[cfg(feature = "mcp-child")]
    status_tool: bool,
    #[cfg(feature = "mcp-child")]
    pub(crate) believed: tool_mcp::ReadOnlyTools,
}

impl RuntimeBuilder {
    pub(crate) fn new() -> Self {
        Self {
            registry: Registry::builder(),
            approver: Arc::new(NobodyToAsk),
            permission: None,
            outputs: None,
            artifacts: None,
            #[cfg(feature = "builtin")]
            workspace: None,
            #[cfg(feature = "permission")]
            layers: Vec::new(),
            #[cfg(feature = "permission")]
            policies: Vec::new(),
            #[cfg(feature = "storage")]
            state: None,
            #[cfg(feature = "storage")]
            limits: tool_storage::Limits::DEFAULT,
            #[cfg(feature = "storage")]
            audit: None,
            #[cfg(feature = "storage")]
            artifact_limits: tool_storage::ArtifactLimits::DISK,
            #[cfg(feature = "permission")]
            desk: None,
            #[cfg(feature = "permission")]
            failing: None,
            #[cfg(feature = "mcp-child")]
            servers: None,
            #[cfg(feature = "mcp-child")]
            status_tool: false,
            #[cfg(feature = "mcp-child")]
            believed: tool_mcp::ReadOnlyTools::new(),
        }
    }

    /// Sets who decides and who is asked, in place of policy files and approver.
    pub fn permission(mut self, permission: Permission) -> Self {
        self.permission = Some(permission);
        self
    }

    /// Sets who is asked where policy says so. Nobody by default, which denies.
    pub fn approver(mut self, approver: impl Approver + 'static) -> Self {
        self.approver = Arc::new(approver);
        self
    }

    /// Lists questions at a [`Desk`](tool_permission::Desk), in place of an approver, where each
    /// waits that long for an answer; without a time for ever. [`Runtime::desk`] has it.
    ///
    /// Asking then needs a tokio runtime with its timer enabled.
    #[cfg(feature = "permission")]
    pub fn desk(mut self, deadline: Option<Duration>) -> Self {
        self.desk = Some(deadline);
        self
    }

    /// Adds a policy file. Several add up; none can undo a deny of another. Without one,
    /// everything is asked.
    #[cfg(feature = "permission")]
    pub fn policy(mut self, path: impl Into<PathBuf>) -> Self {
        self.policies.push(path.into());
        self
    }

    /// Adds rules from code.
    #[cfg(feature = "permission")]
    pub fn rules(mut self, layer: tool_permission::Layer) -> Self {
        self.layers.push(layer);
        self
    }

    /// Sets the [`Place`](crate::Place), a folder or a bucket, in which long output is retained, and
    /// inside of it artifacts and what is remembered: saved approvals, and which suspensions were
    /// decided. Processes may share it. Without one, output is shown whole, no artifacts are kept, and what is remembered is
    /// gone with the process.
    ///
    /// What is inside is the registry's state, also in place of one that
    /// [`registry`](Self::registry) was given.
    #[cfg(feature = "storage")]
    pub fn state(mut self, place: impl Into<crate::Place>) -> Self {
        self.state = Some(place.into());
        self
    }

    /// Sets how much is retained and how long. Defaults to
    /// [`Limits::DEFAULT`](tool_storage::Limits::DEFAULT).
    #[cfg(feature = "storage")]
    pub fn limits(mut self, limits: tool_storage::Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets how many artifacts are kept and how long. Defaults to
    /// [`ArtifactLimits::DISK`](tool_storage::ArtifactLimits::DISK).
    #[cfg(feature = "storage")]
    pub fn artifact_limits(mut self, limits: tool_storage::ArtifactLimits) -> Self {
        self.artifact_limits = limits;
        self
    }

    /// Puts every call on record in an audit log, and refuses calls that cannot be where the log
    /// says so. None by default.
    ///
    /// With a [`state`](Self::state), an [`AuditIndex`](tool_storage::AuditIndex) in it follows the
    /// files of the log, in the background of the tokio runtime that [`build`](Self::build) runs in,
    /// until [`Runtime::shutdown`], which needs a timer for it. No call waits for that.
    #[cfg(feature = "storage")]
    pub fn audit(mut self, log: tool_storage::AuditLog) -> Self {
        self.registry = self.registry.before(log.clone()).events(log.clone());
        self.audit = Some(log);
        self
    }

    /// Sets where artifacts are kept, in place of a folder.
    pub fn artifacts(mut self, artifacts: Arc<dyn ArtifactStore>) -> Self {
        self.artifacts = Some(artifacts);
        self
    }

    /// Sets where long output is retained, in place of a folder.
    pub fn outputs(mut self, outputs: Arc<dyn OutputStore>) -> Self {
        self.outputs = Some(outputs);
        self
    }

    /// Sets the bound on model-facing text. Defaults to [`Bound::DEFAULT`].
    pub fn bound(mut self, bound: Bound) -> Self {
        self.registry = self.registry.bound(bound);
        self
    }

    /// Registers the built-in tools, to work on this folder.
    #[cfg(feature = "builtin")]
    pub fn workspace(mut self, root: impl Into<PathBuf>) -> Self {
        self.workspace = Some(root.into());
        self
    }

    /// Starts the MCP servers of a file of the `mcpServers` format and registers their tools, each
    /// under the name that the file gives it. Folders in it are relative to the file's own.
    ///
    /// With a [`state`](Self::state), how each is reached and what each of its tools says is trusted
    /// as it is the first time; what changes later waits for approval, as
    /// [`Pins`](tool_mcp::Pins) say. With the feature `mcp-oauth`, one that asks who calls waits
    /// until somebody is logged in to it, as `Logins` in the state say.
    #[cfg(feature = "mcp-child")]
    pub fn servers(mut self, path: impl Into<PathBuf>) -> Self {
        self.servers = Some(path.into());
        self
    }

    /// Registers a tool by which a model is told how the servers of [`servers`](Self::servers) are
    /// doing: `server_status`. It only reads, and asks leave as `status` of `servers`, which
    /// [`built_in_rules`](crate::built_in_rules) give. Off by default; without servers there is
    /// none.
    #[cfg(feature = "mcp-child")]
    pub fn status_tool(mut self, offered: bool) -> Self {
        self.status_tool = offered;
        self
    }

    /// Denies calls that their caller has made over and over with the same arguments, and that
    /// failed each time. None are by default, and none where [`permission`](Self::permission)
    /// decides.
    #[cfg(feature = "permission")]
    pub fn failing_calls(mut self, failing: tool_registry::FailingCalls) -> Self {
        self.registry = self.registry.events(failing.clone());
        self.failing = Some(failing);
        self
    }

    /// Sets everything on the registry that has no setter here.
    pub fn registry(mut self, set: impl FnOnce(RegistryBuilder) -> RegistryBuilder) -> Self {
        self.registry = set(self.registry);
        self
    }

    /// Puts the runtime together. Servers are started and not waited for.
    ///
    /// # Errors
    /// [`RuntimeError`] when a file cannot be used, the store or the workspace cannot be opened.
    /// Nothing is started then.
    ///
    /// # Cancel safety
    /// Dropping the future leaves nothing running.
    #[cfg_attr(
        not(feature = "storage"),
        expect(
            clippy::unused_async,
            reason = "starting servers needs a runtime around it"
        )
    )]
    pub async fn build(self) -> Result<Runtime, RuntimeError> {
        #[cfg(feature = "storage")]
        let place = self.state.as_ref().map(crate::Place::open).transpose()?;
        #[cfg(feature = "storage")]
        let mut upkeep = self.take_stores(place.as_ref()).await?;
        #[cfg(feature = "storage")]
        let kept = match &place {
            None => None,
            Some(place) => Some(place.kept().await?),
        };
        let (permission, _desk) = self.take_permission(
            #[cfg(feature = "storage")]
            kept.as_ref(),
        )?;
        let (outputs, artifacts) = (self.outputs.clone(), self.artifacts.clone());
        #[cfg(feature = "storage")]
        let outputs = outputs.or_else(|| Some(upkeep.outputs.clone()?));
        #[cfg(feature = "storage")]
        let artifacts = artifacts.or_else(|| Some(upkeep.artifacts.clone()?));
        #[cfg(feature = "mcp-child")]
        let servers = self.take_servers()?;

        #[cfg(all(feature = "storage", feature = "mcp-child"))]
        let pins = kept.clone().map(tool_mcp::Pins::new);
        #[cfg(all(feature = "storage", feature = "mcp-oauth"))]
        let logins = kept.clone().map(crate::logins::logins);

        #[cfg(feature = "storage")]
        let audit = match (self.audit, &kept) {
            (Some(log), Some(kept)) => {
                upkeep.audit = Some(log.files());
                crate::audit_keeper::AuditKeeper::start(log, Arc::clone(kept))
            }
            _ => None,
        };
        let mut registry = self.registry.permission(permission.clone());
        if let Some(outputs) = &outputs {
            registry = registry.outputs(Arc::clone(outputs));
        }
        if let Some(artifacts) = &artifacts {
            registry = registry.artifacts(Arc::clone(artifacts));
        }
        #[cfg(feature = "storage")]
        if let Some(kept) = kept {
            registry = registry.state(kept);
        }
        let registry = registry.build();

        #[cfg(feature = "builtin")]
        let builtins = match self.workspace {
            None => None,
            Some(root) => {
                let workspace = tool_builtin::Workspace::open(root)?;
                let options = tool_builtin::Options::new();
                let tools =
                    tool_builtin::all(&workspace, permission.clone(), outputs.clone(), options);
                Some(registry.register(tools)?)
            }
        };
        #[cfg(not(feature = "builtin"))]
        let builtins = None;
        #[cfg(feature = "mcp-child")]
        let upstreams = servers.map(|(servers, base)| {
            let upstreams = tool_mcp::Upstreams::builder(servers)
                .base_dir(base)
                .believed(self.believed)
                .client("tool", env!("CARGO_PKG_VERSION"))
                .inputs(Arc::new(tool_mcp::CallerInputs::new(permission.clone())));
            #[cfg(feature = "storage")]
            let upstreams = match pins {
                Some(pins) => upstreams.pins(pins),
                None => upstreams,
            };
            #[cfg(all(feature = "storage", feature = "mcp-oauth"))]
            let upstreams = match logins {
                Some(logins) => upstreams.logins(logins),
                None => upstreams,
            };
            upstreams.connect(&registry)
        });
        #[cfg(feature = "mcp-child")]
        let status = match &upstreams {
            Some(upstreams) if self.status_tool => {
                let tool = crate::status_tool::status_tool(upstreams.watch(), permission.clone());
                Some(registry.register([(crate::status_tool::NAME, tool)])?)
            }
            _ => None,
        };

        Ok(Runtime {
            #[cfg(feature = "mcp-child")]
            upstreams,
            #[cfg(feature = "mcp-child")]
            _status: status,
            registry,
            permission,
            #[cfg(feature = "permission")]
            desk: _desk,
            outputs,
            artifacts,
            #[cfg(feature = "storage")]
            upkeep,
            #[cfg(feature = "storage")]
            audit,
            #[cfg(feature = "provider")]
            tool_lists: crate::ToolLists::default(),
            _builtins: builtins,
        })
    }

    /// Opens the stores that nobody has put others in place of.
    #[cfg(feature = "storage")]
    async fn take_stores(
        &self,
        place: Option<&crate::place::Opened>,
    ) -> Result<Upkeep, RuntimeError> {
        let mut stores = Upkeep::default();
        let Some(place) = place else {
            return Ok(stores);
        };
        // First, as its folder is the one that the others are in.
        if self.outputs.is_none() {
            stores.outputs = Some(place.outputs(self.limits).await?);
        }
        if self.artifacts.is_none() {
            stores.artifacts = Some(place.artifacts(self.artifact_limits).await?);
        }
        Ok(stores)
    }

    #[cfg(feature = "mcp-child")]
    fn take_servers(&self) -> Result<Option<(tool_mcp::ServersConfig, PathBuf)>, RuntimeError> {
        let Some(path) = &self.servers else {
            return Ok(None);
        };
        let text = std::fs::read_to_string(path).map_err(|source| RuntimeError::ReadServers {
            path: path.clone(),
            source,
        })?;
        let config =
            tool_mcp::ServersConfig::from_json(&text).map_err(|source| RuntimeError::Servers {
                path: path.clone(),
                source,
            })?;
        let base = path.parent().filter(|base| !base.as_os_str().is_empty());
        Ok(Some((
            config,
            base.unwrap_or_else(|| std::path::Path::new(".")).to_owned(),
        )))
    }
}

impl fmt::Debug for RuntimeBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RuntimeBuilder(..)")
    }
}
