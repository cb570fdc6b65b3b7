//! A registry that allows everything, with what the suite wants to find.

use std::sync::Arc;

use tool_core::{
    BoxFuture, Decision, NobodyToAsk, Permission, Policy, PolicyError, Request, Ruling, Source,
};
use tool_mcp::{OfferEvent, OfferKind, Server};
use tool_registry::{Registration, Registry};

use crate::offers::Fixtures;
use crate::{inputs, tools};

/// What is served, for as long as it is held.
pub(crate) struct Served {
    pub(crate) server: Server,
    _registration: Registration,
}

struct Anything;

impl Policy for Anything {
    fn decide<'a>(
        &'a self,
        _request: &'a Request<'a>,
    ) -> BoxFuture<'a, Result<Ruling, PolicyError>> {
        Box::pin(async { Ok(Ruling::new(Decision::Allow, "it is a fixture")) })
    }
}

pub(crate) fn served() -> Result<Served, Box<dyn std::error::Error>> {
    let permission = Permission::new(Anything, NobodyToAsk);
    let registry = Registry::builder().permission(permission).build();
    let fixtures = Fixtures::default();
    let mut all = tools::tools();
    all.extend(inputs::tools());
    // A tool that comes and goes again changes the list, twice.
    let extras = registry.registrar(Source::Host);
    all.push((
        "test_trigger_tool_change",
        tools::changes("Changes the list of tools", move || {
            let coming = tools::says("Comes and goes", "here");
            drop(extras.register([("test_extra", coming)]));
        }),
    ));
    let events = fixtures.events.clone();
    all.push((
        "test_trigger_prompt_change",
        tools::changes("Says that the list of prompts has changed", move || {
            events.send(OfferEvent::Changed(OfferKind::Prompt));
        }),
    ));
    let registration = registry.register(all)?;
    let server = Server::new(registry)
        .implementation("tool-mcp-conformance", env!("CARGO_PKG_VERSION"))
        .offerings(Arc::new(fixtures));
    Ok(Served {
        server,
        _registration: registration,
    })
}
