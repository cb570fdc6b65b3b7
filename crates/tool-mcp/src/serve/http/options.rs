//! How to listen for HTTP.

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::time::Duration;

use super::names::Names;
use super::token::Auth;
use super::{BearerToken, ClientTokens};

/// How to listen for HTTP.
///
/// A request is served only if its `Host` names this machine as it was told to be called, and its
/// `Origin`, where a browser sends one, is a page of this machine: so no web page of others can
/// reach the tools through a name of its own. And it has to show a [`BearerToken`]: one that is made
/// up when the server begins, unless others are given or that is switched off by name.
///
/// # Room
/// Of clients without a handshake 4,096 requests run at once, and 1,024 streams of changes are open;
/// of one principal 1,024 and 256. Bodies of more than 64 KiB take 512 MiB at most, those of one
/// principal 128 MiB, for as long as they are read and worked on, and come within 60 s; one that
/// does not say its length counts as 16 MiB until it is read. A token that is
/// [kept](Self::kept_tokens) has such a room of its own. What is beyond is answered with the status 429 where it is the client's own room that is full, and
/// otherwise with 503. Sessions have bounds of their own: 1,024 of them, 256 of one principal.
#[derive(Clone, Debug)]
pub struct HttpOptions {
    pub(crate) address: SocketAddr,
    pub(crate) any_interface: bool,
    hosts: Vec<String>,
    origins: Vec<String>,
    pub(crate) session_idle: Duration,
    pub(crate) auth: Auth,
    pub(crate) kept: Option<ClientTokens>,
    pub(crate) connections: usize,
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
            auth: Auth::default(),
            kept: None,
            connections: 4_096,
        }
    }

    /// Lets the address be one that other machines can reach. Tokens pass it
    /// unencrypted: let something in front of it speak TLS.
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

    /// Sets how many connections there are at most, listening streams among them. One more is answered
    /// with the status 503 and closed; one that says nothing for two minutes, while nothing is worked
    /// on for it, is closed as well, and so is one whose first request is not there by then. Defaults
    /// to 4,096.
    #[must_use]
    pub fn connections(mut self, most: NonZeroUsize) -> Self {
        self.connections = most.get();
        self
    }

    /// Adds a token by which clients are served. With at least one, none is made up.
    ///
    /// Every request has to show one, whoever it comes from: other people and programs of this
    /// machine reach the loopback interface, too.
    #[must_use]
    pub fn token(mut self, mut token: BearerToken) -> Self {
        self.auth.anyone = false;
        // Several tokens of one principal have the room of one.
        let mut others = self.auth.tokens.iter();
        if let Some(other) = others.find(|other| other.principal == token.principal) {
            token.room.clone_from(&other.room);
        }
        self.auth.tokens.push(token);
        self
    }

    /// Serves clients by the tokens that are kept there as well. With at least one when the server
    /// begins, none is made up. What is added and revoked later is taken in within two seconds;
    /// while it cannot be read, who shows such a token is answered with the status 503.
    #[must_use]
    pub fn kept_tokens(mut self, tokens: ClientTokens) -> Self {
        self.kept = Some(tokens);
        self
    }

    /// Serves whoever comes, without a token. Whoever reaches the address can call every tool.
    #[must_use]
    pub fn allow_anyone_unchecked(mut self) -> Self {
        self.auth.anyone = true;
        self
    }

    /// The names by which the server may be called once it listens on that address.
    pub(crate) fn names(&self, address: SocketAddr) -> Names {
        let mut hosts = self.hosts.clone();
        if !address.ip().is_unspecified() {
            hosts.push(address.ip().to_string());
        }
        Names::and(&hosts, &self.origins)
    }
}

impl From<SocketAddr> for HttpOptions {
    fn from(address: SocketAddr) -> Self {
        Self::new(address)
    }
}
