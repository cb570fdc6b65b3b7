//! One server from its start to its end.

use std::convert::Infallible;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::model::{ClientCapabilities, ClientConfig, Implementation};
use rmcp::service::{ClientInitializeError, RunningService};
use rmcp::{RoleClient, ServiceExt};
use serde_json::Value;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;
use tool_registry::{Registrar, Registration};

use super::advertised::Advertised;
use super::board::Board;
use super::connection::Connection;
use super::listing::{Listing, MOST_TOOLS};
use super::process::{Process, Streams};
use super::ring::Ring;
use super::transport::ClientTransport;
use super::{Limits, RefusedTool, ServerConfig, UpstreamState, UpstreamStatus, remote};

/// How long changes of a list are gathered before it is fetched again.
const DEBOUNCE: Duration = Duration::from_millis(100);
/// How long the other sign that a server has ended is waited for, to tell how it ended.
const LAST_SIGNS: Duration = Duration::from_millis(500);

/// What is known of one server; shared by its driver and whoever asks.
pub(crate) struct Upstream {
    name: String,
    state: Mutex<UpstreamState>,
    /// What it listed last, where that is kept.
    listed: Mutex<Option<Arc<[Value]>>>,
    board: Arc<Board>,
    stderr: Ring,
    /// Told of every change of state.
    changed: watch::Sender<u64>,
}

/// Starts a server, keeps its tools registered while it runs, and ends it.
pub(crate) struct Driver {
    pub(crate) upstream: Arc<Upstream>,
    pub(crate) server: ServerConfig,
    pub(crate) base: Arc<Path>,
    pub(crate) client: Implementation,
    pub(crate) limits: Limits,
    pub(crate) keep_lists: bool,
    pub(crate) registrar: Registrar,
    pub(crate) stop: CancellationToken,
}

/// A server that has listed its tools.
struct Live {
    process: Process,
    service: RunningService<RoleClient, ClientConfig>,
    connection: Arc<Connection>,
    listing: Listing,
    stderr: Draining,
}

/// Reads a server's stderr until it ends, or until this is dropped.
struct Draining(JoinHandle<()>);

impl Draining {
    /// Waits a little for what a server that has ended wrote last: that is what says why.
    async fn last_words(&mut self) {
        let _ = timeout(LAST_SIGNS, &mut self.0).await;
    }
}

impl Drop for Draining {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Upstream {
    pub(crate) fn new(
        name: String,
        state: UpstreamState,
        stderr_bytes: usize,
        changed: watch::Sender<u64>,
    ) -> Self {
        Self {
            name,
            state: Mutex::new(state),
            listed: Mutex::default(),
            board: Arc::default(),
            stderr: Ring::new(stderr_bytes),
            changed,
        }
    }

    pub(crate) fn status(&self) -> UpstreamStatus {
        UpstreamStatus {
            name: self.name.clone(),
            state: self.state(),
            skipped_lines: self.board.skipped_lines(),
            stderr: self.stderr.text(),
        }
    }

    pub(crate) fn state(&self) -> UpstreamState {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.clone()
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn listed(&self) -> Option<Arc<[Value]>> {
        let listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner);
        listed.clone()
    }

    fn set(&self, state: UpstreamState) {
        let server = self.name.as_str();
        match &state {
            UpstreamState::Failed { reason } => tracing::warn!(server, reason, "server failed"),
            state => tracing::debug!(server, state = state.as_str(), "server changed its state"),
        }
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = state;
        self.changed.send_modify(|version| *version += 1);
    }
}

impl Driver {
    pub(crate) async fn run(self) {
        let connected = tokio::select! {
            biased;
            () = self.stop.cancelled() => return self.upstream.set(UpstreamState::Stopped),
            connected = self.connect() => connected,
        };
        match connected {
            Ok(live) => self.attend(live).await,
            Err(reason) => self.upstream.set(UpstreamState::Failed { reason }),
        }
    }

    async fn connect(&self) -> Result<Live, String> {
        let (mut process, streams) =
            Process::start(&self.server, &self.base).map_err(|error| self.not_started(&error))?;
        let Streams {
            stdin,
            stdout,
            stderr,
        } = streams;
        let mut stderr = Draining(tokio::spawn(self.upstream.stderr.clone().drain(stderr)));
        let board = Arc::clone(&self.upstream.board);
        let transport =
            ClientTransport::new(stdout, stdin, self.limits.frame_bytes, Arc::clone(&board));

        let config = ClientConfig::new(ClientCapabilities::default(), self.client.clone());
        let ready = async {
            let service = config.serve(transport).await.map_err(handshake_failed)?;
            let connection = Connection::new(service.peer().clone(), board, self.limits.clone());
            let listing = Listing::fetch(&connection)
                .await
                .map_err(|error| format!("did not list its tools: {error}"))?;
            Ok::<_, String>((service, Arc::new(connection), listing))
        };
        let ready = tokio::select! {
            ready = timeout(self.limits.connect, ready) => ready,
            end = process.ended() => {
                stderr.last_words().await;
                return Err(format!("{end} before it was ready"));
            }
        };
        match ready {
            Ok(Ok((service, connection, listing))) => Ok(Live {
                process,
                service,
                connection,
                listing,
                stderr,
            }),
            // Where the process has ended as well, that says more.
            Ok(Err(reason)) => match timeout(LAST_SIGNS, process.ended()).await {
                Ok(end) => {
                    stderr.last_words().await;
                    Err(format!("{end} before it was ready"))
                }
                Err(_) => Err(reason),
            },
            Err(_) => Err(format!(
                "was not ready within {} s",
                self.limits.connect.as_secs_f64()
            )),
        }
    }

    async fn attend(&self, live: Live) {
        let Live {
            mut process,
            mut service,
            connection,
            listing,
            mut stderr,
        } = live;
        let mut registration = self.register(&connection, &listing).await;
        let end = tokio::select! {
            biased;
            () = self.stop.cancelled() => None,
            end = process.ended() => Some(end),
            () = connection.board().closed() => Some("closed its stdout".to_owned()),
            never = self.follow(&connection, listing, &mut registration) => match never {},
        };
        // First of all: nobody is offered the tools any more.
        drop(registration);

        let start = Instant::now();
        let patience = self.limits.shutdown;
        let end = match end {
            None => None,
            Some(end) => {
                // What it wrote before it ended is still read, and calls that it answers settle.
                let closed = timeout(LAST_SIGNS, connection.board().closed()).await;
                let ended = timeout(LAST_SIGNS, process.ended()).await;
                if ended.is_ok() {
                    stderr.last_words().await;
                }
                Some(if closed.is_ok() {
                    ended.unwrap_or(end)
                } else {
                    end
                })
            }
        };
        // The calls in flight end, and the server is told by the end of its stdin.
        let _ = service.close_with_timeout(patience / 5).await;
        process.end(patience.saturating_sub(start.elapsed())).await;
        self.upstream.set(match end {
            Some(reason) => UpstreamState::Failed { reason },
            None => UpstreamState::Stopped,
        });
    }

    /// Keeps what is registered like what the server lists.
    async fn follow(
        &self,
        connection: &Arc<Connection>,
        mut known: Listing,
        registration: &mut Registration,
    ) -> Infallible {
        loop {
            connection.board().list_changed().await;
            sleep(DEBOUNCE).await;
            // Whatever was told until now is in the list that is fetched now.
            tokio::select! {
                biased;
                () = connection.board().list_changed() => {}
                () = std::future::ready(()) => {}
            }
            match Listing::fetch(connection).await {
                Ok(listing) if listing == known => {}
                Ok(listing) => {
                    // The new ones are in place before the old ones go.
                    *registration = self.register(connection, &listing).await;
                    known = listing;
                }
                Err(error) => {
                    let server = self.upstream.name.as_str();
                    tracing::warn!(server, %error, "server said that its tools changed and did not list them");
                }
            }
        }
    }

    async fn register(&self, connection: &Arc<Connection>, listing: &Listing) -> Registration {
        let (mut tools, mut refused) = (Vec::new(), Vec::new());
        for entry in &listing.tools {
            match Advertised::read(entry.clone()) {
                Ok(advertised) => {
                    tools.push(remote::tool(connection, &self.server.name, advertised));
                }
                Err((name, reason)) => refused.push(RefusedTool {
                    name,
                    reason: reason.to_owned(),
                }),
            }
        }
        let registration = self.register_tools(tools).await;
        refused.extend(registration.refused().iter().map(|entry| {
            RefusedTool {
                name: entry.name().to_owned(),
                reason: entry
                    .problems()
                    .iter()
                    .map(ToString::to_string)
                    .collect::<Vec<_>>()
                    .join(", "),
            }
        }));
        if listing.cut {
            refused.push(RefusedTool {
                name: String::new(),
                reason: format!("everything after the first {MOST_TOOLS} tools"),
            });
        }
        if self.keep_lists {
            let listed = &self.upstream.listed;
            *listed.lock().unwrap_or_else(PoisonError::into_inner) =
                Some(listing.tools.as_slice().into());
        }
        self.upstream.set(UpstreamState::Ready {
            tools: registration.entries().len(),
            refused,
        });
        registration
    }

    async fn register_tools(&self, tools: Vec<(String, tool_core::Tool)>) -> Registration {
        // Compiling thousands of schemas takes longer than other tasks should wait.
        let registrar = self.registrar.clone();
        let registered =
            tokio::task::spawn_blocking(move || registrar.register_healthy(tools)).await;
        match registered {
            Ok(registration) => registration,
            Err(_) => self
                .registrar
                .register_healthy(Vec::<(String, tool_core::Tool)>::new()),
        }
    }

    fn not_started(&self, error: &io::Error) -> String {
        let command = &self.server.command;
        match &self.server.cwd {
            Some(cwd)
                if error.kind() == io::ErrorKind::NotFound && !self.base.join(cwd).is_dir() =>
            {
                format!(
                    "could not be started: there is no folder \"{}\"",
                    cwd.display()
                )
            }
            _ if error.kind() == io::ErrorKind::NotFound => {
                format!("could not be started: there is no command \"{command}\"")
            }
            _ => format!("could not be started with \"{command}\": {error}"),
        }
    }
}

/// The library's own texts print whole messages, which may hold anything.
fn handshake_failed(error: ClientInitializeError) -> String {
    match error {
        ClientInitializeError::JsonRpcError(error) => {
            format!(
                "answered the handshake with error {}: {}",
                error.code.0, error.message
            )
        }
        ClientInitializeError::ConnectionClosed(_) => {
            "closed its stdout during the handshake".to_owned()
        }
        ClientInitializeError::TransportError { .. } => {
            "closed its stdin during the handshake".to_owned()
        }
        _ => "answered the handshake with something else".to_owned(),
    }
}
