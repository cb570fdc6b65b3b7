//! From the command line and the settings to a runtime.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tool_runtime::core::{Approver, NobodyToAsk};
use tool_runtime::mcp::{ClientTokens, FirstSight, Pins, ServersConfig};
use tool_runtime::permission::{Approvals, Layer, Mailbox};
use tool_runtime::registry::FailingCalls;
use tool_runtime::storage::{AuditIndex, AuditLog, AuditOptions, Limits, ManagedOutputs};
use tool_runtime::{
    Place, Runtime, RuntimeBuilder, RuntimeError, Settings, approvals_in, audit_index_in,
    built_in_rules, client_tokens_in, pins_in,
};
use tracing_subscriber::EnvFilter;

use crate::args::Common;
use crate::error::CliError;
use crate::{render, settings_file};

/// The folder of the audit log, below that of retained output.
const AUDIT: &str = "audit";
/// After how many failures the same call is denied, unless the settings say otherwise. A model that
/// mends something between two attempts completes another call, which begins the count anew.
const SAME_FAILURES: u32 = 5;

/// Logs to standard error: warnings, and more where it is asked for. `TOOL_LOG` overrides it.
/// Whoever tells how each server is doing needs no warnings about them beside.
pub(crate) fn log(verbose: u8, tells_of_servers: bool) {
    let default = match verbose {
        // The protocol library warns of every call that is answered by an error.
        0 if tells_of_servers => "warn,rmcp=error,tool_mcp::import=error",
        0 => "warn,rmcp=error",
        1 => "warn,tool=info,tool_core=info,tool_mcp=info,tool_registry=info,tool_storage=info",
        _ => {
            "warn,tool=debug,tool_core=debug,tool_mcp=debug,tool_registry=debug,tool_storage=debug"
        }
    };
    let filter = EnvFilter::try_from_env("TOOL_LOG").unwrap_or_else(|_| EnvFilter::new(default));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .init();
}

/// The runtime of a command that calls nothing: built-in tools on the root, the store, the policy,
/// the servers.
pub(crate) async fn catalogue(common: &Common) -> Result<Runtime, CliError> {
    greet_strangers(common).await?;
    let builder = builder(common)?.approver(NobodyToAsk);
    Ok(builder.build().await?)
}

/// The runtime of a command that calls tools: the same, with every call on record.
pub(crate) async fn runtime(
    common: &Common,
    approver: impl Approver + 'static,
) -> Result<Runtime, CliError> {
    greet_strangers(common).await?;
    let builder = builder(common)?.audit(audit(common)?);
    Ok(builder.approver(approver).build().await?)
}

/// The same, with questions that wait so long for an answer from another process.
pub(crate) async fn runtime_with_desk(
    common: &Common,
    deadline: Duration,
) -> Result<Runtime, CliError> {
    greet_strangers(common).await?;
    let builder = builder(common)?.audit(audit(common)?);
    Ok(builder.desk(Some(deadline)).build().await?)
}

fn builder(common: &Common) -> Result<RuntimeBuilder, CliError> {
    let settings = settings(common)?;
    let root = root(common, settings.as_ref());
    let mut builder = Runtime::builder()
        .rules(built_in_rules().map_err(RuntimeError::from)?)
        .workspace(root)
        .state(state(common, settings.as_ref())?)
        .limits(limits(settings.as_ref())?);
    let failures = settings
        .as_ref()
        .and_then(|settings| settings.same_failures);
    if let Some(most) = NonZeroU32::new(failures.unwrap_or(SAME_FAILURES)) {
        builder = builder.failing_calls(FailingCalls::new(most));
    }
    let status = settings.as_ref().and_then(|settings| settings.status_tool);
    builder = builder.status_tool(status.unwrap_or(true));
    if let Some(settings) = settings {
        for layer in settings.layers {
            builder = builder.rules(layer);
        }
        if let Some(bound) = settings.bound {
            builder = builder.bound(bound);
        }
    }
    for policy in &common.policy {
        builder = builder.policy(policy);
    }
    if let Some(servers) = &common.mcp_config {
        builder = builder.servers(servers);
    }
    Ok(builder)
}

/// The audit log of the settings.
pub(crate) fn audit(common: &Common) -> Result<AuditLog, CliError> {
    let settings = settings(common)?;
    let folder = audit_folder(common, settings.as_ref())?;
    let options = settings.map_or(AuditOptions::DEFAULT, |settings| settings.audit_options);
    let log = AuditLog::open(&folder, options);
    log.map_err(|source| CliError::Audit { folder, source })
}

/// The folder of the audit log, and the index of those of every gateway with this state.
pub(crate) async fn audit_index(common: &Common) -> Result<(PathBuf, AuditIndex), CliError> {
    let settings = settings(common)?;
    let folder = audit_folder(common, settings.as_ref())?;
    let state = state(common, settings.as_ref())?;
    Ok((folder, audit_index_in(state).await?))
}

/// The folder that the settings name for the audit log, else one beside retained output, and where
/// that is in a bucket one in the user's state folder.
fn audit_folder(common: &Common, settings: Option<&Settings>) -> Result<PathBuf, CliError> {
    if let Some(folder) = settings.and_then(|settings| settings.audit.clone()) {
        return Ok(folder);
    }
    let place = state(common, settings)?;
    let beside = place.folder().map(Path::to_owned).or_else(user_state);
    Ok(beside.ok_or(CliError::NoState)?.join(AUDIT))
}

/// The layers of rules that are in force.
pub(crate) fn layers(common: &Common) -> Result<Vec<Layer>, CliError> {
    let mut layers = vec![built_in_rules().map_err(RuntimeError::from)?];
    layers.extend(
        settings(common)?
            .into_iter()
            .flat_map(|settings| settings.layers),
    );
    for policy in &common.policy {
        layers.push(Layer::load(policy).map_err(RuntimeError::from)?);
    }
    Ok(layers)
}

/// The saved approvals of the workspace, and the questions that gateways posted for it.
pub(crate) async fn approvals(common: &Common) -> Result<(Approvals, Mailbox), CliError> {
    let (root, state) = places(common)?;
    Ok(approvals_in(state, root).await?)
}

/// What was trusted of the servers of every gateway with this state.
pub(crate) async fn pins(common: &Common) -> Result<Pins, CliError> {
    let (_, state) = places(common)?;
    Ok(pins_in(state).await?)
}

/// The logins of every gateway with this state.
#[cfg(feature = "oauth")]
pub(crate) async fn logins(common: &Common) -> Result<tool_runtime::mcp::Logins, CliError> {
    let (_, state) = places(common)?;
    Ok(tool_runtime::logins_in(state).await?)
}

/// The folder in which the servers of a file run.
pub(crate) fn servers_folder(config: &Path) -> &Path {
    let folder = config.parent().filter(|base| !base.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// The tokens of clients of every gateway with this state.
pub(crate) async fn tokens(common: &Common) -> Result<ClientTokens, CliError> {
    let (_, state) = places(common)?;
    Ok(client_tokens_in(state).await?)
}

/// Says in full how each server is reached that was never reached before.
async fn greet_strangers(common: &Common) -> Result<(), CliError> {
    let Some(path) = &common.mcp_config else {
        return Ok(());
    };
    let pins = pins(common).await?;
    // What is wrong with the file is told by whoever starts its servers.
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let config = ServersConfig::from_json(&text).unwrap_or_default();
    let base = servers_folder(path);
    for server in config.servers() {
        if pins.trusted(server.name()).await?.is_none() {
            let (name, launch) = (server.name(), server.launch(base));
            let becomes = match server.first_sight() {
                Some(FirstSight::Hold) => "not started before it is approved",
                Some(FirstSight::Trust) | None => "trusted as it is",
            };
            render::note(&format!("server {name} is new, and {becomes}: {launch}"));
        }
    }
    Ok(())
}

/// The store of a command that needs nothing else.
pub(crate) async fn store(common: &Common) -> Result<Arc<dyn ManagedOutputs>, CliError> {
    let settings = settings(common)?;
    let place = state(common, settings.as_ref())?;
    Ok(place.outputs(limits(settings.as_ref())?).await?)
}

/// Where the built-in tools work and output is kept, for telling a person.
pub(crate) fn places(common: &Common) -> Result<(PathBuf, Place), CliError> {
    let settings = settings(common)?;
    Ok((
        root(common, settings.as_ref()),
        state(common, settings.as_ref())?,
    ))
}

fn settings(common: &Common) -> Result<Option<Settings>, CliError> {
    match settings_file::read(common)? {
        Some(path) => Ok(Some(Settings::load(path)?)),
        None => Ok(None),
    }
}

fn root(common: &Common, settings: Option<&Settings>) -> PathBuf {
    let said = common.root.clone().or_else(|| settings?.root.clone());
    said.unwrap_or_else(|| PathBuf::from("."))
}

fn state(common: &Common, settings: Option<&Settings>) -> Result<Place, CliError> {
    let said = common.state.as_ref().map(Place::from);
    said.or_else(|| settings?.state.clone())
        .or_else(|| user_state().map(Place::from))
        .ok_or(CliError::NoState)
}

/// The folder for state that the user's system names.
fn user_state() -> Option<PathBuf> {
    let absolute = |name: &str| {
        let path = PathBuf::from(std::env::var_os(name)?);
        path.is_absolute().then_some(path)
    };
    let base = absolute("XDG_STATE_HOME")
        .or_else(|| Some(absolute("HOME")?.join(".local").join("state")))?;
    Some(base.join("tool").join("outputs"))
}

pub(crate) fn limits(settings: Option<&Settings>) -> Result<Limits, CliError> {
    let default = Limits::DEFAULT;
    let Some(settings) = settings else {
        return Ok(default);
    };
    let limits = Limits::new(
        settings.output_bytes.unwrap_or(default.output_bytes()),
        settings.total_bytes.unwrap_or(default.total_bytes()),
        settings.time_to_live.unwrap_or(default.time_to_live()),
    );
    limits.map_err(|source| CliError::Limits { source })
}
