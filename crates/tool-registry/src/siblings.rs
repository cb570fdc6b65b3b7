//! Calls that are settled beside each other.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use futures_core::Stream;
use futures_util::future::{Either, FutureExt as _, ready};
use futures_util::stream::{self, StreamExt as _};
use tool_core::{Call, Facts, Settlement};

use crate::batch::Turnstile;
use crate::placed::Unread;
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
    pub(crate) common: Arc<Common>,
}

/// What the calls of one batch or of one turn share while they run.
#[derive(Debug, Default)]
pub(crate) struct Common {
    pub(crate) stop: Stop,
    pub(crate) turnstile: Turnstile,
    /// Of settlements that are given out together.
    pub(crate) unread: Unread,
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
            common: Arc::default(),
        }
    }

    /// Says which settlements stop them.
    pub(crate) fn stop_when(
        &mut self,
        stops: impl Fn(&Settlement) -> bool + Send + Sync + 'static,
    ) {
        self.common = Arc::new(Common {
            stop: Stop::when(stops),
            ..Common::default()
        });
    }

    /// Settles one of them, unless another has stopped it before it began.
    pub(crate) fn settle(&self, call: Call) -> impl Future<Output = Settlement> + Send + use<> {
        let (settling, common) = (self.settling(call), Arc::clone(&self.common));
        async move {
            match common.stop.left_out(&settling) {
                Some(settlement) => settlement,
                None => {
                    let settlement = settling.await;
                    common.stop.note(&settlement);
                    settlement
                }
            }
        }
    }

    /// The same as a stream.
    pub(crate) fn events(&self, call: Call) -> impl Stream<Item = SettlementEvent> + Send + use<> {
        let (settling, common) = (self.settling(call), Arc::clone(&self.common));
        let events = async move {
            match common.stop.left_out(&settling) {
                Some(settlement) => {
                    let settled = SettlementEvent::Settled(Box::new(settlement));
                    Either::Left(stream::once(ready(settled)))
                }
                None => Either::Right(settling.stream().inspect(move |event| {
                    if let SettlementEvent::Settled(settlement) = event {
                        common.stop.note(settlement);
                    }
                })),
            }
        };
        events.flatten_stream().boxed()
    }

    fn settling(&self, call: Call) -> Settling {
        let settling = Settling::new(self.snapshot.clone(), call, self.facts.clone())
            .door(Door::Model)
            .approvals(self.approvals)
            .beside(Arc::clone(&self.common));
        match self.timeout {
            Some(timeout) => settling.timeout(timeout),
            None => settling,
        }
    }
}
