//! What of a server is registered.

use std::sync::Arc;

use tool_core::{Namespace, Tool};
use tool_registry::{Registrar, Registration};

use super::advertised::Advertised;
use super::connection::Connection;
use super::declared::Declared;
use super::line::Line;
use super::listing::Listing;
use super::told_drops::ToldDrops;
use super::trust::{Trust, Trusted};
use super::{RefusedTool, UpstreamState, remote};

/// The tools of one server, as they are registered. Without any until the first list.
pub(crate) struct Catalogue {
    server: Namespace,
    line: Arc<Line>,
    registrar: Registrar,
    held: Option<Held>,
    mirrors: bool,
    told: ToldDrops,
    pub(crate) trust: Trust,
}

struct Held {
    listing: Listing,
    registration: Registration,
    refused: Vec<RefusedTool>,
    /// Why entries of the list are not used, by their place.
    waiting: Vec<Option<String>>,
}

impl Catalogue {
    pub(crate) fn new(
        server: Namespace,
        line: Arc<Line>,
        registrar: Registrar,
        trust: Trust,
    ) -> Self {
        Self {
            trust,
            server,
            line,
            registrar,
            held: None,
            mirrors: false,
            told: ToldDrops::default(),
        }
    }

    /// Sets whether tools have to be right about arguments that are repeated in headers.
    pub(crate) fn mirrors(&mut self, mirrors: bool) {
        self.mirrors = mirrors;
    }

    /// The list that is registered.
    pub(crate) fn known(&self) -> Option<&Listing> {
        self.held.as_ref().map(|held| &held.listing)
    }

    pub(crate) fn state(&self) -> UpstreamState {
        match &self.held {
            Some(held) => UpstreamState::Ready {
                tools: held.registration.entries().len(),
                refused: held.refused.clone(),
            },
            None => UpstreamState::Connecting,
        }
    }

    /// Whether a tool waits for approval.
    pub(crate) fn waits(&self) -> bool {
        let waiting = self.held.as_ref().map(|held| &held.waiting);
        waiting.is_some_and(|waiting| waiting.iter().any(Option::is_some))
    }

    /// Registers what was approved since, and tells whether there was anything.
    pub(crate) async fn approved(&mut self) -> bool {
        let Some(held) = &self.held else {
            return false;
        };
        let listing = held.listing.clone();
        let trusted = self.trust.tools(&listing.entries).await;
        if self
            .held
            .as_ref()
            .is_some_and(|held| held.waiting == trusted.held)
        {
            return false;
        }
        self.put(listing, trusted, None).await;
        true
    }

    /// Nobody is offered the tools any more.
    pub(crate) fn clear(&mut self) {
        self.held = None;
    }

    /// Registers a list. The new ones are in place before the old ones go.
    pub(crate) async fn register(&mut self, listing: Listing, connection: &Arc<Connection>) {
        let trusted = self.trust.tools(&listing.entries).await;
        self.put(listing, trusted, Some(connection)).await;
    }

    async fn put(
        &mut self,
        listing: Listing,
        trusted: Trusted,
        connection: Option<&Arc<Connection>>,
    ) {
        let Trusted { held, callable } = trusted;
        let digest = |name: &str| callable.as_ref()?.get(name).copied();
        let (mut tools, mut refused) = (Vec::new(), Vec::new());
        for (entry, held) in listing.entries.iter().zip(&held) {
            let read =
                Advertised::read(entry.clone()).and_then(|advertised| self.check(advertised));
            match (read, held) {
                (Ok(advertised), None) => {
                    let digest = digest(&advertised.name);
                    let bag = advertised.declarations.as_ref();
                    let (declared, dropped) = Declared::read(&advertised.name, bag);
                    let (server, name) = (&self.server, &advertised.name);
                    self.told.tell(server.as_str(), name, &dropped);
                    let (name, tool) = remote::tool(&self.line, server, advertised, digest);
                    tools.push((name, declared.on(server, tool)));
                }
                (Ok(advertised), Some(reason)) => refused.push(RefusedTool {
                    name: advertised.name,
                    reason: reason.clone(),
                }),
                (Err((name, reason)), _) => refused.push(RefusedTool {
                    name,
                    reason: reason.to_owned(),
                }),
            }
        }
        // Ahead of everything: what was listed before may not be called from here on.
        self.line.admit(callable);
        // Ahead of registering: whoever finds a tool may call it.
        if let Some(connection) = connection {
            self.line.set(Some(Arc::clone(connection)));
        }
        let registration = self.register_tools(tools).await;
        refused.extend(registration.refused().iter().map(|entry| {
            let problems = entry.problems().iter().map(ToString::to_string);
            RefusedTool {
                name: entry.name().to_owned(),
                reason: problems.collect::<Vec<_>>().join(", "),
            }
        }));
        if listing.cut {
            refused.push(RefusedTool {
                name: String::new(),
                reason: format!("everything after the first {} tools", listing.entries.len()),
            });
        }
        self.held = Some(Held {
            listing,
            registration,
            refused,
            waiting: held,
        });
    }

    #[cfg(feature = "http-client")]
    fn check(&self, advertised: Advertised) -> Result<Advertised, (String, &'static str)> {
        match crate::wire::mirror::mirrors(&advertised.input) {
            Err(reason) if self.mirrors => Err((advertised.name, reason)),
            _ => Ok(advertised),
        }
    }

    #[cfg(not(feature = "http-client"))]
    #[expect(
        clippy::unused_self,
        clippy::unnecessary_wraps,
        reason = "only HTTP has headers"
    )]
    fn check(&self, advertised: Advertised) -> Result<Advertised, (String, &'static str)> {
        Ok(advertised)
    }

    async fn register_tools(&self, tools: Vec<(String, Tool)>) -> Registration {
        // Compiling thousands of schemas takes longer than other tasks should wait.
        let registrar = self.registrar.clone();
        let registered =
            tokio::task::spawn_blocking(move || registrar.register_healthy(tools)).await;
        match registered {
            Ok(registration) => registration,
            Err(_) => self
                .registrar
                .register_healthy(Vec::<(String, Tool)>::new()),
        }
    }
}
