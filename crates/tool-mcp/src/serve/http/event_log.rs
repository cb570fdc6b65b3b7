//! Messages of one stream of events, kept until they are read, or longer.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use axum::body::Bytes;
use futures_core::Stream;
use tokio::time::{Instant, Interval, MissedTickBehavior};
use tokio_util::sync::DropGuard;

use crate::serve::outlet::Gone;
use crate::wire::Message;

/// Messages that may wait for a client, and bytes in all of them. Beyond, the oldest that answers
/// nothing is lost.
const MOST_EVENTS: usize = 1_024;
const MOST_BYTES: usize = 64 * 1024 * 1024;
/// How long nothing is sent before something is, so that nobody on the way gives the stream up.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Messages of one stream of events.
pub(crate) struct EventLog {
    /// Of the stream, where its events can be asked for again.
    name: Option<u64>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    events: VecDeque<Event>,
    bytes: usize,
    last: u64,
    /// The number of the last event that was handed to a reader.
    read: u64,
    /// Of the reader that is the present one.
    reader: u64,
    closed: bool,
    waker: Option<Waker>,
    /// When the client took something last.
    taken: Option<Instant>,
    closed_at: Option<Instant>,
}

struct Event {
    number: u64,
    answers: bool,
    json: Bytes,
}

impl EventLog {
    /// Messages that are told once.
    pub(crate) fn once() -> Self {
        Self::named(None)
    }

    /// Messages that can be asked for again under the name of their stream.
    pub(crate) fn kept(name: u64) -> Self {
        Self::named(Some(name))
    }

    fn named(name: Option<u64>) -> Self {
        Self {
            name,
            state: Mutex::default(),
        }
    }

    pub(crate) fn push(&self, message: &Message) -> Result<(), Gone> {
        let json = serde_json::to_vec(message).map_err(|_| Gone)?;
        let mut state = self.state();
        if state.closed {
            return Err(Gone);
        }
        state.last += 1;
        state.bytes += json.len();
        let event = Event {
            number: state.last,
            answers: message.is_answer(),
            json: json.into(),
        };
        state.events.push_back(event);
        while state.events.len() > MOST_EVENTS || state.bytes > MOST_BYTES {
            let oldest = state.events.iter().position(|event| !event.answers);
            let Some(lost) = oldest.and_then(|at| state.events.remove(at)) else {
                break;
            };
            state.bytes -= lost.json.len();
        }
        state.wake();
        Ok(())
    }

    /// No more will come.
    pub(crate) fn close(&self) {
        self.state().close();
    }

    /// The same where nothing was told; else it stays open. What is told from then on is an error
    /// to whoever tells it, as nobody reads it.
    #[must_use]
    pub(crate) fn close_untold(&self) -> bool {
        let mut state = self.state();
        let untold = state.events.is_empty();
        if untold {
            state.close();
        }
        untold
    }

    /// When the client took something last. What is told and not taken is no sign of it.
    pub(crate) fn taken(&self) -> Option<Instant> {
        self.state().taken
    }

    /// Since when nothing more comes though not all of it was taken, and its bytes.
    pub(crate) fn untaken(&self) -> Option<(Instant, usize)> {
        let state = self.state();
        let since = state.closed_at.filter(|_| state.read < state.last)?;
        Some((since, state.bytes))
    }

    /// Bytes of what is kept once it is all told. `None` before.
    pub(crate) fn kept_bytes(&self) -> Option<usize> {
        let state = self.state();
        (state.closed && state.read == state.last).then_some(state.bytes)
    }

    /// Under which name it can be asked for again.
    pub(crate) fn name(&self) -> Option<u64> {
        self.name
    }

    /// Resolves once there is something to tell.
    pub(crate) fn poll_told(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.state();
        if !state.events.is_empty() {
            return Poll::Ready(());
        }
        let waker = state.waker.as_ref();
        if !waker.is_some_and(|waker| waker.will_wake(cx.waker())) {
            state.waker = Some(cx.waker().clone());
        }
        Poll::Pending
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn close(&mut self) {
        self.closed = true;
        self.closed_at.get_or_insert_with(Instant::now);
        self.wake();
    }

    fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

/// One reader of a stream. A later one takes the stream over.
pub(crate) struct Events {
    log: Arc<EventLog>,
    reader: u64,
    /// The number of the last event that was told.
    told: u64,
    primed: bool,
    alive: Interval,
    /// Given when the reader goes, where its request goes with it.
    _gone: Option<DropGuard>,
}

impl Events {
    /// Goes on after an event that the client has, or with what was told to nobody.
    ///
    /// A primed stream begins with an event that holds nothing but its number, so that the client
    /// can come back even if nothing else reaches it.
    pub(crate) fn of(
        log: Arc<EventLog>,
        after: Option<u64>,
        primed: bool,
        gone: Option<DropGuard>,
    ) -> Self {
        let (reader, told) = {
            let mut state = log.state();
            state.reader += 1;
            // Whoever read until now comes to its end.
            state.wake();
            (state.reader, after.unwrap_or(state.read))
        };
        let mut alive = tokio::time::interval_at(Instant::now() + KEEP_ALIVE, KEEP_ALIVE);
        alive.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self {
            log,
            reader,
            told,
            primed: !primed,
            alive,
            _gone: gone,
        }
    }
}

impl Stream for Events {
    type Item = Result<Bytes, std::convert::Infallible>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        let log = Arc::clone(&this.log);
        let mut state = log.state();
        if state.reader != this.reader {
            return Poll::Ready(None);
        }
        if !this.primed {
            this.primed = true;
            if let Some(name) = log.name {
                let event = format!("id: {name}-{}\ndata:\n\n", this.told);
                return Poll::Ready(Some(Ok(event.into())));
            }
        }
        let told = this.told;
        let next = state.events.iter().find(|event| event.number > told);
        if let Some(event) = next {
            let mut text = Vec::with_capacity(event.json.len() + 32);
            if let Some(name) = log.name {
                text.extend(format!("id: {name}-{}\n", event.number).into_bytes());
            }
            text.extend_from_slice(b"data: ");
            text.extend_from_slice(&event.json);
            text.extend_from_slice(b"\n\n");
            this.told = event.number;
            state.read = state.read.max(this.told);
            state.taken = Some(Instant::now());
            if log.name.is_none() {
                let told = this.told;
                while state
                    .events
                    .front()
                    .is_some_and(|event| event.number <= told)
                {
                    if let Some(event) = state.events.pop_front() {
                        state.bytes -= event.json.len();
                    }
                }
            }
            this.alive.reset();
            return Poll::Ready(Some(Ok(text.into())));
        }
        if state.closed {
            return Poll::Ready(None);
        }
        state.waker = Some(cx.waker().clone());
        drop(state);
        match this.alive.poll_tick(cx) {
            Poll::Ready(_) => Poll::Ready(Some(Ok(Bytes::from_static(b":\n\n")))),
            Poll::Pending => Poll::Pending,
        }
    }
}
