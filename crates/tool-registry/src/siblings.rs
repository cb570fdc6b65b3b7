//! Calls that are settled beside each other.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use futures_core::Stream;
use tool_core::{Call, Facts, Settlement};

use crate::batch::Turnstile;
use crate::stop::Stop;
use crate::{Approvals, Door, SettlementEvent, Settling, Snapshot};

/// What the calls of one batch or of one turn have in common.
#[derive(Debug)]
pub(crate) struct Siblings {
    pub(crate) snapshot: Snapshot,
    pub(crate) facts: Facts,
    pub(crate) approvals: Approvals,
    /// How many of them run beside each other.
    pub(crate) limit: NonZeroUsize,
    pub(crate) timeout: Option<Duration>,
    pub(crate) stop: Arc<Stop>,
    turnstile: Arc<Turnstile>,
}

impl Siblings {
    pub(crate) fn new(snapshot: Snapshot, facts: Facts) -> Self {
        let limit = snapshot.services().batch_concurrency;
        Self {
            snapshot,
            facts,
            approvals: Approvals::default(),
            limit,
            timeout: None,
            stop: Stop::by_person(),
            turnstile: Arc::default(),
        }
    }

    /// Settles one of them.
    pub(crate) fn settle(&self, call: Call) -> impl Future<Output = Settlement> + Send + use<> {
        let (settling, stop) = (self.settling(call), Arc::clone(&self.stop));
        async move { stop.settle(settling).await }
    }

    /// The same as a stream.
    pub(crate) fn events(&self, call: Call) -> impl Stream<Item = SettlementEvent> + Send + use<> {
        self.stop.events(self.settling(call))
    }

    fn settling(&self, call: Call) -> Settling {
        let settling = Settling::new(self.snapshot.clone(), call, self.facts.clone())
            .door(Door::Model)
            .approvals(self.approvals)
            .turnstile(Arc::clone(&self.turnstile));
        match self.timeout {
            Some(timeout) => settling.timeout(timeout),
            None => settling,
        }
    }
}
