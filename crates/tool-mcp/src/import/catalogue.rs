//! What of a server is registered.

use std::sync::Arc;

use tool_core::{Namespace, Tool};
use tool_registry::{Registrar, Registration};

use super::advertised::Advertised;
use super::line::Line;
use super::listing::Listing;
use super::{RefusedTool, UpstreamState, remote};

/// The tools of one server, as they are registered. Without any until the first list.
pub(crate) struct Catalogue {
    server: Namespace,
    line: Arc<Line>,
    registrar: Registrar,
    held: Option<Held>,
    mirrors: bool,
}

struct Held {
    listing: Listing,
    registration: Registration,
    refused: Vec<RefusedTool>,
}

impl Catalogue {
    pub(crate) fn new(server: Namespace, line: Arc<Line>, registrar: Registrar) -> Self {
        Self {
            server,
            line,
            registrar,
            held: None,
            mirrors: false,
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

    /// Nobody is offered the tools any more.
    pub(crate) fn clear(&mut self) {
        self.held = None;
    }

    /// Registers a list. The new ones are in place before the old ones go.
    pub(crate) async fn register(&mut self, listing: Listing) {
        let (mut tools, mut refused) = (Vec::new(), Vec::new());
        for entry in &listing.entries {
            match Advertised::read(entry.clone()).and_then(|advertised| self.check(advertised)) {
                Ok(advertised) => tools.push(remote::tool(&self.line, &self.server, advertised)),
                Err((name, reason)) => refused.push(RefusedTool {
                    name,
                    reason: reason.to_owned(),
                }),
            }
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
        });
    }

    #[cfg(feature = "http-client")]
    fn check(&self, advertised: Advertised) -> Result<Advertised, (String, &'static str)> {
        match super::http::mirrors(&advertised.input) {
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
