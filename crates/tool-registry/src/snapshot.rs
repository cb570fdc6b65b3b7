//! What one model request sees.

use std::sync::{Arc, Weak};

use tool_core::{
    Arguments, Call, CallId, Definition, Event, EventKind, Facts, Outcome, Refusal, Settlement,
    Suspension,
};

use crate::catalog::Catalog;
use crate::pipeline::announce;
use crate::services::Services;
use crate::{Batch, Entry, Resolution, Settling, Turn, strict_json};

/// What one model request sees: the tools that were registered when it was taken, and nothing
/// that was registered, replaced or dropped since. Clones are cheap and the same.
#[derive(Clone, Debug)]
pub struct Snapshot {
    pub(crate) catalog: Arc<Catalog>,
}

/// Tells snapshots apart by the tools that they show, and keeps none of them alive.
///
/// Two are equal only if their snapshots show the same tools: clones of one, and snapshots between
/// which nothing was registered, replaced or dropped.
#[derive(Clone, Debug)]
pub struct SnapshotId(Weak<Catalog>);

impl PartialEq for SnapshotId {
    fn eq(&self, other: &Self) -> bool {
        Weak::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for SnapshotId {}

impl SnapshotId {
    /// Whether a snapshot that has it may still be somewhere. One that is not is never taken again.
    #[must_use]
    pub fn is_live(&self) -> bool {
        self.0.strong_count() > 0
    }
}

impl Snapshot {
    pub(crate) fn new(catalog: Arc<Catalog>) -> Self {
        Self { catalog }
    }

    /// What its calls use.
    pub(crate) fn services(&self) -> &Arc<Services> {
        &self.catalog.services
    }

    /// Which tools it shows, for noticing that a later snapshot shows the same.
    #[must_use]
    pub fn id(&self) -> SnapshotId {
        SnapshotId(Arc::downgrade(&self.catalog))
    }

    /// The tools, sorted by wire name.
    #[must_use]
    pub fn entries(&self) -> impl ExactSizeIterator<Item = &Entry> {
        self.catalog.entries().iter().map(|entry| &**entry)
    }

    /// The definitions to advertise, sorted by wire name. The same registrations give the same
    /// bytes, in any order of registering and in any process.
    #[must_use]
    pub fn definitions(&self) -> impl ExactSizeIterator<Item = &Definition> {
        self.entries().map(Entry::definition)
    }

    /// The tool of a wire name.
    #[must_use]
    pub fn get(&self, wire_name: &str) -> Option<&Entry> {
        self.catalog.get(wire_name).map(|entry| &**entry)
    }

    /// Settles one call. Await the result, or set something on it first.
    ///
    /// # Cancel safety
    /// Dropping it, or its future, cancels the call: the handler's future is dropped, its child
    /// processes are gone, and nothing is published.
    #[inline]
    pub fn settle(&self, call: Call, facts: &Facts) -> Settling {
        Settling::new(self.clone(), call, facts.clone())
    }

    /// Settles a batch: one settlement for each call, in the order of the calls.
    ///
    /// Calls run beside each other, at most as many as the registry allows and as their
    /// [`Concurrency`](tool_core::Concurrency) does. A call that is refused or fails stops none of
    /// its siblings.
    ///
    /// # Cancel safety
    /// Dropping the future cancels every call that has not settled.
    pub async fn settle_all(
        &self,
        calls: impl IntoIterator<Item = Call>,
        facts: &Facts,
    ) -> Vec<Settlement> {
        self.batch(calls, facts).settle().await
    }

    /// A batch, to set something on it or to take its events as they come.
    pub fn batch(&self, calls: impl IntoIterator<Item = Call>, facts: &Facts) -> Batch {
        Batch::new(self.clone(), calls.into_iter().collect(), facts.clone())
    }

    /// One model response, whose calls are settled while it streams in.
    pub fn turn(&self, facts: &Facts) -> Turn {
        Turn::new(self.clone(), facts.clone())
    }

    /// Goes on with a suspended call. Everything is checked anew: the seal, the date, the caller,
    /// that it was not decided before, the tool, its definition, the arguments, and policy, which
    /// may deny by now. The first decision counts; a later one is refused.
    ///
    /// The call may be suspended again, at another gate. Hooks on requests and before calls have
    /// their say again: a snapshot that shows the tool under another name, or a hook that makes
    /// other arguments of the call, refuses it. The caller is the same when session, agent and
    /// identity are; message and run may be others.
    ///
    /// # Cancel safety
    /// When the future is dropped the decision may have been recorded though nothing ran: a call
    /// runs at most once.
    pub fn resume(
        &self,
        suspension: Suspension,
        resolution: impl Into<Resolution>,
        facts: &Facts,
    ) -> Settling {
        Settling::resumed(self.clone(), suspension, resolution.into(), facts.clone())
    }

    /// Refuses a call that does not begin, as what brought it was turned away, and tells whoever
    /// receives events: so that it is on record as any other is. No stage and no hook sees it.
    ///
    /// What it is told as was received: the definition, and arguments that are JSON of values.
    pub fn refuse(&self, call: Call, facts: &Facts, refusal: Refusal) {
        let services = self.services();
        let number = services.next_number();
        let (id, name, arguments) = call.into_parts();
        if let (Some(_), Some(entry)) = (number, self.get(&name)) {
            let spoken = match arguments {
                Arguments::Text(text) => strict_json::parse(&text).ok(),
                Arguments::Value(value) => strict_json::hold(*value).ok(),
                _ => None,
            };
            let spoken = spoken.map(|read| read.value);
            let received = EventKind::Received {
                identity: entry.identity(),
                definition: entry.digest(),
                arguments: spoken.as_ref(),
            };
            let event = Event::new(id.as_ref(), &name, facts, received);
            services.emit(&event.number(number));
        }
        let settlement = self.without_output(id, name.into(), Outcome::Refused(refusal));
        announce(services, facts, number, &settlement);
    }

    /// The settlement of a call that gave nothing, with what is known of its tool.
    pub(crate) fn without_output(
        &self,
        call: Option<CallId>,
        tool: String,
        outcome: Outcome,
    ) -> Settlement {
        let mut settlement = Settlement::without_output(call, tool, outcome);
        self.identify(&mut settlement);
        settlement
    }

    /// Says of a settlement what is known of its tool.
    pub(crate) fn identify(&self, settlement: &mut Settlement) {
        if let Some(entry) = self.get(&settlement.tool) {
            settlement.identity = Some(entry.identity().clone());
            settlement.failure_mode = entry.tool().declarations().failure_mode;
        }
    }
}
