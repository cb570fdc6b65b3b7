//! What all stages of one call share.

use std::sync::Arc;

use tool_core::{Arguments, CallId, Event, EventKind, Facts, ProgressSink, Stage};

use super::unseen::Unseen;
use crate::batch::Turnstile;
use crate::decision::Gating;
use crate::host::Hosted;
use crate::queue::Queue;
use crate::services::Services;
use crate::{Door, Snapshot};

/// What all stages of one call share.
pub(crate) struct Run<'a> {
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) services: &'a Services,
    pub(crate) facts: &'a Facts,
    pub(crate) id: Option<CallId>,
    /// The name as called, and from resolving on the wire name of the tool.
    pub(crate) name: String,
    /// The name and arguments as they were delivered, where a suspension may need them.
    pub(crate) delivered: Option<(String, Arguments)>,
    /// The arguments that ran, where a hook may want to see them.
    pub(crate) spoken: Option<serde_json::Value>,
    pub(crate) door: Door,
    pub(crate) gating: Gating,
    pub(crate) progress: Option<Arc<dyn ProgressSink>>,
    pub(crate) early: Option<Arc<Queue>>,
    pub(crate) turnstile: Option<Arc<Turnstile>>,
    pub(crate) hosted: Hosted,
    pub(crate) unseen: Unseen,
}

impl Run<'_> {
    /// Says that a stage begins.
    pub(crate) fn stage(&self, stage: Stage) {
        self.tell(|| EventKind::Stage(stage));
    }

    /// Tells an event, if anybody listens.
    pub(crate) fn tell<'e>(&'e self, kind: impl FnOnce() -> EventKind<'e>) {
        if self.services.events.is_some() {
            let event = Event::new(self.id.as_ref(), &self.name, self.facts, kind());
            self.services.emit(&event);
        }
    }
}
