//! Calls that are not started because of how another one ended.

use std::fmt;
use std::future::ready;
use std::sync::{Arc, OnceLock};

use futures_util::future::{Either, FutureExt as _};
use futures_util::stream::{self, BoxStream, StreamExt as _};
use tool_core::{CallId, Facts, Outcome, Refusal, Settlement};

use crate::contained::contained;
use crate::pipeline::announce;
use crate::{SettlementEvent, Settling, Snapshot};

/// What a host says of a settlement: whether it stops.
type When = Box<dyn Fn(&Settlement) -> bool + Send + Sync>;

/// Which settlements stop the calls that have not begun, and whether one has.
///
/// A person who said so stops them whatever the host says.
pub(crate) struct Stop {
    when: Option<When>,
    /// The id of the call that did, where it has one.
    by: OnceLock<Option<CallId>>,
}

impl Stop {
    /// Nothing stops but a person.
    pub(crate) fn by_person() -> Arc<Self> {
        Arc::new(Self {
            when: None,
            by: OnceLock::new(),
        })
    }

    pub(crate) fn when(stops: impl Fn(&Settlement) -> bool + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self {
            when: Some(Box::new(stops)),
            by: OnceLock::new(),
        })
    }

    /// Settles a call, unless another has stopped it before it began.
    pub(crate) async fn settle(&self, settling: Settling) -> Settlement {
        match self.left_out(&settling) {
            Some(settlement) => settlement,
            None => {
                let settlement = settling.await;
                self.note(&settlement);
                settlement
            }
        }
    }

    /// The same as a stream.
    pub(crate) fn events(
        self: &Arc<Self>,
        settling: Settling,
    ) -> BoxStream<'static, SettlementEvent> {
        let stop = Arc::clone(self);
        let events = async move {
            match stop.left_out(&settling) {
                Some(settlement) => {
                    let settled = SettlementEvent::Settled(Box::new(settlement));
                    Either::Left(stream::once(ready(settled)))
                }
                None => Either::Right(settling.stream().inspect(move |event| {
                    if let SettlementEvent::Settled(settlement) = event {
                        stop.note(settlement);
                    }
                })),
            }
        };
        events.flatten_stream().boxed()
    }

    /// The settlement of a call that may not begin any more.
    fn left_out(&self, settling: &Settling) -> Option<Settlement> {
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
    fn note(&self, settlement: &Settlement) {
        let stops = || match &self.when {
            _ if matches!(
                settlement.outcome,
                Outcome::Refused(Refusal::Stopped { .. })
            ) =>
            {
                true
            }
            None => false,
            Some(when) => contained(|| when(settlement)).unwrap_or(true),
        };
        if self.by.get().is_none() && stops() {
            let _ = self.by.set(settlement.call.clone());
        }
    }
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
