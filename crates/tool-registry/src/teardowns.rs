//! Cleanups that wait for the end of a run, of a session or of everything, and those that are due.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use tool_core::{
    CallId, Cleanup, Digest, Event, EventKind, EventSink, Facts, Registered, TeardownEnd,
    TeardownReport, WireName,
};

use crate::contained::{awaited, contained};
use crate::within::within;

/// How long one cleanup may take.
const BUDGET: Duration = Duration::from_secs(5);
/// Cleanups of dropped calls that are kept until somebody asks for them; then the oldest go.
const MOST_DUE: usize = 1_024;

/// The cleanups of one registry that outlive their calls.
#[derive(Default)]
pub(crate) struct Teardowns {
    ledger: Mutex<Ledger>,
}

#[derive(Default)]
struct Ledger {
    scopes: HashMap<Scope, Cleanups>,
    /// Scopes so far, to tell which is older.
    opened: u64,
    /// Cleanups whose scope has ended and that nobody has run.
    due: VecDeque<Pending>,
}

/// What outlives a call, told apart from everything else that does: a run or a session by whose it
/// is as well, as another tenant's may have the same id.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Scope {
    Run(Digest),
    Session(Digest),
    Shutdown,
}

impl Scope {
    /// The run of a caller who says which it is.
    pub(crate) fn run(facts: &Facts) -> Option<Self> {
        let run = facts.run_id()?;
        Some(Self::Run(owned(facts, run.as_str())))
    }

    /// The session of a caller who says which it is.
    pub(crate) fn session(facts: &Facts) -> Option<Self> {
        let session = facts.session_id()?;
        Some(Self::Session(owned(facts, session.as_str())))
    }
}

/// An id together with whose it is. An absent part is not an empty one.
fn owned(facts: &Facts, id: &str) -> Digest {
    let identity = facts.identification();
    let parts = [
        identity.and_then(|identity| identity.tenant.as_deref()),
        identity.and_then(|identity| identity.principal.as_deref()),
        Some(id),
    ];
    let parts = parts.map(|part| part.map_or(["-", ""], |part| ["+", part]));
    Digest::of_parts(parts.as_flattened())
}

/// The cleanups of one scope, in the order of registering.
#[derive(Default)]
pub(crate) struct Cleanups {
    pending: Vec<Pending>,
    times: HashMap<(WireName, Digest), usize>,
    opened: u64,
}

/// A cleanup, and what is told of it.
pub(crate) struct Pending {
    tool: WireName,
    call: Option<CallId>,
    facts: Facts,
    key: Digest,
    cleanup: Cleanup,
}

impl Pending {
    /// A cleanup of a call. Its key is kept as a digest only.
    pub(crate) fn new(
        tool: WireName,
        call: Option<CallId>,
        facts: Facts,
        key: &str,
        cleanup: Cleanup,
    ) -> Self {
        Self {
            tool,
            call,
            facts,
            key: Digest::of(key.as_bytes()),
            cleanup,
        }
    }
}

impl Cleanups {
    /// Adds a cleanup, unless its tool has one of that key here: then it is given back, to be
    /// dropped where no lock is held.
    pub(crate) fn add(&mut self, pending: Pending) -> (Registered, Option<Pending>) {
        let times = self
            .times
            .entry((pending.tool.clone(), pending.key))
            .or_default();
        *times += 1;
        if *times > 1 {
            return (Registered::Reused { times: *times }, Some(pending));
        }
        self.pending.push(pending);
        (Registered::New, None)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }
}

impl Teardowns {
    pub(crate) fn register(&self, scope: Scope, pending: Pending) -> Registered {
        let (registered, _unused) = {
            let mut ledger = self.ledger();
            ledger.opened += 1;
            let opened = ledger.opened;
            let cleanups = ledger.scopes.entry(scope).or_default();
            if cleanups.is_empty() {
                cleanups.opened = opened;
            }
            cleanups.add(pending)
        };
        registered
    }

    /// Runs what is due, and then the cleanups of a scope.
    pub(crate) async fn end(&self, scope: Option<&Scope>, told: &Told<'_>) -> Vec<TeardownReport> {
        let due = std::mem::take(&mut self.ledger().due);
        let mut reports = self.run(due.into(), None, told).await;
        // Not before what is due has run: what is taken out and not run is due as well.
        let ended = scope.and_then(|scope| self.ledger().scopes.remove(scope));
        if let Some(ended) = ended {
            reports.extend(self.run_all_of(ended, told).await);
        }
        reports
    }

    /// Runs every cleanup that is left: what is due, then runs and sessions, the newest first, and
    /// those of the shutdown last.
    pub(crate) async fn shut_down(&self, told: &Told<'_>) -> Vec<TeardownReport> {
        let mut reports = self.end(None, told).await;
        let mut scopes: Vec<_> = {
            let ledger = self.ledger();
            let open = ledger.scopes.iter();
            open.map(|(scope, cleanups)| (scope.clone(), cleanups.opened))
                .collect()
        };
        // Looked up once: what a cleanup registers anew waits for another shutdown.
        scopes.sort_by_key(|(scope, opened)| {
            (matches!(scope, Scope::Shutdown), std::cmp::Reverse(*opened))
        });
        for (scope, _) in scopes {
            reports.extend(self.end(Some(&scope), told).await);
        }
        reports
    }

    /// Runs the cleanups of one scope that has ended, the one registered last first.
    pub(crate) async fn run_all_of(
        &self,
        cleanups: Cleanups,
        told: &Told<'_>,
    ) -> Vec<TeardownReport> {
        let mut pending = cleanups.pending;
        pending.reverse();
        self.run(pending, None, told).await
    }

    /// The same for a call that is late: its settlement waits for what begins within the time of one
    /// cleanup and for no more. The rest is due.
    pub(crate) async fn run_some_of(&self, cleanups: Cleanups, told: &Told<'_>) {
        let mut pending = cleanups.pending;
        pending.reverse();
        let last = Instant::now() + BUDGET;
        self.run(pending, Some(last), told).await;
    }

    /// Runs cleanups one after the other, of which none begins after the last moment. One that has
    /// begun has the whole of its time.
    async fn run(
        &self,
        pending: Vec<Pending>,
        last: Option<Instant>,
        told: &Told<'_>,
    ) -> Vec<TeardownReport> {
        let mut reports = Vec::with_capacity(pending.len());
        let mut left = Left {
            teardowns: self,
            told,
            pending: pending.into(),
        };
        while last.is_none_or(|last| Instant::now() < last)
            && let Some(next) = left.pending.pop_front()
        {
            let Pending {
                tool,
                call,
                facts,
                key,
                cleanup,
            } = next;
            let running = pin!(awaited(async move { cleanup().await }));
            let end = match within(BUDGET, running).await {
                Some(Some(())) => TeardownEnd::Done,
                Some(None) => TeardownEnd::Panicked,
                None => TeardownEnd::Abandoned,
            };
            let report = TeardownReport::new(tool.as_str(), key, end);
            told.tell(call.as_ref(), &facts, &report);
            reports.push(report);
        }
        reports
    }

    /// Keeps cleanups whose scope has ended until somebody runs them. Beyond the bound the oldest
    /// are dropped, and that is told.
    pub(crate) fn put_off(&self, pending: impl IntoIterator<Item = Pending>, told: &Told<'_>) {
        let mut discarded = Vec::new();
        {
            let mut ledger = self.ledger();
            ledger.due.extend(pending);
            let over = ledger.due.len().saturating_sub(MOST_DUE);
            discarded.extend(ledger.due.drain(..over));
        }
        // Not under the lock: what a cleanup holds may use the registry when it is dropped.
        for pending in discarded {
            let end = TeardownEnd::Discarded;
            let report = TeardownReport::new(pending.tool.as_str(), pending.key, end);
            told.tell(pending.call.as_ref(), &pending.facts, &report);
            contained(|| drop(pending));
        }
    }

    /// Keeps the cleanups of one scope that has ended.
    pub(crate) fn put_off_all_of(&self, cleanups: Cleanups, told: &Told<'_>) {
        let newest_first = cleanups.pending.into_iter().rev();
        self.put_off(newest_first, told);
    }

    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Cleanups that are being run. What is left when that ends or is given up is due later.
struct Left<'t> {
    teardowns: &'t Teardowns,
    told: &'t Told<'t>,
    pending: VecDeque<Pending>,
}

impl Drop for Left<'_> {
    fn drop(&mut self) {
        if !self.pending.is_empty() {
            let pending = std::mem::take(&mut self.pending);
            self.teardowns.put_off(pending, self.told);
        }
    }
}

/// Who is told of cleanups.
pub(crate) struct Told<'s>(pub(crate) Option<&'s Arc<dyn EventSink>>);

impl Told<'_> {
    fn tell(&self, call: Option<&CallId>, facts: &Facts, report: &TeardownReport) {
        if let Some(events) = self.0 {
            let kind = EventKind::TornDown(report);
            contained(|| events.emit(&Event::new(call, &report.tool, facts, kind)));
        }
    }
}

impl fmt::Debug for Teardowns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Teardowns(..)")
    }
}
