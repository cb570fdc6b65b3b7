//! What the handler of one call reaches of the registry.

mod credentials;
mod dispatch;

use std::any::Any;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tool_core::{
    ArtifactStore, Bound, BoxFuture, CallHost, CallId, CallState, Cancellation, Cleanup,
    Credentials, Dispatch, Event, EventKind, Facts, Identity, Output, OutputSink, PreliminaryError,
    PreliminarySink, Progress, ProgressSink, Registered, Source, StoreError, Teardown,
    TeardownError, TeardownScope,
};

use crate::catalog::{Place, Position};
use crate::nesting::{dismantle, is_flat};
use crate::placed::Unread;
use crate::queue::Queue;
use crate::siblings::Common;
use crate::teardowns::{Cleanups, Pending, Scope};
use crate::{Door, Entry, Snapshot};

/// One call: who makes it and what its handler reaches of the registry through its context. One
/// object, which all stages read, so that a call makes one and shares nothing twice.
pub(crate) struct Host {
    pub(crate) snapshot: Snapshot,
    /// The tool, from resolving on.
    entry: Place,
    pub(crate) facts: Facts,
    pub(crate) call: Option<CallId>,
    /// Which call of the registry, where anybody is told of it.
    pub(crate) number: Option<u64>,
    pub(crate) door: Door,
    listener: Option<Arc<dyn ProgressSink>>,
    early: Option<Arc<Queue>>,
    /// What it shares with the other calls of its batch or turn.
    pub(crate) common: Option<Arc<Common>>,
    pub(crate) state: CallState,
    /// Inner calls so far, to give each an id of its own.
    inner_calls: AtomicU64,
    cleanups: Mutex<CallScope>,
    /// Whether there is anything in the scope of the call to be ended.
    used: AtomicBool,
}

/// The cleanups of the call itself.
#[derive(Default)]
struct CallScope {
    registered: Option<Box<Cleanups>>,
    ended: bool,
    /// Tells inner calls that the handler has ended. Made by the first of them.
    over: Option<Cancellation>,
}

impl Host {
    pub(crate) fn new(
        snapshot: Snapshot,
        facts: Facts,
        call: Option<CallId>,
        door: Door,
        listener: Option<Arc<dyn ProgressSink>>,
        early: Option<Arc<Queue>>,
        common: Option<Arc<Common>>,
    ) -> Self {
        Self {
            number: snapshot.services().next_number(),
            snapshot,
            entry: Place::default(),
            facts,
            call,
            door,
            listener,
            early,
            common,
            state: CallState::default(),
            inner_calls: AtomicU64::new(0),
            cleanups: Mutex::default(),
            used: AtomicBool::new(false),
        }
    }

    /// Says which tool it is.
    pub(crate) fn resolved(&self, position: Position) {
        self.entry.set(position);
    }

    /// The tool, once it is found.
    pub(crate) fn entry(&self) -> Option<&Arc<Entry>> {
        self.snapshot.catalog.at(self.entry.get()?)
    }

    /// Says that nobody waits for the handler any more.
    pub(crate) fn release(self: &Arc<Self>) {
        self.state.settle();
        // Without a context left there is nobody who could ask.
        if Arc::strong_count(self) > 1 || self.state.is_watched() {
            self.state.cancel();
        }
    }

    /// Who gives out the settlement of the call, where that is not done at once.
    pub(crate) fn unread(&self) -> Option<&Unread> {
        match (&self.early, &self.common) {
            (Some(queue), _) => Some(&queue.unread),
            (None, Some(common)) => Some(&common.unread),
            (None, None) => None,
        }
    }

    /// Ends the scope of the call: no cleanup can be registered any more, and those that are run.
    /// Of a call that is late those that have not begun soon are due later.
    ///
    /// # Cancel safety
    /// When the future is dropped, what has not run is due later.
    pub(crate) fn clean_up(self: &Arc<Self>, is_late: bool) -> Option<BoxFuture<'_, ()>> {
        let cleanups = self.end()?;
        let services = self.snapshot.services();
        // On the heap, as few calls have anything to clean up.
        Some(Box::pin(async move {
            let (teardowns, told) = (&services.teardowns, services.told());
            if is_late {
                teardowns.run_some_of(*cleanups, &told).await;
            } else {
                teardowns.run_all_of(*cleanups, &told).await;
            }
        }))
    }

    /// Leaves what the call registered to whoever ends a scope next: nobody waits for this call.
    fn leave(self: &Arc<Self>) {
        if let Some(cleanups) = self.end() {
            let services = self.snapshot.services();
            let teardowns = &services.teardowns;
            teardowns.put_off_all_of(*cleanups, &services.told());
        }
    }

    fn end(self: &Arc<Self>) -> Option<Box<Cleanups>> {
        if Arc::strong_count(self) == 1 {
            // Nobody else is left to register anything; what somebody did is seen from here on.
            fence(Ordering::Acquire);
            if !self.used.load(Ordering::Relaxed) {
                return None;
            }
        }
        let (cleanups, over) = {
            let mut scope = self.call_scope();
            scope.ended = true;
            (scope.registered.take(), scope.over.take())
        };
        if let Some(over) = over {
            over.cancel();
        }
        cleanups
    }

    /// The signal that the handler has ended.
    fn over(&self) -> Cancellation {
        let mut scope = self.call_scope();
        self.used.store(true, Ordering::Relaxed);
        let over = scope.over.get_or_insert_default().clone();
        if scope.ended {
            over.cancel();
        }
        over
    }

    fn call_scope(&self) -> MutexGuard<'_, CallScope> {
        self.cleanups.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where artifacts of this call are kept, if it may hold any.
    pub(crate) fn kept_in(&self) -> Option<&dyn ArtifactStore> {
        let artifacts = self.snapshot.services().artifacts.as_deref();
        artifacts.filter(|_| self.door.redeems_artifacts())
    }

    /// Tells an event of the call.
    pub(crate) fn tell(&self, kind: EventKind<'_>) {
        let tool = self.entry().map_or("", |entry| entry.wire_name().as_str());
        let event = Event::new(self.call.as_ref(), tool, &self.facts, kind);
        self.snapshot.services().emit(&event.number(self.number));
    }

    /// Tells what happens when the call is over, as an event that names no call.
    pub(crate) fn tell_beside(&self, kind: EventKind<'_>) {
        let event = Event::new(None, "", &self.facts, kind);
        self.snapshot.services().emit(&event);
    }

    /// Tells what the handler meets while it runs. A task of its that outlives the call is told of
    /// nowhere: the settlement is the last that is heard of a call, but for cleanups that run after
    /// it ([`EventKind::TornDown`]).
    pub(crate) fn tell_met(&self, kind: EventKind<'_>) {
        if !self.state.is_settled() {
            self.tell(kind);
        }
    }
}

/// A call for as long as somebody waits for it.
pub(crate) struct Hosted<'h>(pub(crate) &'h Arc<Host>);

impl Hosted<'_> {
    /// The call has come to its end.
    pub(crate) fn ended(self) {
        self.0.leave();
        std::mem::forget(self);
    }
}

impl Drop for Hosted<'_> {
    fn drop(&mut self) {
        self.0.leave();
        self.0.tell(EventKind::Dropped);
    }
}

impl CallHost for Host {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn state(&self) -> &CallState {
        &self.state
    }

    fn call_id(&self) -> Option<&CallId> {
        self.call.as_ref()
    }

    fn tool(&self) -> Option<&Identity> {
        Some(self.entry()?.identity())
    }

    fn source(&self) -> Option<&Source> {
        Some(self.entry()?.source())
    }

    fn wire_name(&self) -> Option<&str> {
        Some(self.entry()?.wire_name().as_str())
    }

    fn artifacts(&self) -> Option<&dyn ArtifactStore> {
        Some(self)
    }

    fn keeps_artifacts(&self) -> bool {
        self.kept_in().is_some()
    }

    fn progress(&self) -> Option<&dyn ProgressSink> {
        let heard = self.listener.is_some() || self.snapshot.services().events.is_some();
        heard.then_some(self)
    }

    fn preliminary(&self) -> Option<&dyn PreliminarySink> {
        self.early.is_some().then_some(self)
    }

    fn dispatch(&self) -> Option<&dyn Dispatch> {
        self.door.dispatches().then_some(self)
    }

    fn teardown(&self) -> Option<&dyn Teardown> {
        Some(self)
    }

    fn credentials(&self) -> Option<&dyn Credentials> {
        Some(self)
    }

    fn output_bound(&self) -> Option<Bound> {
        self.streams_over()
    }

    fn stream_output(&self, bound: Bound) -> Result<Option<Box<dyn OutputSink>>, StoreError> {
        self.stream(bound)
    }

    fn tell(&self, kind: EventKind<'_>) {
        self.tell_met(kind);
    }
}

impl ProgressSink for Host {
    fn report(&self, progress: Progress) {
        self.tell_met(EventKind::Progress(&progress));
        if let Some(listener) = &self.listener {
            listener.report(progress);
        }
    }
}

impl PreliminarySink for Host {
    fn encode(&self, output: &dyn Any) -> Option<Result<Output, PreliminaryError>> {
        let executor = self.entry()?.tool().executor();
        executor.encode_preliminary(output)
    }

    fn offer(&self, value: Output) -> BoxFuture<'_, Result<(), PreliminaryError>> {
        Box::pin(async move {
            let Some(queue) = &self.early else {
                return Ok(());
            };
            if !is_flat(&value) {
                dismantle(value.into_value());
                return Err(PreliminaryError::Mismatch);
            }
            let schema = self.entry().and_then(|entry| entry.output.as_ref());
            if schema.is_some_and(|schema| !schema.takes(&value)) {
                return Err(PreliminaryError::Mismatch);
            }
            queue.offer(value).await
        })
    }
}

impl Teardown for Host {
    fn scopes(&self) -> &[TeardownScope] {
        self.door.teardown_scopes()
    }

    fn register(
        &self,
        scope: TeardownScope,
        key: &str,
        cleanup: Cleanup,
    ) -> Result<Registered, TeardownError> {
        let honoured = self.door.teardown_scopes();
        if !honoured.contains(&scope) {
            return Err(TeardownError::NotHonoured {
                scope,
                honoured: honoured.to_vec(),
            });
        }
        let entry = self.entry().ok_or(TeardownError::Ended { scope })?;
        let pending = Pending::new(
            entry.wire_name().clone(),
            self.call.clone(),
            self.facts.clone(),
            key,
            cleanup,
        );
        let outlives = match scope {
            TeardownScope::Call => {
                let (registered, _unused) = {
                    let mut call = self.call_scope();
                    if call.ended {
                        return Err(TeardownError::Ended { scope });
                    }
                    self.used.store(true, Ordering::Relaxed);
                    call.registered.get_or_insert_default().add(pending)
                };
                return Ok(registered);
            }
            TeardownScope::Run => Scope::run(&self.facts),
            TeardownScope::Session => Scope::session(&self.facts),
            TeardownScope::Shutdown => Some(Scope::Shutdown),
        };
        let outlives = outlives.ok_or(TeardownError::NoKey { scope })?;
        let teardowns = &self.snapshot.services().teardowns;
        Ok(teardowns.register(outlives, pending))
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Host(..)")
    }
}
