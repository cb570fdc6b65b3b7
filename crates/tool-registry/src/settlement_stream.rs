//! One call as a stream.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll};

use futures_core::Stream;
use tool_core::{BoxFuture, Output, Progress, Settlement};

use crate::queue::{Early, Queue};
use crate::services::Services;

/// What a call hands out while it runs, and at last its settlement.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum SettlementEvent {
    /// The handler reported progress.
    Progress(Progress),
    /// A result that comes before the final one. It is no part of history.
    Preliminary(Output),
    /// The settlement. The last event, exactly one.
    Settled(Box<Settlement>),
}

/// One call as a stream: what the handler hands out, in its order, then exactly one settlement.
///
/// The call runs while the stream is polled and at no other time. A consumer that does not take
/// preliminary results makes the handler wait; reports of progress never do, of which the newest
/// 256 are kept.
///
/// # Cancel safety
/// Dropping the stream cancels the call wherever it is, also while its handler waits for room. A
/// task that the handler started and that waits for room is told that the call has settled.
#[must_use = "nothing runs until it is polled"]
pub struct SettlementStream {
    services: Arc<Services>,
    queue: Arc<Queue>,
    call: Option<BoxFuture<'static, Settlement>>,
    settled: Option<Settlement>,
    /// What was taken since the call had its turn.
    in_a_row: usize,
}

/// What is taken one after the other before the call has its turn, as a task that reports without
/// end would else hold up its handler and the handler's deadline.
const MOST_IN_A_ROW: usize = 64;

impl SettlementStream {
    pub(crate) fn new(
        services: Arc<Services>,
        queue: Arc<Queue>,
        call: BoxFuture<'static, Settlement>,
    ) -> Self {
        Self {
            services,
            queue,
            call: Some(call),
            settled: None,
            in_a_row: 0,
        }
    }
}

impl From<Early> for SettlementEvent {
    fn from(early: Early) -> Self {
        match early {
            Early::Progress(progress) => Self::Progress(progress),
            Early::Preliminary(value) => Self::Preliminary(value),
        }
    }
}

impl Stream for SettlementStream {
    type Item = SettlementEvent;

    fn poll_next(self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<Option<SettlementEvent>> {
        let this = self.get_mut();
        loop {
            // Once the call has ended, nothing more is handed out, and the rest comes first.
            let may_take = this.in_a_row < MOST_IN_A_ROW || this.call.is_none();
            if !may_take && this.in_a_row == MOST_IN_A_ROW {
                // In a task that never gives way, no timer of its runtime goes on.
                this.in_a_row += 1;
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            if may_take && let Poll::Ready(early) = this.queue.poll_take(cx) {
                this.in_a_row += 1;
                return Poll::Ready(Some(early.into()));
            }
            if let Some(settlement) = this.settled.take() {
                this.queue.unread.seen();
                return Poll::Ready(Some(SettlementEvent::Settled(Box::new(settlement))));
            }
            let Some(call) = &mut this.call else {
                return Poll::Ready(None);
            };
            this.in_a_row = 0;
            match call.as_mut().poll(cx) {
                Poll::Ready(settlement) => {
                    this.call = None;
                    this.queue.close();
                    // What was handed out before comes first.
                    this.settled = Some(settlement);
                }
                Poll::Pending => {
                    // The handler may have handed something out in this very poll.
                    return this.queue.poll_take(cx).map(|early| Some(early.into()));
                }
            }
        }
    }
}

impl Drop for SettlementStream {
    fn drop(&mut self) {
        // A task that outlives the handler may wait for room.
        self.queue.abandon();
        if let Some(unseen) = &self.settled {
            self.services.forget(unseen);
        }
        self.queue.unread.forget();
    }
}

impl fmt::Debug for SettlementStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SettlementStream").finish_non_exhaustive()
    }
}
