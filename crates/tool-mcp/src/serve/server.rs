//! A registry as an MCP server.

use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tool_core::{Facts, SessionId};
use tool_registry::Registry;

use super::held::{Held, Hold};
use super::offered::{Offered, Sorts};
use super::request_state::StateKey;
use super::serving::serving;
use super::{ServeError, stream};
use crate::offerings::Offerings;

/// Entries of a page of a list unless said otherwise. Most clients ask for one page only.
const PAGE: NonZeroUsize = NonZeroUsize::new(1_000).unwrap();

/// A registry as an MCP server, for any number of clients at once. Clones are cheap and the same.
///
/// Every protocol revision from 2024-11-05 to 2026-07-28 is spoken, as the client begins. The
/// list holds the registry's definitions in their stable order, and clients are told when it
/// changes. A call goes through the registry's whole pipeline; what ends it is what ends any
/// other call, and a client that cancels or is gone drops it on the spot.
///
/// # Questions
/// Where policy asks, a tool needs approval or a service needs consent, the person who uses the
/// client is asked, if the client can do that: by a request to a client with a handshake, by the
/// result to one without, which calls again with the answer and a state that only this server can
/// read, for that very call, once and for at most an hour. Where the client cannot, the registry's
/// own approver decides, as it does after [`leave_questions`](Self::leave_questions).
///
/// # Sessions
/// Calls carry the facts that the host gave, with a session for each connection where the host
/// gave none: the id of the HTTP session where the client has one, a random id for a stream. A
/// client of the stateless revision over HTTP has no session, and none is made up. The call's id
/// is that of the client's request.
///
/// # Cleanups
/// What a call registers to be cleaned up runs when the call has ended, also where its client has
/// cancelled it or is gone, at most five seconds each. When a stream ends, and when a server over
/// HTTP is told to, that is waited for.
#[derive(Clone)]
pub struct Server(Arc<Served>);

/// What is offered, the same to all clients.
#[derive(Clone)]
pub(crate) struct Served {
    pub(crate) registry: Registry,
    implementation: (String, String),
    pub(crate) instructions: Option<String>,
    pub(crate) facts: Facts,
    pub(crate) offered: Offered,
    pub(crate) page_size: NonZeroUsize,
    pub(crate) asks_clients: bool,
    /// None where the system gave no random bytes: then no call takes several rounds.
    pub(crate) state_key: Option<StateKey>,
    pub(crate) hold: Option<Hold>,
    linger: Duration,
}

impl Server {
    /// A server that offers everything in a registry, and the outputs that it retained.
    #[must_use]
    pub fn new(registry: Registry) -> Self {
        Self(Arc::new(Served {
            registry,
            implementation: ("tool-mcp".to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
            instructions: None,
            facts: Facts::new(),
            offered: Offered::default(),
            page_size: PAGE,
            asks_clients: true,
            state_key: StateKey::random(),
            hold: None,
            linger: Duration::from_secs(1),
        }))
    }

    /// Offers resources, prompts and completions besides, those of imported servers among them.
    /// Where two offer the same, what was added first has it.
    ///
    /// Lists come in the order of their keys. What an offering asks of its caller it can ask with
    /// [`CallingClient::current`](super::CallingClient::current).
    ///
    /// What a server logs in the middle of a call reaches the client that made it, in either era and
    /// by either way, from the level on that it asked for: where the log came in the answer to that
    /// call, or where only calls of one client are on their way to that server. Everything else
    /// reaches clients over a pair of streams alone, as over HTTP it could tell one client of
    /// another's calls. A server with a handshake logs from the lowest level that any client set by
    /// `logging/setLevel`, or from its own; one without logs for each call what its client asked for.
    #[must_use]
    pub fn offerings(mut self, offerings: Arc<dyn Offerings>) -> Self {
        self.served_mut().offered.add(offerings);
        self
    }

    /// Sets how many entries a page of a list has at most. Defaults to 1,000.
    #[must_use]
    pub fn page_size(mut self, entries: NonZeroUsize) -> Self {
        self.served_mut().page_size = entries;
        self
    }

    /// Leaves every question to the registry's own approver. Without this, a client that can show
    /// questions to its person is asked.
    #[must_use]
    pub fn leave_questions(mut self) -> Self {
        self.served_mut().asks_clients = false;
        self
    }

    /// Sets the key of the states that clients without a handshake carry from one round of a call
    /// to the next. Defaults to a fresh one; processes that go on with each other's calls need the
    /// same 32 secret bytes, and registries with one seal key and one state.
    #[must_use]
    pub fn state_key(mut self, key: [u8; 32]) -> Self {
        self.served_mut().state_key = Some(StateKey::new(key));
        self
    }

    /// Sets the name and version by which clients know this server. Defaults to this crate's.
    #[must_use]
    pub fn implementation(mut self, name: impl Into<String>, version: impl Into<String>) -> Self {
        self.served_mut().implementation = (name.into(), version.into());
        self
    }

    /// Sets a text that tells the client's model how to use the tools. None by default.
    #[must_use]
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.served_mut().instructions = Some(instructions.into());
        self
    }

    /// Sets what is known about the callers. A session that is given here is that of all clients.
    /// Nothing by default.
    #[must_use]
    pub fn facts(mut self, facts: Facts) -> Self {
        self.served_mut().facts = facts;
        self
    }

    /// Sets what is held for each session for as long as it lasts: `hold` is called with the facts
    /// of the session's first call, and what it gives is dropped when the session has ended and the
    /// last of its calls is over. For a session that the [host](Self::facts) names, and for clients
    /// without a session, nothing is held. Nothing by default.
    #[must_use]
    pub fn hold_sessions<H: Send + Sync + 'static>(
        mut self,
        hold: impl Fn(&Facts) -> H + Send + Sync + 'static,
    ) -> Self {
        self.served_mut().hold = Some(Arc::new(move |facts| Box::new(hold(facts))));
        self
    }

    /// Sets how long calls in flight may still take after a client has closed its side of a
    /// stream, as one does that writes its requests and waits for the answers. Defaults to 1 s;
    /// at most 5 s are heeded.
    #[must_use]
    pub fn linger(mut self, linger: Duration) -> Self {
        self.served_mut().linger = linger;
        self
    }

    /// Serves one client over a pair of streams, one message on each line, until the client
    /// closes its side. A message may be 16 MiB long.
    ///
    /// # Errors
    /// [`ServeErrorKind::Client`](super::ServeErrorKind::Client) when the client begins with something
    /// that is not the protocol.
    ///
    /// # Cancel safety
    /// Dropping the future ends the connection and drops the calls in flight. What they leave to be
    /// cleaned up runs with the next [`clean_up`](Registry::clean_up) of the registry.
    pub async fn serve_streams<R, W>(&self, reader: R, writer: W) -> Result<(), ServeError>
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let (serving, mut over) = serving();
        let linger = self.0.linger;
        let facts = with_session(&self.0.facts, random_session());
        let client = (facts, Held::of(&self.0));
        let ended = stream::serve(&self.0, client, linger, serving, reader, writer).await;
        over.wait().await;
        // Calls by MCP leave nothing to the end of a session.
        self.0.registry.clean_up().await;
        ended
    }

    #[cfg(feature = "http")]
    pub(crate) fn served(&self) -> &Arc<Served> {
        &self.0
    }

    fn served_mut(&mut self) -> &mut Served {
        Arc::make_mut(&mut self.0)
    }
}

impl Served {
    /// Which sorts there are besides tools.
    pub(crate) fn sorts(&self) -> Sorts {
        let mut sorts = self.offered.sorts();
        sorts.resources |= self.has_outputs();
        sorts
    }

    /// Whether results can link to what was retained of them.
    pub(crate) fn has_outputs(&self) -> bool {
        self.registry.outputs().is_some()
    }

    pub(crate) fn implementation_json(&self) -> Value {
        let (name, version) = &self.implementation;
        json!({"name": name, "version": version})
    }

    /// What a client is told that it can use.
    pub(crate) fn capabilities(&self) -> Value {
        let sorts = self.sorts();
        let mut capabilities = Map::new();
        let mut put = |key: &str, value: Value| capabilities.insert(key.to_owned(), value);
        put("tools", json!({"listChanged": true}));
        // Tools may always tell something; a client without a handshake asks for it by request.
        put("logging", json!({}));
        if sorts.resources {
            put("resources", json!({"listChanged": true, "subscribe": true}));
        }
        if sorts.prompts {
            put("prompts", json!({"listChanged": true}));
        }
        if sorts.completions {
            put("completions", json!({}));
        }
        capabilities.into()
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("implementation", &self.0.implementation.0)
            .finish_non_exhaustive()
    }
}

/// The facts, with that session where the host gave none.
pub(crate) fn with_session(facts: &Facts, session: Option<SessionId>) -> Facts {
    match session {
        Some(session) if facts.session_id().is_none() => facts.clone().session(session),
        _ => facts.clone(),
    }
}

/// An id that nobody can guess. Without randomness there is none, rather than one that is not.
pub(crate) fn random_session() -> Option<SessionId> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).ok()?;
    Some(format!("{:032x}", u128::from_be_bytes(bytes)).into())
}
