//! What of a server is registered.

use std::sync::Arc;

use tool_core::{Digest, Identity, Namespace, Tool, WireName};
use tool_registry::{Registrar, Registration};

use super::advertised::Advertised;
use super::connection::Connection;
use super::declared::Declared;
use super::dressing::Dressing;
use super::line::Line;
use super::listing::Listing;
use super::told_drops::ToldDrops;
use super::trust::{Trust, Trusted};
use super::{ReadOnlyTools, RefusedTool, UpstreamState, remote};

/// The tools of one server, as they are registered. Without any until the first list.
pub(crate) struct Catalogue {
    server: Namespace,
    line: Arc<Line>,
    registrar: Registrar,
    held: Option<Held>,
    mirrors: bool,
    told: ToldDrops,
    pub(crate) trust: Trust,
    dressing: Dressing,
    believed: ReadOnlyTools,
}

struct Held {
    listing: Listing,
    registration: Registration,
    refused: Vec<RefusedTool>,
    /// Why entries of the list are not used, by their place.
    waiting: Vec<Option<String>>,
    notes: Vec<String>,
}

/// A tool that is about to be registered, by its server's own name.
type Offered = (String, Tool, Option<WireName>);

impl Catalogue {
    pub(crate) fn new(
        line: Arc<Line>,
        registrar: Registrar,
        trust: Trust,
        dressing: Dressing,
        believed: ReadOnlyTools,
    ) -> Self {
        Self {
            trust,
            server: dressing.server().clone(),
            line,
            registrar,
            held: None,
            mirrors: false,
            told: ToldDrops::default(),
            dressing,
            believed,
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

    /// What the operator should know of the tools though all goes on.
    pub(crate) fn notes(&self) -> Vec<String> {
        let notes = self.held.as_ref().map(|held| held.notes.clone());
        notes.unwrap_or_default()
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
        self.believed.replace(&self.server, []);
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
        let (mut believed, mut notes) = (Vec::new(), self.dressing.unlisted(&listing.entries));
        self.tell(&notes);
        for (entry, held) in listing.entries.iter().zip(&held) {
            let read =
                Advertised::read(entry.clone()).and_then(|advertised| self.check(advertised));
            let advertised = match read {
                Ok(advertised) => advertised,
                Err((name, reason)) => {
                    let reason = reason.to_owned();
                    refused.push(RefusedTool { name, reason });
                    continue;
                }
            };
            let name = advertised.name.clone();
            let reason = match (held, self.dressing.taken(&name)) {
                // A tool that nobody wants need not be approved.
                _ if self.dressing.is_disabled(&name) => continue,
                (Some(held), _) => Some(held.clone()),
                (None, taken) => taken,
            };
            if let Some(reason) = reason {
                refused.push(RefusedTool { name, reason });
                continue;
            }
            let gates = self.dressing.gates_of(&name);
            let digest = digest(&name);
            let (declared, mut dropped) = Declared::read(&name, advertised.declarations.as_ref());
            dropped.extend_from_slice(&advertised.too_long);
            self.told.tell(self.server.as_str(), &name, &dropped);
            self.dressing.note_dropped(&name, &dropped, &mut notes);
            let plain = remote::tool(&self.line, &self.server, advertised, digest, gates);
            let plain = declared.on(plain, |name| self.dressing.advertised(name));
            let dressed = self.dressing.dress(&name, plain);
            believed.extend(dressed.believed);
            tools.push((name, dressed.tool, dressed.advertised));
        }
        // Ahead of everything: what was listed before may not be called from here on.
        self.line.admit(callable);
        // Ahead of registering: whoever finds a tool may call it.
        if let Some(connection) = connection {
            self.line.set(Some(Arc::clone(connection)));
        }
        self.believe(believed);
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
            notes,
        });
    }

    /// Tells what is new of what an operator should know.
    fn tell(&self, notes: &[String]) {
        let told = self.held.as_ref().map(|held| held.notes.as_slice());
        let told = told.unwrap_or_default();
        for note in notes.iter().filter(|note| !told.contains(note)) {
            let server = self.server.as_str();
            tracing::warn!(server, note, "the overlay of a server is not all in force");
        }
    }

    fn believe(&self, tools: Vec<(Identity, Digest)>) {
        self.believed.replace(&self.server, tools);
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

    async fn register_tools(&self, tools: Vec<Offered>) -> Registration {
        // Compiling thousands of schemas takes longer than other tasks should wait.
        let registrar = self.registrar.clone();
        let registered =
            tokio::task::spawn_blocking(move || registrar.register_healthy_as(tools)).await;
        match registered {
            Ok(registration) => registration,
            Err(_) => self.registrar.register_healthy_as(Vec::<Offered>::new()),
        }
    }
}
