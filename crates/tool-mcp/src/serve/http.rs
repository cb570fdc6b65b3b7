//! Serving over streamable HTTP.

mod asked;
mod attentive;
mod body;
mod client_tokens;
mod event_log;
mod exchange;
mod guests;
mod headers;
mod names;
mod options;
mod pace;
mod reply;
mod room;
mod session;
mod site;
mod token;
mod work;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::handler::Handler as _;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tool_registry::Registry;

use self::attentive::AttentiveListener;
use self::guests::Guests;
use self::pace::Pace;
use self::room::Room;
use self::session::Sessions;
use self::site::Site;
use super::serving::{Over, serving};
use super::{ServeError, ServeErrorKind, Server};

pub use client_tokens::{ClientToken, ClientTokens, TokensError};
pub(crate) use event_log::EventLog;
pub use options::HttpOptions;
pub use token::BearerToken;

/// Where the endpoint is.
const PATH: &str = "/mcp";
/// How long requests may still take once the server is told to end.
const LAST_REQUESTS: Duration = Duration::from_secs(5);

/// A server that listens. Dropping it ends it at once.
#[derive(Debug)]
pub struct HttpServer {
    address: SocketAddr,
    token: Option<BearerToken>,
    stop: CancellationToken,
    registry: Registry,
    over: Over,
    /// Taken when it has ended.
    task: Option<JoinHandle<io::Result<()>>>,
}

impl Server {
    /// Serves clients over streamable HTTP at `/mcp`, until the returned value is told to end or
    /// is dropped.
    ///
    /// # Errors
    /// [`ServeErrorKind::NotLoopback`] for an address that other machines can reach, unless the
    /// options allow it; [`ServeErrorKind::Listen`] when the address cannot be listened on;
    /// [`ServeErrorKind::Token`] when a token was to be made up and the system gives no random
    /// bytes, or those that are kept cannot be read.
    pub async fn serve_http(
        &self,
        options: impl Into<HttpOptions>,
    ) -> Result<HttpServer, ServeError> {
        let options = options.into();
        let wanted = options.address;
        if !wanted.ip().is_loopback() && !options.any_interface {
            return Err(ServeError::new(
                ServeErrorKind::NotLoopback,
                format!("address {wanted} can be reached from other machines; allow it by name"),
            ));
        }
        let not_listening = |error: io::Error| {
            ServeError::new(
                ServeErrorKind::Listen,
                format!("address {wanted} cannot be listened on"),
            )
            .because(error)
        };
        let listener = TcpListener::bind(wanted).await.map_err(not_listening)?;
        let address = listener.local_addr().map_err(not_listening)?;

        let names = options.names(address);
        let stop = CancellationToken::new();
        let mut auth = options.auth;
        if let Some(kept) = options.kept.filter(|_| !auth.anyone) {
            let guests = Guests::new(kept, stop.clone()).await.map_err(|error| {
                let text = "tokens of clients cannot be used";
                ServeError::new(ServeErrorKind::Token, text).because(error)
            })?;
            auth.guests = Some(guests);
        }
        let has_guests = auth.guests.as_ref().is_some_and(|it| !it.is_empty());
        let token = match auth.anyone || has_guests || !auth.tokens.is_empty() {
            true => None,
            false => Some(BearerToken::random()?),
        };
        auth.tokens.extend(token.clone());
        let (serving, over) = serving();
        let served = Arc::clone(self.served());
        let sessions = Sessions::new(options.session_idle);
        let looked_after = Arc::clone(&sessions).look_after();
        let ended = stop.clone();
        let pace = Arc::new(Pace::default());
        let paced = Arc::clone(&pace);
        tokio::spawn(async move {
            let both = async { tokio::join!(looked_after, paced.keep()) };
            ended.run_until_cancelled(both).await;
        });
        if let Some(guests) = &auth.guests {
            let looked_after = Arc::clone(guests).look_after(Arc::clone(&sessions));
            let ended = stop.clone();
            tokio::spawn(async move {
                ended.run_until_cancelled(looked_after).await;
            });
        }
        let site = Arc::new(Site {
            served,
            names,
            auth,
            sessions,
            serving,
            pace,
            room: Room::default(),
            gone: stop.clone(),
        });
        // There is one path, for which a router would cost each request more than looking at it does.
        let serving = exchange::serve.with_state(site).into_make_service();
        let listening = axum::serve(
            AttentiveListener::new(listener, options.connections),
            serving,
        )
        .with_graceful_shutdown(stop.clone().cancelled_owned())
        .into_future();
        Ok(HttpServer {
            address,
            token,
            stop,
            registry: self.served().registry.clone(),
            over,
            task: Some(tokio::spawn(listening)),
        })
    }
}

impl HttpServer {
    /// The address that is listened on, with the port that was free where any was asked for.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The token that was made up because none was given, to be told to clients.
    #[must_use]
    pub fn made_up_token(&self) -> Option<&BearerToken> {
        self.token.as_ref()
    }

    /// Where clients find the server.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}{PATH}", self.address)
    }

    /// Waits until the server has ended, which it does not do by itself unless it breaks.
    ///
    /// # Errors
    /// [`ServeErrorKind::Broken`] when it broke.
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing.
    pub async fn ended(&mut self) -> Result<(), ServeError> {
        let broken = || ServeError::new(ServeErrorKind::Broken, "the listener broke");
        let Some(task) = &mut self.task else {
            return Ok(());
        };
        let ended = task.await;
        self.task = None;
        match ended {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(broken().because(error)),
            Err(error) => Err(broken().because(error)),
        }
    }

    /// Drops the calls in flight, ends the sessions, and stops listening, all within 5 s. What
    /// those calls left to be cleaned up has at most 5 s more, and what is left then runs with the
    /// next [`clean_up`](Registry::clean_up) of the registry.
    ///
    /// # Cancel safety
    /// Dropping the future ends the server at once.
    pub async fn shutdown(mut self) {
        self.stop.cancel();
        // What is still open then is cut off by dropping.
        let _ = tokio::time::timeout(LAST_REQUESTS, self.ended()).await;
        self.over.wait().await;
        self.registry.clean_up().await;
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        self.stop.cancel();
        if let Some(task) = &self.task {
            task.abort();
        }
    }
}
