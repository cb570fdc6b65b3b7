//! What all stages of one call share.

use std::sync::Arc;

use tool_core::{Arguments, CallId, Event, EventKind, Facts, Outcome, Settlement, Stage};

use super::unseen::Unseen;
use crate::decision::Gating;
use crate::host::Host;
use crate::services::Services;
use crate::{Door, Snapshot};

/// What all stages of one call share.
pub(crate) struct Run<'a> {
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) services: &'a Services,
    pub(crate) facts: &'a Facts,
    /// The name and arguments as they were delivered, where a suspension may need them.
    pub(crate) delivered: Option<Box<(String, Arguments)>>,
    pub(crate) door: Door,
    pub(crate) gating: &'a mut Gating,
    pub(crate) host: &'a Arc<Host>,
    pub(crate) unseen: Unseen,
    /// The settlement in the making. Its tool is the name as called, and from resolving on the
    /// wire name; it has its id at the end.
    pub(crate) settlement: &'a mut Settlement,
}

impl Run<'_> {
    /// The id of the call, where it has one.
    pub(crate) fn id(&self) -> Option<&CallId> {
        self.host.call.as_ref()
    }

    /// The name of the tool.
    pub(crate) fn name(&self) -> &str {
        &self.settlement.tool
    }

    /// Ends the call so, without what it may have produced.
    pub(crate) fn end(&mut self, outcome: Outcome) {
        self.settlement.end_without_output(outcome);
        if self.settlement.identity.is_none() {
            self.snapshot.identify(self.settlement);
        }
    }

    /// Says that a stage begins.
    #[inline]
    pub(crate) fn stage(&self, stage: Stage) {
        self.tell(|| EventKind::Stage(stage));
    }

    /// Tells an event, if anybody listens.
    #[inline]
    pub(crate) fn tell<'e>(&'e self, kind: impl FnOnce() -> EventKind<'e>) {
        if self.services.events.is_some() {
            self.emit(kind);
        }
    }

    /// Apart from where it is told, as an event is large and most stages are not.
    #[inline(never)]
    fn emit<'e>(&'e self, kind: impl FnOnce() -> EventKind<'e>) {
        let event = Event::new(self.id(), self.name(), self.facts, kind());
        self.services.emit(&event.number(self.host.number));
    }
}
