//! Serving over streamable HTTP.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::serve::ListenerExt as _;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tool_registry::Registry;

use super::handler::Handler;
use super::serving::{Over, serving};
use super::{ServeError, ServeErrorKind, Server};
use crate::wire;

/// Where the endpoint is.
const PATH: &str = "/mcp";
/// Names of this machine for itself; by each it may be called, from whatever port.
const LOOPBACK_HOSTS: [&str; 3] = ["localhost", "127.0.0.1", "::1"];
const LOOPBACK_ORIGINS: [&str; 6] = [
    "http://localhost:*",
    "http://127.0.0.1:*",
    "http://[::1]:*",
    "https://localhost:*",
    "https://127.0.0.1:*",
    "https://[::1]:*",
];
/// How long requests may still take once the server is told to end.
const LAST_REQUESTS: Duration = Duration::from_secs(5);

/// How to listen for HTTP.
///
/// A request is served only if its `Host` names this machine as it was told to be called, and its
/// `Origin`, where a browser sends one, is a page of this machine: so no web page of others can
/// reach the tools through a name of its own.
#[derive(Clone, Debug)]
pub struct HttpOptions {
    address: SocketAddr,
    any_interface: bool,
    hosts: Vec<String>,
    origins: Vec<String>,
    session_idle: Duration,
}

/// A server that listens. Dropping it ends it at once.
#[derive(Debug)]
pub struct HttpServer {
    address: SocketAddr,
    stop: CancellationToken,
    registry: Registry,
    over: Over,
    /// Taken when it has ended.
    task: Option<JoinHandle<io::Result<()>>>,
}

impl HttpOptions {
    /// Listens on an address, which must be one of the loopback interface. Port 0 takes any that
    /// is free.
    #[must_use]
    pub fn new(address: SocketAddr) -> Self {
        Self {
            address,
            any_interface: false,
            hosts: Vec::new(),
            origins: Vec::new(),
            session_idle: Duration::from_secs(60 * 60),
        }
    }

    /// Lets the address be one that other machines can reach. Whoever reaches it can call every
    /// tool: there is no authentication.
    #[must_use]
    pub fn allow_any_interface_unchecked(mut self) -> Self {
        self.any_interface = true;
        self
    }

    /// Adds a name, with or without a port, by which clients may call this machine in `Host`. The
    /// names of the loopback interface and the address itself are always among them.
    #[must_use]
    pub fn allow_host(mut self, host: impl Into<String>) -> Self {
        self.hosts.push(host.into());
        self
    }

    /// Adds an origin from which browsers may call, such as `https://app.example.com:443`; `:*`
    /// means any port. Pages of the loopback interface are always among them.
    #[must_use]
    pub fn allow_origin(mut self, origin: impl Into<String>) -> Self {
        self.origins.push(origin.into());
        self
    }

    /// Sets after how long without a message a session is forgotten. A call that takes longer
    /// without reporting progress ends with it. Defaults to one hour.
    #[must_use]
    pub fn session_idle(mut self, session_idle: Duration) -> Self {
        self.session_idle = session_idle;
        self
    }

    fn config(&self, address: SocketAddr, stop: &CancellationToken) -> StreamableHttpServerConfig {
        let mut hosts: Vec<_> = LOOPBACK_HOSTS.map(str::to_owned).into();
        if !address.ip().is_unspecified() {
            hosts.push(address.ip().to_string());
        }
        hosts.extend(self.hosts.iter().cloned());
        let origins = LOOPBACK_ORIGINS
            .into_iter()
            .map(str::to_owned)
            .chain(self.origins.iter().cloned());
        StreamableHttpServerConfig::default()
            .with_allowed_hosts(hosts)
            .with_allowed_origins(origins)
            .enforce_origin_validation()
            .with_max_request_body_bytes(wire::FRAME_BYTES)
            .with_cancellation_token(stop.clone())
    }
}

impl From<SocketAddr> for HttpOptions {
    fn from(address: SocketAddr) -> Self {
        Self::new(address)
    }
}

impl Server {
    /// Serves clients over streamable HTTP at `/mcp`, until the returned value is told to end or
    /// is dropped.
    ///
    /// # Errors
    /// [`ServeErrorKind::NotLoopback`] for an address that other machines can reach, unless the
    /// options allow it; [`ServeErrorKind::Listen`] when the address cannot be listened on.
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

        let stop = CancellationToken::new();
        let mut sessions = LocalSessionManager::default();
        sessions.session_config.keep_alive = Some(options.session_idle);
        let (offer, gone) = (Arc::clone(self.offer()), stop.clone());
        let (serving, over) = serving();
        let service = StreamableHttpService::new(
            move || {
                let (offer, gone, serving) = (Arc::clone(&offer), gone.clone(), serving.clone());
                Ok(Handler::new(offer, None, gone, serving))
            },
            Arc::new(sessions),
            options.config(address, &stop),
        );
        let router = Router::new().route_service(PATH, service);
        // Messages are small and each is waited for.
        let listener = listener.tap_io(|stream| {
            // Only makes it slower where it cannot be set.
            let _ = stream.set_nodelay(true);
        });
        let listening = axum::serve(listener, router)
            .with_graceful_shutdown(stop.clone().cancelled_owned())
            .into_future();
        Ok(HttpServer {
            address,
            stop,
            registry: self.offer().registry.clone(),
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
