//! One server from its start to its end, and from there to its next start.

use std::convert::Infallible;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::caller::Caller;
use super::catalogue::Catalogue;
use super::connection::Connection;
use super::dial::{Failure, Live};
use super::event::{EventFeed, UpstreamEvent, difference};
use super::listing::Listing;
use super::party::Party;
use super::retry::{self, Jitter};
use super::upstream::Upstream;
use super::{Limits, ServerConfig, UpstreamState, telling};
use crate::wire::OneLine;

/// How long changes of a list are gathered before it is fetched again.
const DEBOUNCE: Duration = Duration::from_millis(100);
/// How long the other sign that a server has ended is waited for, to tell how it ended.
pub(crate) const LAST_SIGNS: Duration = Duration::from_millis(500);
/// How long it takes at most until an approval is taken in.
const RECHECK: Duration = Duration::from_secs(2);
/// How long what was trusted of a server is taken for what it is, where it says no time itself.
const OLD: Duration = Duration::from_secs(5 * 60);
/// The least time after which a list is fetched again because its server says that it ages.
const YOUNG: Duration = Duration::from_secs(30);
/// How often in a row a person is asked to log in to a server that refuses what comes of it.
const MOST_LOGINS: u32 = 3;

/// Starts a server, keeps its tools registered while it runs, and ends it.
pub(crate) struct Driver {
    pub(crate) upstream: Arc<Upstream>,
    pub(crate) server: ServerConfig,
    pub(crate) base: Arc<Path>,
    pub(crate) party: Party,
    pub(crate) caller: Caller,
    pub(crate) limits: Limits,
    pub(crate) keep_lists: bool,
    pub(crate) catalogue: Catalogue,
    pub(crate) feed: EventFeed,
    pub(crate) jitter: Arc<Jitter>,
    pub(crate) stop: CancellationToken,
}

impl Driver {
    /// Runs until the server is told to end or is given up. While it is away its tools stay
    /// registered, and calls of them are refused by name.
    pub(crate) async fn run(mut self) {
        let (mut attempt, mut logins) = (0, 0);
        loop {
            let stop = self.stop.clone();
            let connected = tokio::select! {
                biased;
                () = stop.cancelled() => return self.stopped(),
                connected = async {
                    self.trusted().await;
                    self.dial().await
                } => connected,
            };
            let failure = match connected {
                Ok(live) => {
                    logins = 0;
                    let since = Instant::now();
                    let Some(reason) = self.attend(live).await else {
                        return self.stopped();
                    };
                    if since.elapsed() >= self.limits.retry_most {
                        attempt = 0;
                    }
                    self.feed.send(UpstreamEvent::Lost {
                        server: self.upstream.name.clone(),
                        reason: reason.clone(),
                    });
                    let lock = self.caller.locked();
                    Failure {
                        locked: lock.is_some(),
                        reason: lock.unwrap_or(reason),
                        lasting: false,
                    }
                }
                Err(failure) => failure,
            };
            if failure.locked {
                let unlocked = self.unlocked(failure.reason, logins < MOST_LOGINS);
                logins += 1;
                tokio::select! {
                    () = stop.cancelled() => return self.stopped(),
                    () = unlocked => continue,
                }
            }
            if failure.lasting || attempt >= self.limits.retries {
                self.catalogue.clear();
                let reason = failure.reason;
                return self.upstream.set(UpstreamState::Failed { reason });
            }
            let Limits {
                retry_first,
                retry_most,
                ..
            } = self.limits;
            let wait = retry::wait(retry_first, retry_most, attempt, &*self.jitter);
            attempt += 1;
            self.upstream.set(UpstreamState::Away {
                reason: failure.reason,
                attempt,
            });
            tokio::select! {
                () = self.stop.cancelled() => return self.stopped(),
                () = sleep(wait) => {}
            }
        }
    }

    /// Waits until the server may be reached as it is configured.
    async fn trusted(&mut self) {
        while let Some(reason) = self.catalogue.trust.launch(&self.server, &self.base).await {
            self.catalogue.clear();
            self.upstream.set(UpstreamState::Held { reason });
            sleep(RECHECK).await;
        }
    }

    /// Waits until somebody is logged in who was not yet.
    async fn unlocked(&self, reason: String, may_ask: bool) {
        let tell = |reason| self.upstream.set(UpstreamState::Locked { reason });
        tell(reason);
        self.caller.unlock(may_ask, tell).await;
    }

    fn stopped(&mut self) {
        self.catalogue.clear();
        self.upstream.set(UpstreamState::Stopped);
    }

    /// Keeps a server until it ends, and says why it did; `None` where it was told to.
    async fn attend(&mut self, live: Live) -> Option<String> {
        let Live {
            mut body,
            connection,
            listing,
        } = live;
        self.take(listing, &connection).await;
        self.feed.send(UpstreamEvent::Connected {
            server: self.upstream.name.clone(),
            protocol: self.upstream.status().protocol.unwrap_or_default(),
        });
        let stop = self.stop.clone();
        let end = tokio::select! {
            biased;
            () = stop.cancelled() => None,
            end = body.ended() => Some(end),
            () = connection.board().closed() => Some(body.silent().to_owned()),
            never = pace(self.limits.idle) => match never {},
            never = self.follow(&connection) => match never {},
        };
        // First of all: nobody is sent there any more.
        self.upstream.line.set(None);
        if end.is_none() {
            self.catalogue.clear();
        }

        let start = Instant::now();
        let patience = self.limits.shutdown;
        let end = match end {
            None => None,
            Some(end) => {
                // What it wrote before it ended is still read, and calls that it answers settle.
                let closed = timeout(LAST_SIGNS, connection.board().closed()).await;
                let ended = timeout(LAST_SIGNS, body.ended()).await;
                if ended.is_ok() {
                    body.last_words().await;
                }
                Some(if closed.is_ok() {
                    ended.unwrap_or(end)
                } else {
                    end
                })
            }
        };
        // The calls in flight end, and the server is told by the end of its stdin.
        let _ = timeout(patience / 5, connection.close()).await;
        connection.board().close();
        body.end(patience.saturating_sub(start.elapsed())).await;
        end
    }

    /// Compares a list with what is registered, tells of the difference, and registers it.
    async fn take(&mut self, listing: Listing, connection: &Arc<Connection>) {
        if self.keep_lists {
            self.upstream.keep(&listing.entries);
        }
        self.catalogue.mirrors(connection.learn(&listing));
        if let Some(known) = self.catalogue.known() {
            if !known.is_same(&listing) {
                let name = &self.upstream.name;
                self.feed.send(difference(name, known, &listing));
                self.catalogue.register(listing, connection).await;
            } else if self.catalogue.trust.is_kept() {
                // What was forgotten since is seen for the first time once more, ahead of any change.
                self.catalogue.approved().await;
            }
        } else {
            self.catalogue.register(listing, connection).await;
        }
        self.upstream.line.set(Some(Arc::clone(connection)));
        self.upstream.note(self.catalogue.notes());
        self.upstream.set(self.catalogue.state());
    }

    /// Keeps what is registered like what the server lists.
    async fn follow(&mut self, connection: &Arc<Connection>) -> Infallible {
        let upstream = Arc::clone(&self.upstream);
        let mut telling = std::pin::pin!(telling::tell(connection, &upstream));
        loop {
            let age = match self.catalogue.known().map_or(0, |known| known.ttl_ms) {
                0 if self.catalogue.trust.is_kept() => Some(OLD),
                age if age == 0 || !connection.is_stateless() => None,
                age => Some(Duration::from_millis(age).max(YOUNG)),
            };
            let ages = async {
                match age {
                    // Where changes are told, nothing ages.
                    Some(age) if !connection.is_listening() => sleep(age).await,
                    // Neither does a list that must not be kept.
                    _ => std::future::pending().await,
                }
            };
            let waits = self.catalogue.waits();
            let recheck = async {
                if !waits {
                    std::future::pending::<()>().await;
                }
                sleep(RECHECK).await;
            };
            tokio::select! {
                () = connection.board().tools_changed() => sleep(DEBOUNCE).await,
                () = ages => {}
                () = recheck => {
                    if self.catalogue.approved().await {
                        self.upstream.set(self.catalogue.state());
                    }
                    continue;
                }
                never = &mut telling => match never {},
            }
            // Whatever was told until now is in the list that is fetched now.
            tokio::select! {
                biased;
                () = connection.board().tools_changed() => {}
                () = std::future::ready(()) => {}
            }
            let board = connection.board();
            let told = board.changes_told();
            match Listing::fetch(connection, "tools/list", "tools").await {
                Ok(listing) => {
                    self.take(listing, connection).await;
                    board.changes_seen(told);
                }
                Err(error) => {
                    // Until it lists them, nobody knows what a call would run.
                    if self.catalogue.trust.is_kept() {
                        sleep(RECHECK).await;
                        board.look_again();
                    }
                    let server = self.upstream.name.as_str();
                    let error = OneLine(error);
                    tracing::warn!(server, %error, "server said that its tools changed and did not list them");
                }
            }
        }
    }
}

/// Has some timer always due before those of calls. One that is due before every other interrupts the
/// thread that waits for messages, which costs a call more than the timer itself does.
async fn pace(idle: Duration) -> Infallible {
    loop {
        sleep((idle / 2).max(DEBOUNCE)).await;
    }
}
