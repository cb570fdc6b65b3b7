//! What all stages of one call share.

use std::sync::Arc;

use tool_core::{CallId, Event, EventKind, Facts, ProgressSink, Stage};

use crate::Door;
use crate::batch::Turnstile;
use crate::services::Services;

/// What all stages of one call share.
pub(crate) struct Run<'a> {
    pub(crate) services: &'a Services,
    pub(crate) facts: &'a Facts,
    pub(crate) id: Option<CallId>,
    /// The name as called, and from resolving on the wire name of the tool.
    pub(crate) name: String,
    pub(crate) door: Door,
    pub(crate) progress: Option<Arc<dyn ProgressSink>>,
    pub(crate) turnstile: Option<&'a Turnstile>,
}

impl Run<'_> {
    /// Says that a stage begins.
    pub(crate) fn stage(&self, stage: Stage) {
        self.tell(|| EventKind::Stage(stage));
    }

    /// Tells an event, if anybody listens.
    pub(crate) fn tell<'e>(&'e self, kind: impl FnOnce() -> EventKind<'e>) {
        if let Some(events) = &self.services.events {
            events.emit(&Event::new(
                self.id.as_ref(),
                &self.name,
                self.facts,
                kind(),
            ));
        }
    }
}
