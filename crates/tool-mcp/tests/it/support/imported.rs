//! Importing the fixture.

use std::path::Path;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tool_core::{Call, Facts, Namespace, Progress, Settlement};
use tool_mcp::{
    Limits, Overlay, ServerConfig, ServersConfig, UpstreamState, UpstreamStatus, Upstreams,
    UpstreamsBuilder,
};
use tool_registry::Registry;

use super::fixture::{MODE, TRANSCRIPT};
use super::registry::permissive;

/// The fixture as a server named `srv`, with its tools registered.
pub(crate) struct Imported {
    pub(crate) registry: Registry,
    pub(crate) upstreams: Upstreams,
    folder: tempfile::TempDir,
}

/// How to start the fixture in a mode, under a name.
pub(crate) fn server(name: &str, mode: &str) -> ServerConfig {
    let program = std::env::current_exe().expect("this program has a path");
    ServerConfig::new(
        Namespace::new(name).expect("the name is legal"),
        program.to_str().expect("the path is text"),
    )
    .args([
        "is_a_server_when_it_is_told_to_be",
        "--exact",
        "--nocapture",
    ])
    .env(MODE, mode)
}

impl Imported {
    /// The fixture in a mode, once it is ready or has failed.
    pub(crate) async fn new(mode: &str) -> Self {
        Self::with(mode, Limits::default().retries(0)).await
    }

    /// The same with other limits.
    pub(crate) async fn with(mode: &str, limits: Limits) -> Self {
        let imported = Self::start(mode, limits, |builder| builder);
        imported.upstreams.settled().await;
        imported
    }

    /// The fixture in a mode with what an operator sets for it, once it is ready or has failed.
    pub(crate) async fn dressed(mode: &str, overlay: Value) -> Self {
        let imported = Self::start_dressed(mode, overlay, |builder| builder);
        imported.upstreams.settled().await;
        imported
    }

    /// The same before it is ready, with whatever else is set.
    pub(crate) fn start_dressed(
        mode: &str,
        overlay: Value,
        set: impl FnOnce(UpstreamsBuilder) -> UpstreamsBuilder,
    ) -> Self {
        let name = Namespace::new("srv").expect("the name is legal");
        let overlay = Overlay::read(&name, &overlay).expect("the overlay makes sense");
        let limits = Limits::default().retries(0);
        Self::start_as(mode, limits, |server| server.overlay(overlay), set)
    }

    /// The fixture before it is ready, with whatever else is set.
    pub(crate) fn start(
        mode: &str,
        limits: Limits,
        set: impl FnOnce(UpstreamsBuilder) -> UpstreamsBuilder,
    ) -> Self {
        Self::start_as(mode, limits, |server| server, set)
    }

    fn start_as(
        mode: &str,
        limits: Limits,
        configure: impl FnOnce(ServerConfig) -> ServerConfig,
        set: impl FnOnce(UpstreamsBuilder) -> UpstreamsBuilder,
    ) -> Self {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let transcript = folder.path().join("transcript");
        let server = server("srv", mode).env(TRANSCRIPT, transcript.to_str().expect("text"));
        let server = configure(server);
        let registry = permissive().build();
        let builder = Upstreams::builder(ServersConfig::default().with(server))
            .limits(limits)
            .base_dir(folder.path());
        let upstreams = set(builder).connect(&registry);
        Self {
            registry,
            upstreams,
            folder,
        }
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn status(&self) -> UpstreamStatus {
        self.upstreams.statuses().remove(0)
    }

    pub(crate) fn reason(&self) -> String {
        match self.status().state {
            UpstreamState::Failed { reason } => reason,
            other => panic!("the server is {}", other.as_str()),
        }
    }

    /// Everything that the server was sent so far.
    pub(crate) fn transcript(&self) -> Vec<Value> {
        std::fs::read_to_string(self.folder.path().join("transcript"))
            .unwrap_or_default()
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect()
    }

    /// The methods that the server was sent, in order.
    pub(crate) fn methods(&self) -> Vec<String> {
        let methods = self.transcript().into_iter();
        methods
            .filter_map(|message| Some(message["method"].as_str()?.to_owned()))
            .collect()
    }

    /// Whether the server was sent a call of a tool.
    pub(crate) fn was_called(&self, tool: &str) -> bool {
        self.transcript()
            .iter()
            .any(|message| message["params"]["name"] == tool)
    }

    /// What the server was told of cancelled requests.
    pub(crate) fn cancellations(&self) -> Vec<Value> {
        self.transcript()
            .into_iter()
            .filter(|message| message["method"] == "notifications/cancelled")
            .map(|message| message["params"].clone())
            .collect()
    }

    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Settlement {
        let call = Call::new(format!("srv__{tool}"), arguments);
        self.registry.snapshot().settle(call, &Facts::new()).await
    }

    /// A call with everything that it reported.
    pub(crate) async fn call_reporting(
        &self,
        tool: &str,
        arguments: Value,
    ) -> (Settlement, Vec<Progress>) {
        let reports = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&reports);
        let call = Call::new(format!("srv__{tool}"), arguments);
        let settlement = self
            .registry
            .snapshot()
            .settle(call, &Facts::new())
            .progress(move |report| sink.lock().expect("no panic").push(report))
            .await;
        let reports = std::mem::take(&mut *reports.lock().expect("no panic"));
        (settlement, reports)
    }
}
