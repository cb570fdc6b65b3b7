//! All servers of a configuration.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tool_core::Source;
use tool_registry::Registry;

use super::board::Tally;
use super::caller::Caller;
use super::catalogue::Catalogue;
use super::config::Entry;
use super::dressing::Dressing;
use super::driver::Driver;
use super::event::{EventFeed, UpstreamEvents};
use super::offered::Offered;
use super::party::Party;
use super::retry::{self, Jitter};
use super::trust::Trust;
use super::upstream::Upstream;
use super::{
    EntryError, Inputs, Limits, ReadOnlyTools, ServersConfig, UpstreamState, UpstreamStatus,
};
use crate::offerings::{OfferEventSender, Offerings};
use crate::pin::Pins;

/// The servers of a configuration, each on its own: one that fails, hangs or lists nonsense
/// neither delays nor breaks another.
///
/// Dropping it ends every server at once; [`shutdown`](Self::shutdown) lets them end themselves.
///
/// ```no_run
/// // Starts real processes.
/// # async fn start(registry: tool_registry::Registry) -> Result<(), tool_mcp::ConfigError> {
/// use tool_mcp::{ServersConfig, Upstreams};
///
/// let config = ServersConfig::from_json(
///     r#"{"mcpServers": {"git": {"command": "uvx", "args": ["mcp-server-git"]}}}"#,
/// )?;
/// let upstreams = Upstreams::builder(config).connect(&registry);
/// upstreams.settled().await;
/// for status in upstreams.statuses() {
///     eprintln!("{}: {}", status.name, status.state.as_str());
/// }
/// upstreams.shutdown().await;
/// # Ok(())
/// # }
/// ```
pub struct Upstreams {
    upstreams: Vec<Arc<Upstream>>,
    drivers: JoinSet<()>,
    stop: CancellationToken,
    changes: watch::Receiver<u64>,
    feed: EventFeed,
    offered: Arc<Offered>,
}

/// [`Upstreams`] in the making.
#[must_use]
pub struct UpstreamsBuilder {
    config: ServersConfig,
    limits: Limits,
    base: PathBuf,
    party: Party,
    jitter: Arc<Jitter>,
    keep_lists: bool,
    pins: Option<Pins>,
    #[cfg(feature = "oauth")]
    logins: Option<crate::oauth::Logins>,
    believed: ReadOnlyTools,
}

impl Upstreams {
    /// Starts with a configuration.
    pub fn builder(config: ServersConfig) -> UpstreamsBuilder {
        UpstreamsBuilder {
            config,
            limits: Limits::default(),
            base: PathBuf::from("."),
            party: Party {
                name: "tool-mcp".to_owned(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
                inputs: None,
            },
            jitter: Arc::new(retry::random),
            keep_lists: false,
            pins: None,
            #[cfg(feature = "oauth")]
            logins: None,
            believed: ReadOnlyTools::new(),
        }
    }

    /// How each server is doing, by name.
    #[must_use]
    pub fn statuses(&self) -> Vec<UpstreamStatus> {
        self.upstreams
            .iter()
            .map(|upstream| upstream.status())
            .collect()
    }

    /// A view of how each server is doing, for whoever outlives a borrow of this value. It keeps
    /// no server running.
    #[must_use]
    pub fn watch(&self) -> UpstreamsWatch {
        UpstreamsWatch(self.upstreams.clone())
    }

    /// What a server listed last, each entry as it came, the hopeless ones too; nothing where it
    /// has not listed its tools, there is no such server, or lists are not
    /// [kept](UpstreamsBuilder::keep_lists).
    #[must_use]
    pub fn listed(&self, server: &str) -> Option<Arc<[Value]>> {
        let mut upstreams = self.upstreams.iter();
        upstreams.find(|upstream| upstream.name == server)?.listed()
    }

    /// What happens to servers from now on.
    #[must_use]
    pub fn events(&self) -> UpstreamEvents {
        self.feed.subscribe()
    }

    /// What the servers have beside tools.
    #[must_use]
    pub fn offerings(&self) -> Arc<dyn Offerings> {
        Arc::clone(&self.offered) as Arc<dyn Offerings>
    }

    /// Waits until every server is ready, away, locked or has failed, which takes no longer than the limit on
    /// connecting.
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing.
    pub async fn settled(&self) {
        let mut changes = self.changes.clone();
        loop {
            changes.mark_unchanged();
            let connecting =
                |upstream: &Arc<Upstream>| upstream.state() == UpstreamState::Connecting;
            if !self.upstreams.iter().any(connecting) || changes.changed().await.is_err() {
                return;
            }
        }
    }

    /// Waits for the next change of any server's state.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing: the change is seen by the next wait.
    pub async fn changed(&mut self) {
        // Every server is kept by this value, so there is always somebody who may tell.
        let _ = self.changes.changed().await;
    }

    /// Ends all servers at the same time: their stdin is closed, and whatever has not ended
    /// within the limit on shutting down is killed with its whole process group.
    ///
    /// # Cancel safety
    /// Dropping the future kills what has not ended yet.
    pub async fn shutdown(mut self) {
        self.stop.cancel();
        while self.drivers.join_next().await.is_some() {}
    }
}

/// A view of how each server is doing.
#[derive(Clone)]
pub struct UpstreamsWatch(Vec<Arc<Upstream>>);

impl UpstreamsWatch {
    /// How each server is doing, by name.
    #[must_use]
    pub fn statuses(&self) -> Vec<UpstreamStatus> {
        self.0.iter().map(|upstream| upstream.status()).collect()
    }
}

impl fmt::Debug for UpstreamsWatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.statuses()).finish()
    }
}

impl fmt::Debug for Upstreams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.upstreams.iter().map(|upstream| upstream.status()))
            .finish()
    }
}

impl UpstreamsBuilder {
    /// Keeps what each server lists as it came, for [`Upstreams::listed`]. Without it, which is the
    /// default, only the tools that could be registered are in memory.
    pub fn keep_lists(mut self) -> Self {
        self.keep_lists = true;
        self
    }

    /// Holds what is not as it was trusted: a server that is reached in another way is not reached,
    /// and a tool that its server changed, or lists since, is not registered and not called, until
    /// a person approves it. Approvals are taken in within seconds. Without pins, which is the
    /// default, whatever a server lists is what its tools are.
    pub fn pins(mut self, pins: Pins) -> Self {
        self.pins = Some(pins);
        self
    }

    /// Sets where logins are kept of servers that want to know who calls and have no token in their
    /// configuration. One that nobody is logged in to waits until somebody is, in whatever process.
    /// Without logins, which is the default, such a server fails.
    #[cfg(feature = "oauth")]
    pub fn logins(mut self, logins: crate::oauth::Logins) -> Self {
        self.logins = Some(logins);
        self
    }

    /// Keeps there which tools only read, by the word of servers whose hints the operator believes.
    /// A policy may allow those that no rule is about; nothing else comes of it.
    pub fn believed(mut self, believed: ReadOnlyTools) -> Self {
        self.believed = believed;
        self
    }

    /// Sets the limits of every server.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the folder in which servers run and in which relative working directories are looked
    /// up. Defaults to the current one.
    pub fn base_dir(mut self, base: impl AsRef<Path>) -> Self {
        self.base = base.as_ref().to_owned();
        self
    }

    /// Sets the name and version by which servers know this client. Defaults to this crate's.
    pub fn client(mut self, name: impl Into<String>, version: impl Into<String>) -> Self {
        self.party.name = name.into();
        self.party.version = version.into();
        self
    }

    /// Sets who answers what servers ask for in the middle of a call. Without one they are told
    /// that there is nobody, and calls that need it all the same are refused by name.
    pub fn inputs(mut self, inputs: Arc<dyn Inputs>) -> Self {
        self.party.inputs = Some(inputs);
        self
    }

    /// Sets what spreads the waits before a server is connected again: it draws from 0 up to 1.
    /// Defaults to the system's randomness.
    pub fn jitter(mut self, jitter: impl Fn() -> f64 + Send + Sync + 'static) -> Self {
        self.jitter = Arc::new(jitter);
        self
    }

    /// Starts all servers and returns at once. Each registers its tools as soon as it has listed
    /// them, with the server as their source. Must be called inside a tokio runtime.
    pub fn connect(self, registry: &Registry) -> Upstreams {
        let (changed, changes) = watch::channel(0);
        let stop = CancellationToken::new();
        let base: Arc<Path> = self.base.into();
        let (feed, events) = (EventFeed::default(), OfferEventSender::default());
        let (mut upstreams, mut drivers) = (Vec::new(), JoinSet::new());
        for (name, entry) in self.config.into_entries() {
            let mut wrong = Vec::new();
            let (state, server) = match entry {
                Entry::Server(server) => (UpstreamState::Connecting, Some(*server)),
                Entry::Disabled => (UpstreamState::Disabled, None),
                Entry::Broken(problems) => {
                    wrong.extend(problems.iter().map(EntryError::reason));
                    let reason = wrong.join("; ");
                    tracing::warn!(server = name, reason, "server is not usable as configured");
                    (UpstreamState::Failed { reason }, None)
                }
            };
            let dressed = server.map(|server| {
                let overlay = Arc::new(server.overlay.clone());
                let limits = overlay.limits(&self.limits);
                let name = server.name.clone();
                let dressing = Dressing::new(name, Arc::clone(&overlay), limits.idle);
                (server, overlay, limits, dressing)
            });
            let gates = dressed.as_ref().map(|(.., dressing)| dressing.gates());
            let tally = Arc::new(Tally::new(name.clone(), events.clone()));
            let upstream = Arc::new(Upstream::new(
                name,
                state,
                tally,
                gates.unwrap_or_default(),
                self.limits.stderr_bytes,
                changed.clone(),
            ));
            upstream.is_broken(wrong);
            upstreams.push(Arc::clone(&upstream));
            if let Some((server, overlay, limits, dressing)) = dressed {
                let registrar = registry.registrar(Source::Server(server.name.clone()));
                let line = Arc::clone(&upstream.line);
                let trust = Trust::new(server.name.clone(), self.pins.clone(), overlay);
                let believed = self.believed.clone();
                let caller = Caller {
                    #[cfg(feature = "oauth")]
                    login: self
                        .logins
                        .as_ref()
                        .and_then(|logins| logins.of(&server).map(Arc::new)),
                };
                let driver = Driver {
                    catalogue: Catalogue::new(line, registrar, trust, dressing, believed),
                    upstream,
                    server,
                    base: Arc::clone(&base),
                    party: self.party.clone(),
                    caller,
                    limits,
                    keep_lists: self.keep_lists,
                    feed: feed.clone(),
                    jitter: Arc::clone(&self.jitter),
                    stop: stop.clone(),
                };
                drivers.spawn(driver.run());
            }
        }
        Upstreams {
            offered: Arc::new(Offered::new(upstreams.clone(), events)),
            upstreams,
            drivers,
            stop,
            changes,
            feed,
        }
    }
}

impl fmt::Debug for UpstreamsBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UpstreamsBuilder")
            .field("config", &self.config)
            .field("limits", &self.limits)
            .field("base", &self.base)
            .finish_non_exhaustive()
    }
}
