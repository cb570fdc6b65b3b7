//! What a running call hands out before its settlement.

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context as TaskContext, Poll, Waker};

use tokio::sync::Semaphore;
use tool_core::{Output, PreliminaryError, Progress, ProgressSink};

use crate::placed::Unread;

/// Reports of progress that are kept for a consumer that does not take them; then the oldest go.
const MOST_REPORTS: usize = 256;

/// What a running call hands out before its settlement.
#[derive(Debug)]
pub(crate) enum Early {
    Progress(Progress),
    Preliminary(Output),
}

/// Holds what was handed out until it is taken, in order.
///
/// Preliminary results are as many as there are permits: the handler waits for one. Progress never
/// waits.
#[derive(Debug)]
pub(crate) struct Queue {
    state: Mutex<State>,
    room: Semaphore,
    /// Of the settlement, until it is taken as well.
    pub(crate) unread: Unread,
}

/// Both sorts wait apart, each with its number, so that dropping a report costs the same however
/// many results wait.
#[derive(Debug, Default)]
struct State {
    next: u64,
    reports: VecDeque<(u64, Progress)>,
    preliminaries: VecDeque<(u64, Output)>,
    waker: Option<Waker>,
    closed: bool,
}

impl Queue {
    pub(crate) fn new(preliminaries: NonZeroUsize) -> Self {
        let permits = preliminaries.get().min(Semaphore::MAX_PERMITS);
        Self {
            state: Mutex::default(),
            room: Semaphore::new(permits),
            unread: Unread::default(),
        }
    }

    /// Takes the oldest item, or arranges to be woken by the next.
    pub(crate) fn poll_take(&self, cx: &mut TaskContext<'_>) -> Poll<Early> {
        let mut state = self.state();
        let report = state.reports.front().map(|(number, _)| *number);
        let preliminary = state.preliminaries.front().map(|(number, _)| *number);
        let report_is_next = match (report, preliminary) {
            (Some(report), Some(preliminary)) => report < preliminary,
            (report, _) => report.is_some(),
        };
        if report_is_next {
            if let Some((_, progress)) = state.reports.pop_front() {
                return Poll::Ready(Early::Progress(progress));
            }
        } else if let Some((_, value)) = state.preliminaries.pop_front() {
            drop(state);
            self.room.add_permits(1);
            return Poll::Ready(Early::Preliminary(value));
        }
        state.waker = Some(cx.waker().clone());
        Poll::Pending
    }

    /// Takes nothing more, from whichever thread; a handler that waits for room is told so.
    pub(crate) fn close(&self) {
        self.state().closed = true;
        self.room.close();
    }

    /// Closes, and lets go of what nobody will take any more.
    pub(crate) fn abandon(&self) {
        self.close();
        let left = {
            let mut state = self.state();
            let State {
                reports,
                preliminaries,
                ..
            } = &mut *state;
            (std::mem::take(reports), std::mem::take(preliminaries))
        };
        // Outside of the lock.
        drop(left);
    }

    /// Takes a preliminary result as soon as there is room.
    pub(crate) async fn offer(&self, value: Output) -> Result<(), PreliminaryError> {
        let permit = self.room.acquire().await;
        let permit = permit.map_err(|_| PreliminaryError::Settled)?;
        // Given back when the result is taken, not when this returns.
        permit.forget();
        self.push(|state, number| state.preliminaries.push_back((number, value)))
            .ok_or(PreliminaryError::Settled)
    }

    fn report(&self, progress: Progress) {
        self.push(|state, number| {
            if state.reports.len() == MOST_REPORTS {
                state.reports.pop_front();
            }
            state.reports.push_back((number, progress));
        });
    }

    /// Puts something in. `None` when nothing is taken any more.
    fn push(&self, put: impl FnOnce(&mut State, u64)) -> Option<()> {
        let mut state = self.state();
        if state.closed {
            return None;
        }
        state.next += 1;
        let number = state.next;
        put(&mut state, number);
        let waker = state.waker.take();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
        Some(())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The handler's end of a [`Queue`] for progress.
pub(crate) struct Reports(pub(crate) Arc<Queue>);

impl ProgressSink for Reports {
    fn report(&self, progress: Progress) {
        self.0.report(progress);
    }
}
