//! A registry as an MCP server.

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use rmcp::ServiceExt;
use rmcp::model::Implementation;
use rmcp::service::ServerInitializeError;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;
use tool_core::{Facts, SessionId};
use tool_registry::Registry;

use super::handler::Handler;
use super::serving::{Serving, serving};
use super::transport::ServerTransport;
use super::{ServeError, ServeErrorKind};
use crate::wire;

/// A registry as an MCP server, for any number of clients at once. Clones are cheap and the same.
///
/// Every protocol revision from 2024-11-05 to 2026-07-28 is spoken, as the client begins. The
/// list holds the registry's definitions in their stable order, and clients are told when it
/// changes. A call goes through the registry's whole pipeline; what ends it is what ends any
/// other call, and a client that cancels or is gone drops it on the spot.
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
pub struct Server(Arc<Offer>);

/// What is offered, the same to all clients.
#[derive(Clone)]
pub(crate) struct Offer {
    pub(crate) registry: Registry,
    pub(crate) implementation: Implementation,
    pub(crate) instructions: Option<String>,
    pub(crate) facts: Facts,
    pub(crate) hold: Option<Hold>,
    linger: Duration,
}

/// Makes what is held while a session lasts.
pub(crate) type Hold = Arc<dyn Fn(&Facts) -> Box<dyn Any + Send + Sync> + Send + Sync>;

impl Server {
    /// A server that offers everything in a registry.
    #[must_use]
    pub fn new(registry: Registry) -> Self {
        Self(Arc::new(Offer {
            registry,
            implementation: Implementation::new("tool-mcp", env!("CARGO_PKG_VERSION")),
            instructions: None,
            facts: Facts::new(),
            hold: None,
            linger: Duration::from_secs(1),
        }))
    }

    /// Sets the name and version by which clients know this server. Defaults to this crate's.
    #[must_use]
    pub fn implementation(mut self, name: impl Into<String>, version: impl Into<String>) -> Self {
        self.offer_mut().implementation = Implementation::new(name, version);
        self
    }

    /// Sets a text that tells the client's model how to use the tools. None by default.
    #[must_use]
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.offer_mut().instructions = Some(instructions.into());
        self
    }

    /// Sets what is known about the callers. A session that is given here is that of all clients.
    /// Nothing by default.
    #[must_use]
    pub fn facts(mut self, facts: Facts) -> Self {
        self.offer_mut().facts = facts;
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
        self.offer_mut().hold = Some(Arc::new(move |facts| Box::new(hold(facts))));
        self
    }

    /// Sets how long calls in flight may still take after a client has closed its side of a
    /// stream, as one does that writes its requests and waits for the answers. Defaults to 1 s;
    /// at most 5 s are heeded.
    #[must_use]
    pub fn linger(mut self, linger: Duration) -> Self {
        self.offer_mut().linger = linger;
        self
    }

    /// Serves one client over a pair of streams, one message on each line, until the client
    /// closes its side. A message may be 16 MiB long.
    ///
    /// # Errors
    /// [`ServeErrorKind::Client`] when the client begins with something that is not the protocol,
    /// [`ServeErrorKind::Broken`] when the task that serves ends unexpectedly.
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
        let served = self.serve_client(reader, writer, serving).await;
        over.wait().await;
        // Calls by MCP leave nothing to the end of a session.
        self.0.registry.clean_up().await;
        served
    }

    async fn serve_client<R, W>(
        &self,
        reader: R,
        writer: W,
        serving: Serving,
    ) -> Result<(), ServeError>
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let gone = CancellationToken::new();
        let handler = Handler::new(Arc::clone(&self.0), random_session(), gone.clone(), serving);
        let transport =
            ServerTransport::new(reader, writer, wire::FRAME_BYTES, self.0.linger, gone);
        let running = match handler.serve(transport).await {
            Ok(running) => running,
            // A client may leave before it has begun.
            Err(
                ServerInitializeError::ConnectionClosed(_)
                | ServerInitializeError::TransportError { .. },
            ) => return Ok(()),
            // The library's own text prints whole messages, which may hold anything.
            Err(_) => {
                return Err(ServeError::new(
                    ServeErrorKind::Client,
                    "client began with something other than the protocol's first message",
                ));
            }
        };
        match running.waiting().await {
            Ok(_) => Ok(()),
            Err(error) => Err(ServeError::new(
                ServeErrorKind::Broken,
                "the task that serves a client ended unexpectedly",
            )
            .because(error)),
        }
    }

    #[cfg(feature = "http")]
    pub(crate) fn offer(&self) -> &Arc<Offer> {
        &self.0
    }

    fn offer_mut(&mut self) -> &mut Offer {
        Arc::make_mut(&mut self.0)
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("implementation", &self.0.implementation.name)
            .finish_non_exhaustive()
    }
}

/// An id that nobody can guess. Without randomness there is none, rather than one that is not.
fn random_session() -> Option<SessionId> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).ok()?;
    Some(format!("{:032x}", u128::from_be_bytes(bytes)).into())
}
