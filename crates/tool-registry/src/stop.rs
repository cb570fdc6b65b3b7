//! Calls that are not started because of how another one ended.

use std::fmt;
use std::sync::OnceLock;

use tool_core::{CallId, Facts, Outcome, Refusal, Settlement};

use crate::contained::contained;
use crate::pipeline::announce;
use crate::{Settling, Snapshot};

/// What a host says of a settlement: whether it stops.
type When = Box<dyn Fn(&Settlement) -> bool + Send + Sync>;

/// Which settlements stop the calls that have not begun, and whether one has.
///
/// A person who said so stops them whatever the host says, and by default nothing else does.
#[derive(Default)]
pub(crate) struct Stop {
    when: Option<When>,
    /// The id of the call that did, where it has one.
    by: OnceLock<Option<CallId>>,
}

impl Stop {
    pub(crate) fn when(stops: impl Fn(&Settlement) -> bool + Send + Sync + 'static) -> Self {
        Self {
            when: Some(Box::new(stops)),
            by: OnceLock::new(),
        }
    }

    /// The settlement of a call that may not begin any more.
    pub(crate) fn left_out(&self, settling: &Settling) -> Option<Settlement> {
        let stopped_by = self.by.get()?.clone();
        let call = &settling.call;
        Some(unrun(
            &settling.snapshot,
            &settling.facts,
            call.call_id().cloned(),
            call.name(),
            Outcome::NotDispatched { stopped_by },
        ))
    }

    /// The first that stops is the one that is named. A predicate that panics stops.
    pub(crate) fn note(&self, settlement: &Settlement) {
        let stops = || match &self.when {
            _ if is_by_person(settlement) => true,
            None => false,
            Some(when) => contained(|| when(settlement)).unwrap_or(true),
        };
        if self.by.get().is_none() && stops() {
            let _ = self.by.set(settlement.call.clone());
        }
    }

    /// Of a call that another one made. Only a person stops by it, and it is the outer one, which
    /// others know, that is named.
    pub(crate) fn note_inner(&self, settlement: &Settlement, outer: Option<&CallId>) {
        if is_by_person(settlement) {
            let _ = self.by.set(outer.cloned());
        }
    }
}

fn is_by_person(settlement: &Settlement) -> bool {
    matches!(
        settlement.outcome,
        Outcome::Refused(Refusal::Stopped { .. })
    )
}

impl fmt::Debug for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stop")
            .field("by", &self.by.get())
            .finish_non_exhaustive()
    }
}

/// The settlement of a call that did not run to its end, told to whoever receives events.
pub(crate) fn unrun(
    snapshot: &Snapshot,
    facts: &Facts,
    id: Option<CallId>,
    name: &str,
    outcome: Outcome,
) -> Settlement {
    let settlement = snapshot.without_output(id, name.to_owned(), outcome);
    announce(snapshot.services(), facts, None, &settlement);
    settlement
}
