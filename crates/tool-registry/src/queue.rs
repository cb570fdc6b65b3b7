//! What a running call hands out before its settlement.

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context as TaskContext, Poll, Waker};

use serde_json::Value;
use tokio::sync::Semaphore;
use tool_core::{BoxFuture, PreliminaryError, PreliminarySink, Progress, ProgressSink};

use crate::Entry;

/// Reports of progress that are kept for a consumer that does not take them; then the oldest go.
const MOST_REPORTS: usize = 256;

/// What a running call hands out before its settlement.
#[derive(Debug)]
pub(crate) enum Early {
    Progress(Progress),
    Preliminary(Value),
}

/// Holds what was handed out until it is taken, in order.
///
/// Preliminary results are as many as there are permits: the handler waits for one. Progress never
/// waits.
#[derive(Debug)]
pub(crate) struct Queue {
    state: Mutex<State>,
    room: Semaphore,
}

#[derive(Debug, Default)]
struct State {
    items: VecDeque<Early>,
    reports: usize,
    waker: Option<Waker>,
}

impl Queue {
    pub(crate) fn new(preliminaries: NonZeroUsize) -> Self {
        let permits = preliminaries.get().min(Semaphore::MAX_PERMITS);
        Self {
            state: Mutex::default(),
            room: Semaphore::new(permits),
        }
    }

    /// Takes the oldest item, or arranges to be woken by the next.
    pub(crate) fn poll_take(&self, cx: &mut TaskContext<'_>) -> Poll<Early> {
        let mut state = self.state();
        match state.items.pop_front() {
            Some(Early::Progress(progress)) => {
                state.reports -= 1;
                Poll::Ready(Early::Progress(progress))
            }
            Some(preliminary) => {
                drop(state);
                self.room.add_permits(1);
                Poll::Ready(preliminary)
            }
            None => {
                state.waker = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }

    /// Takes nothing more; a handler that waits for room is told so.
    pub(crate) fn close(&self) {
        self.room.close();
    }

    fn push(&self, item: Early) {
        let mut state = self.state();
        if matches!(item, Early::Progress(_)) {
            if state.reports == MOST_REPORTS {
                let oldest = state
                    .items
                    .iter()
                    .position(|item| matches!(item, Early::Progress(_)));
                if let Some(oldest) = oldest {
                    state.items.remove(oldest);
                    state.reports -= 1;
                }
            }
            state.reports += 1;
        }
        state.items.push_back(item);
        let waker = state.waker.take();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The handler's end of a [`Queue`] for progress.
pub(crate) struct Reports(pub(crate) Arc<Queue>);

impl ProgressSink for Reports {
    fn report(&self, progress: Progress) {
        self.0.push(Early::Progress(progress));
    }
}

/// The handler's end of a [`Queue`] for preliminary results, which must fit the output schema.
pub(crate) struct Preliminaries {
    pub(crate) queue: Arc<Queue>,
    pub(crate) entry: Arc<Entry>,
}

impl PreliminarySink for Preliminaries {
    fn offer(&self, value: Value) -> BoxFuture<'_, Result<(), PreliminaryError>> {
        Box::pin(async move {
            if self
                .entry
                .output
                .as_ref()
                .is_some_and(|schema| !schema.is_valid(&value))
            {
                return Err(PreliminaryError::Mismatch);
            }
            let permit = self
                .queue
                .room
                .acquire()
                .await
                .map_err(|_| PreliminaryError::Settled)?;
            // Given back when the result is taken, not when this returns.
            permit.forget();
            self.queue.push(Early::Preliminary(value));
            Ok(())
        })
    }
}
