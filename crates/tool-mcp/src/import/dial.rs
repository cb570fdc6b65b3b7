//! From a configured server to a connection with its list of tools.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout, timeout_at};

use super::board::Board;
use super::call_error::CallError;
use super::carrier::{Answering, Carrier, Lines};
use super::connection::Connection;
use super::driver::{Driver, LAST_SIGNS};
use super::era::{Era, HANDSHAKE};
use super::greeting::greet;
use super::listing::Listing;
use super::process::{Process, Streams};

/// The longest silence after the probe before the handshake is offered as well.
const PROBE: Duration = Duration::from_secs(5);

/// A server that has listed its tools.
pub(crate) struct Live {
    pub(crate) body: Body,
    pub(crate) connection: Arc<Connection>,
    pub(crate) listing: Listing,
}

/// What keeps a server there.
pub(crate) enum Body {
    Process(Box<Process>, Draining),
    #[cfg(feature = "http-client")]
    Elsewhere,
}

/// Why there is no connection.
pub(crate) struct Failure {
    /// A clause that follows on the server's name.
    pub(crate) reason: String,
    /// Whether another attempt can only come to the same.
    pub(crate) lasting: bool,
    /// Whether another attempt can only come to the same until somebody logs in.
    pub(crate) locked: bool,
}

/// Why a server that was reached is not ready.
struct Unready {
    reason: String,
    /// Whether it was not even greeted.
    greeting: bool,
    locked: bool,
}

/// Reads a server's stderr until it ends, or until this is dropped.
pub(crate) struct Draining(JoinHandle<()>);

/// How one attempt ended.
enum Attempt {
    /// The server ended at the probe, as far as can be told.
    Probed(Failure),
    Failed(Failure),
}

impl Driver {
    /// Connects within the limit on connecting. A server that ends at the probe is started once
    /// more, within the same limit, and greeted with the handshake that it expects.
    pub(crate) async fn dial(&self) -> Result<Live, Failure> {
        let deadline = Instant::now() + self.limits.connect;
        match self.attempt(deadline).await {
            Ok(live) => Ok(live),
            Err(Attempt::Failed(failure)) => Err(failure),
            Err(Attempt::Probed(_)) => {
                let handshake = Era::Handshake(HANDSHAKE.into());
                self.upstream.remember(Some(handshake));
                self.attempt(deadline).await.map_err(|attempt| {
                    // It was not the probe, then.
                    self.upstream.remember(None);
                    match attempt {
                        Attempt::Probed(failure) | Attempt::Failed(failure) => failure,
                    }
                })
            }
        }
    }

    async fn attempt(&self, deadline: Instant) -> Result<Live, Attempt> {
        let board = Arc::new(Board::new(
            Arc::clone(&self.upstream.tally),
            self.limits.frame_bytes,
        ));
        let answering = Answering::new(self.party.clone(), &self.upstream.name);
        #[cfg(feature = "http-client")]
        if let Some(target) = &self.server.http {
            let (told, caller) = (Arc::clone(&board), self.caller.clone());
            let http = super::http::Http::new(target, told, answering, caller, &self.limits)
                .map_err(|reason| {
                    Attempt::Failed(Failure {
                        reason,
                        lasting: true,
                        locked: false,
                    })
                })?;
            return self
                .ready(Body::Elsewhere, Carrier::Http(http), board, deadline)
                .await;
        }
        let (process, streams) = Process::start(&self.server, &self.base).map_err(|error| {
            Attempt::Failed(Failure {
                reason: self.not_started(&error),
                lasting: matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied
                ),
                locked: false,
            })
        })?;
        let Streams {
            stdin,
            stdout,
            stderr,
        } = streams;
        let stderr = Draining(tokio::spawn(self.upstream.stderr.clone().drain(stderr)));
        let lines = Lines::start(stdout, stdin, Arc::clone(&board), answering);
        let body = Body::Process(Box::new(process), stderr);
        self.ready(body, Carrier::Lines(lines), board, deadline)
            .await
    }

    async fn ready(
        &self,
        mut body: Body,
        carrier: Carrier,
        board: Arc<Board>,
        deadline: Instant,
    ) -> Result<Live, Attempt> {
        let remembered = self.upstream.era();
        let connection = Connection::new(carrier, board, self.limits.clone(), self.party.clone());
        let ready = async {
            let patience = PROBE.min(self.limits.connect / 3);
            let greeting = greet(&connection, remembered.as_ref(), patience)
                .await
                .map_err(|error| Unready::of(&error, not_greeted(&error), true))?;
            self.upstream.greeted(greeting);
            Listing::fetch(&connection, "tools/list", "tools")
                .await
                .map_err(|error| {
                    let reason = format!("did not list its tools: {error}");
                    Unready::of(&error, reason, false)
                })
        };
        let ready = tokio::select! {
            ready = timeout_at(deadline, ready) => ready,
            end = body.ended() => {
                body.last_words().await;
                let failure = Failure::passing(format!("{end} before it was ready"));
                // Before it had greeted nobody knows whether it was the probe.
                return Err(if remembered.is_none() && !connection.is_settled() {
                    Attempt::Probed(failure)
                } else {
                    Attempt::Failed(failure)
                });
            }
        };
        match ready {
            Ok(Ok(listing)) => Ok(Live {
                body,
                connection,
                listing,
            }),
            Ok(Err(unready)) if unready.locked => Err(Attempt::Failed(Failure {
                locked: true,
                ..Failure::passing(unready.reason)
            })),
            // Where the process has ended as well, that says more.
            Ok(Err(Unready {
                reason, greeting, ..
            })) => {
                let failure = match timeout(LAST_SIGNS, body.ended()).await {
                    Ok(end) => {
                        body.last_words().await;
                        Failure::passing(format!("{end} before it was ready"))
                    }
                    Err(_) => Failure::passing(reason),
                };
                Err(
                    if greeting && remembered.is_none() && !self.server.is_remote() {
                        Attempt::Probed(failure)
                    } else {
                        // What was remembered may be what was wrong.
                        if greeting {
                            self.upstream.remember(None);
                        }
                        Attempt::Failed(failure)
                    },
                )
            }
            Err(_) => {
                // Neither greeting was answered: the next attempt does without the probe.
                if remembered.is_none() && !connection.is_settled() {
                    let handshake = Era::Handshake(HANDSHAKE.into());
                    self.upstream.remember(Some(handshake));
                }
                Err(Attempt::Failed(Failure::passing(format!(
                    "was not ready within {} s",
                    self.limits.connect.as_secs_f64()
                ))))
            }
        }
    }

    fn not_started(&self, error: &io::Error) -> String {
        let command = self.server.program();
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

impl Failure {
    fn passing(reason: String) -> Self {
        Self {
            reason,
            lasting: false,
            locked: false,
        }
    }
}

impl Unready {
    fn of(error: &CallError, otherwise: String, greeting: bool) -> Self {
        let wants = error.wants_login();
        Self {
            locked: wants.is_some(),
            reason: wants.map_or(otherwise, str::to_owned),
            greeting,
        }
    }
}

impl Body {
    /// Waits until the server has ended, and says how.
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing.
    pub(crate) async fn ended(&mut self) -> String {
        match self {
            Self::Process(process, _) => process.ended().await,
            #[cfg(feature = "http-client")]
            Self::Elsewhere => std::future::pending().await,
        }
    }

    /// What it means when nothing more comes from it.
    pub(crate) fn silent(&self) -> &'static str {
        match self {
            Self::Process(..) => "closed its stdout",
            #[cfg(feature = "http-client")]
            Self::Elsewhere => "is not reachable or has ended the session",
        }
    }

    /// Waits a little for what a server that has ended wrote last: that is what says why.
    pub(crate) async fn last_words(&mut self) {
        match self {
            Self::Process(_, draining) => {
                let _ = timeout(LAST_SIGNS, &mut draining.0).await;
            }
            #[cfg(feature = "http-client")]
            Self::Elsewhere => {}
        }
    }

    pub(crate) async fn end(self, patience: Duration) {
        match self {
            Self::Process(process, _draining) => process.end(patience).await,
            #[cfg(feature = "http-client")]
            Self::Elsewhere => {}
        }
    }
}

impl Drop for Draining {
    fn drop(&mut self) {
        self.0.abort();
    }
}

fn not_greeted(error: &CallError) -> String {
    match error {
        CallError::Peer { code, message, .. } => {
            format!("answered the handshake with error {code}: {message}")
        }
        CallError::Gone => "closed its stdout during the handshake".to_owned(),
        CallError::NotSent => "closed its stdin during the handshake".to_owned(),
        CallError::Unreadable => "answered the handshake with something else".to_owned(),
        other => format!("did not answer the handshake: {other}"),
    }
}
