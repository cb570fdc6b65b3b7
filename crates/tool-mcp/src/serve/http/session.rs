//! Clients with a handshake, over many requests.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tool_core::Facts;

use super::event_log::EventLog;
use crate::serve::capabilities::Capabilities;
use crate::serve::client::{Client, Connection, Era};
use crate::serve::held::Held;
use crate::serve::outlet::Outlet;
use crate::wire::Id;

/// Sessions at the same time. One more is not begun.
const MOST_SESSIONS: usize = 1_024;
/// Of those, the sessions of one principal, so that none keeps all others out. Clients whose token
/// has no principal are not told apart, and have only the bound of all.
const MOST_OF_ONE: usize = 256;
/// Requests of one session that run at the same time. One more is answered with an error.
const MOST_REQUESTS: usize = 1_024;
/// Streams that have ended and may still be asked for again, and the bytes of the longest.
const KEPT_STREAMS: usize = 16;
const KEPT_BYTES: usize = 256 * 1024;
/// How long what has ended waits for a client that was cut off, and the bytes of all of it.
const UNTAKEN: Duration = Duration::from_secs(10 * 60);
const UNTAKEN_BYTES: usize = 64 * 1024 * 1024;

/// All sessions of a server.
pub(crate) struct Sessions {
    by_id: Mutex<HashMap<String, Arc<Session>>>,
    idle: Duration,
}

/// A client with a handshake.
pub(crate) struct Session {
    /// The principal that began it. Nobody else's requests belong to it.
    owner: Option<String>,
    pub(crate) facts: Facts,
    held: Held,
    capabilities: Capabilities,
    pub(crate) revision: &'static str,
    pub(crate) connection: Arc<Connection>,
    /// What nobody asked for.
    pub(crate) unasked: Arc<EventLog>,
    state: Mutex<State>,
    /// Cancels all that the client has going on.
    pub(crate) gone: CancellationToken,
}

struct State {
    running: HashMap<Id, CancellationToken>,
    streams: VecDeque<(u64, Arc<EventLog>)>,
    last_stream: u64,
    used: Instant,
    telling: bool,
}

/// The stream of what nobody asked for.
const UNASKED: u64 = 0;

impl Sessions {
    pub(crate) fn new(idle: Duration) -> Arc<Self> {
        Arc::new(Self {
            by_id: Mutex::default(),
            idle,
        })
    }

    /// Begins a session under an id that nobody can guess. `None` when there are too many, of all
    /// clients or of this principal.
    pub(crate) fn begin(
        &self,
        id: String,
        owner: Option<String>,
        (facts, held): (Facts, Held),
        capabilities: Capabilities,
        revision: &'static str,
        gone: &CancellationToken,
    ) -> Option<()> {
        let session = Session {
            owner,
            facts,
            held,
            capabilities,
            revision,
            connection: Arc::default(),
            unasked: Arc::new(EventLog::kept(UNASKED)),
            state: Mutex::new(State {
                running: HashMap::new(),
                streams: VecDeque::new(),
                last_stream: UNASKED,
                used: Instant::now(),
                telling: false,
            }),
            gone: gone.child_token(),
        };
        let mut by_id = self.by_id();
        if by_id.len() >= MOST_SESSIONS {
            return None;
        }
        let theirs = |other: &&Arc<Session>| other.owner == session.owner;
        if session.owner.is_some() && by_id.values().filter(theirs).count() >= MOST_OF_ONE {
            return None;
        }
        by_id.insert(id, Arc::new(session));
        Some(())
    }

    /// The session of that id, if it is this principal's.
    pub(crate) fn get(&self, id: &str, owner: Option<&str>) -> Option<Arc<Session>> {
        let session = self.by_id().get(id).cloned()?;
        let own = session.owner.as_deref() == owner;
        own.then(|| {
            session.state().used = Instant::now();
            session
        })
    }

    /// Ends a session and all that it has going on.
    pub(crate) fn end(&self, id: &str) {
        let session = self.by_id().remove(id);
        if let Some(session) = session {
            session.end();
        }
    }

    /// Ends the sessions of a principal that is served no more.
    pub(crate) fn end_of(&self, owner: &str) {
        let mut over = Vec::new();
        self.by_id().retain(|_, session| {
            let theirs = session.owner.as_deref() == Some(owner);
            if theirs {
                over.push(Arc::clone(session));
            }
            !theirs
        });
        for session in over {
            session.end();
        }
    }

    /// Ends sessions that nobody uses, for as long as the server listens.
    pub(crate) async fn look_after(self: Arc<Self>) {
        loop {
            let next = self.sweep();
            tokio::time::sleep_until(next).await;
        }
    }

    /// Ends what nobody uses, and tells when to look again.
    fn sweep(&self) -> Instant {
        let now = Instant::now();
        // What ends from here on is looked at in time as well.
        let mut next = now + self.idle.min(UNTAKEN);
        let mut over = Vec::new();
        self.by_id().retain(|_, session| {
            let until = session.used() + self.idle;
            if until <= now {
                over.push(Arc::clone(session));
                return false;
            }
            session.make_room(now);
            next = next.min(until);
            true
        });
        for session in over {
            session.end();
        }
        next
    }

    fn by_id(&self) -> MutexGuard<'_, HashMap<String, Arc<Session>>> {
        self.by_id.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Session {
    pub(crate) fn client(self: &Arc<Self>, outlet: Outlet) -> Client {
        Client {
            facts: self.facts.clone(),
            held: self.held.clone(),
            capabilities: self.capabilities,
            outlet,
            era: Era::Handshake(Arc::clone(&self.connection)),
        }
    }

    /// Takes a request up. `None` for an id that is taken, and for one request too many.
    pub(crate) fn start(self: &Arc<Self>, id: &Id) -> Option<Running> {
        let mut state = self.state();
        if state.running.len() >= MOST_REQUESTS || state.running.contains_key(id) {
            return None;
        }
        let cancelled = self.gone.child_token();
        state.running.insert(id.clone(), cancelled.clone());
        Some(Running {
            session: Arc::clone(self),
            id: id.clone(),
            cancelled,
        })
    }

    pub(crate) fn cancel(&self, id: &Id) {
        if let Some(cancelled) = self.state().running.get(id) {
            cancelled.cancel();
        }
    }

    /// A stream for one request, to be kept if it is to be asked for again.
    pub(crate) fn stream(&self) -> Arc<EventLog> {
        let mut state = self.state();
        if !state.streams.is_empty() {
            state.make_room(Instant::now());
        }
        state.last_stream += 1;
        Arc::new(EventLog::kept(state.last_stream))
    }

    /// Keeps a stream for whoever asks for it again.
    pub(crate) fn keep(&self, log: &Arc<EventLog>) {
        let Some(name) = log.name() else {
            return;
        };
        let mut state = self.state();
        state.streams.push_back((name, Arc::clone(log)));
        state.make_room(Instant::now());
    }

    /// The stream of a name, to be asked for again.
    pub(crate) fn stream_of(&self, name: u64) -> Option<Arc<EventLog>> {
        if name == UNASKED {
            return Some(Arc::clone(&self.unasked));
        }
        let state = self.state();
        let mut streams = state.streams.iter();
        streams
            .find(|(other, _)| *other == name)
            .map(|(_, log)| Arc::clone(log))
    }

    /// Whether nobody tells this client of changes yet, and somebody shall from now on.
    pub(crate) fn begins_telling(&self) -> bool {
        !std::mem::replace(&mut self.state().telling, true)
    }

    /// Forgets answers that were taken, and those that a client did not come back for.
    fn make_room(&self, now: Instant) {
        self.state().make_room(now);
    }

    /// When the client said something last, or took something that it was told.
    fn used(&self) -> Instant {
        let state = self.state();
        let taken = state.streams.iter().filter_map(|(_, log)| log.taken());
        taken
            .chain(self.unasked.taken())
            .fold(state.used, Instant::max)
    }

    fn end(&self) {
        self.gone.cancel();
        self.unasked.close();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request that runs. When it is dropped its id is free, however it has ended.
pub(crate) struct Running {
    session: Arc<Session>,
    id: Id,
    pub(crate) cancelled: CancellationToken,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.session.state().running.remove(&self.id);
    }
}

impl State {
    /// Forgets streams that are not worth their room any more.
    fn make_room(&mut self, now: Instant) {
        self.forget(now);
        // What was taken makes room, the oldest first, and at once where it is long.
        let taken = self
            .streams
            .iter()
            .filter(|(_, log)| log.kept_bytes().is_some())
            .count();
        let mut surplus = taken.saturating_sub(KEPT_STREAMS);
        self.streams.retain(|(_, log)| match log.kept_bytes() {
            Some(bytes) if bytes > KEPT_BYTES => false,
            Some(_) if surplus > 0 => {
                surplus -= 1;
                false
            }
            _ => true,
        });
    }

    /// Forgets what has ended, was not taken, and is too old or too much; the newest last.
    fn forget(&mut self, now: Instant) {
        let (mut room, mut newest) = (UNTAKEN_BYTES, true);
        let mut streams = std::mem::take(&mut self.streams);
        let mut kept = VecDeque::with_capacity(streams.len());
        while let Some((name, log)) = streams.pop_back() {
            let over = log.untaken().is_some_and(|(since, bytes)| {
                let fits = room.checked_sub(bytes);
                room = fits.unwrap_or_default();
                // However long it is, the last one is worth coming back for.
                let fits = fits.is_some() || std::mem::take(&mut newest);
                newest = false;
                !fits || now.duration_since(since) >= UNTAKEN
            });
            if !over {
                kept.push_front((name, log));
            }
        }
        self.streams = kept;
    }
}

#[cfg(test)]
mod tests;
