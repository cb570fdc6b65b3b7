//! Many calls at once.

use std::collections::HashMap;
use std::fmt;
use std::num::NonZeroUsize;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context as TaskContext, Poll};
use std::time::Duration;

use futures_core::Stream;
use futures_util::{StreamExt as _, stream};
use serde_json::Value;
use tokio::sync::{
    Mutex as AsyncMutex, OwnedMutexGuard, OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock,
};
use tool_core::{Call, Concurrency, Facts, Identity, Settlement, canonical_json};

use crate::services::Services;
use crate::siblings::{Common, Siblings};
use crate::{Approvals, Entry, SettlementEvent, Snapshot};

/// A tool, and the canonical value of its concurrency key.
type Key = (Identity, String);

/// A batch of calls on its way: await all settlements, or take the events as they come.
///
/// Calls begin in their order and run beside each other, at most as many as the limit and as their
/// [`Concurrency`] allows. A call that is refused or fails stops none of its siblings, unless the
/// host says so with [`stop_when`](Self::stop_when).
///
/// ```
/// use futures_util::StreamExt as _;
/// use tool_core::{Call, Facts};
/// use tool_registry::{Registry, SettlementEvent};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let request = Registry::default().snapshot();
/// let calls = ["read", "list"].map(|name| Call::new(name, "{}"));
/// let mut events = request.batch(calls, &Facts::new()).stream();
/// let mut settled = 0;
/// while let Some((position, event)) = events.next().await {
///     if let SettlementEvent::Settled(settlement) = event {
///         assert_eq!(settlement.tool, ["read", "list"][position]);
///         settled += 1;
///     }
/// }
/// assert_eq!(settled, 2);
/// # }
/// ```
#[must_use = "nothing runs until it is awaited or polled"]
#[derive(Debug)]
pub struct Batch {
    siblings: Siblings,
    calls: Vec<Call>,
}

/// Events of a batch, each with the position of its call, in the order in which they happen. Every
/// position settles exactly once. Dropping the stream cancels what has not settled.
#[must_use = "nothing runs until it is polled"]
pub struct BatchStream(Pin<Box<dyn Stream<Item = (usize, SettlementEvent)> + Send>>);

impl Batch {
    pub(crate) fn new(snapshot: Snapshot, calls: Vec<Call>, facts: Facts) -> Self {
        Self {
            siblings: Siblings::new(snapshot, facts),
            calls,
        }
    }

    /// Sets how many calls run beside each other, questions to policy and to people included.
    /// Defaults to the registry's limit.
    pub fn concurrency(mut self, calls: NonZeroUsize) -> Self {
        self.siblings.limit = calls;
        self
    }

    /// Sets what happens to questions that policy or a tool leaves open. Defaults to
    /// [`Approvals::Inline`].
    pub fn approvals(mut self, approvals: Approvals) -> Self {
        self.siblings.approvals = approvals;
        self
    }

    /// Ends each call that long after it was first polled, its wait for other calls and questions
    /// to people included. No limit by default; the tools' own timeouts hold besides.
    /// Cleanups of a call that is late run as with [`Settling::timeout`](crate::Settling::timeout).
    ///
    /// A batch with a limit must be awaited inside a tokio runtime with time enabled.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.siblings.timeout = Some(timeout);
        self
    }

    /// Says which settlements stop the batch: calls that have begun go on, and every other is
    /// settled as [`NotDispatched`](tool_core::Outcome::NotDispatched) by the first call that did.
    /// By default only a person does who says so ([`Refusal::Stopped`](tool_core::Refusal::Stopped)), and
    /// then whatever is said here.
    ///
    /// With a [concurrency](Self::concurrency) of one those are exactly the calls after it. A
    /// predicate that panics stops.
    ///
    /// ```
    /// use std::num::NonZeroUsize;
    ///
    /// use tool_core::{Call, Facts, Outcome};
    /// use tool_registry::Registry;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let request = Registry::default().snapshot();
    /// let calls = ["c1", "c2"].map(|id| Call::new("missing", "{}").id(id));
    /// let settled = request
    ///     .batch(calls, &Facts::new())
    ///     .concurrency(NonZeroUsize::MIN)
    ///     .stop_when(|settlement| settlement.is_error())
    ///     .settle()
    ///     .await;
    /// let Outcome::NotDispatched { stopped_by } = &settled[1].outcome else { panic!() };
    /// assert_eq!(stopped_by.as_ref().map(|id| id.as_str()), Some("c1"));
    /// # }
    /// ```
    pub fn stop_when(
        mut self,
        stops: impl Fn(&Settlement) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.siblings.stop_when(stops);
        self
    }

    /// Takes the events as they happen.
    ///
    /// # Cancel safety
    /// Dropping the stream cancels every call that has not settled.
    pub fn stream(self) -> BatchStream {
        let Self { siblings, calls } = self;
        let streams = calls.into_iter().enumerate().map(|(position, call)| {
            let events = siblings.events(call);
            events.map(move |event| (position, event))
        });
        let streams: Vec<_> = streams.collect();
        let limit = siblings.limit.get();
        BatchStream(Box::pin(
            stream::iter(streams).flat_map_unordered(limit, |stream| stream),
        ))
    }

    /// Waits for all: one settlement for each call, in the order of the calls.
    ///
    /// # Cancel safety
    /// Dropping the future cancels every call that has not settled.
    pub async fn settle(self) -> Vec<Settlement> {
        let Self { siblings, calls } = self;
        let mut unseen = Unseen {
            services: Arc::clone(siblings.snapshot.services()),
            common: Arc::clone(&siblings.common),
            settled: Vec::with_capacity(calls.len()),
        };
        let limit = siblings.limit.get();
        let settling = calls.into_iter().enumerate().map(move |(position, call)| {
            let settling = siblings.settle(call);
            async move { (position, settling.await) }
        });
        let mut settling = stream::iter(settling).buffer_unordered(limit);
        while let Some(settled) = settling.next().await {
            unseen.settled.push(settled);
        }
        unseen.common.unread.seen();
        let mut settled = std::mem::take(&mut unseen.settled);
        settled.sort_unstable_by_key(|(position, _)| *position);
        settled
            .into_iter()
            .map(|(_, settlement)| settlement)
            .collect()
    }
}

/// Settlements that nobody has seen yet. When the batch is dropped nobody will.
struct Unseen {
    services: Arc<Services>,
    common: Arc<Common>,
    settled: Vec<(usize, Settlement)>,
}

impl Drop for Unseen {
    fn drop(&mut self) {
        for (_, settlement) in &self.settled {
            self.services.forget(settlement);
        }
        self.common.unread.forget();
    }
}

impl Stream for BatchStream {
    type Item = (usize, SettlementEvent);

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<Option<Self::Item>> {
        self.0.as_mut().poll_next(cx)
    }
}

impl fmt::Debug for BatchStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BatchStream(..)")
    }
}

/// Lets the handlers of one batch run beside each other as their classes allow.
#[derive(Debug, Default)]
pub(crate) struct Turnstile {
    /// Read by calls that run beside others, written by calls that run alone.
    alone: Arc<RwLock<()>>,
    keys: Mutex<HashMap<Key, Arc<AsyncMutex<()>>>>,
}

/// The leave to run now.
pub(crate) enum Turn {
    Alone(#[expect(dead_code, reason = "held, not read")] OwnedRwLockWriteGuard<()>),
    Beside(
        #[expect(dead_code, reason = "held, not read")] OwnedRwLockReadGuard<()>,
        #[expect(dead_code, reason = "held, not read")] Option<OwnedMutexGuard<()>>,
    ),
}

impl Turnstile {
    /// Waits until a call may run.
    pub(crate) async fn enter(&self, entry: &Entry, arguments: &Value) -> Turn {
        let class = &entry.tool().declarations().concurrency;
        let key = match class {
            Concurrency::Exclusive => {
                return Turn::Alone(Arc::clone(&self.alone).write_owned().await);
            }
            Concurrency::ByKey(_) => {
                // Waited for before the turnstile itself: who waits for a key holds nobody up.
                let key = class.key(arguments).map(canonical_json).unwrap_or_default();
                Some(self.key(entry.identity().clone(), key).lock_owned().await)
            }
            _ => None,
        };
        Turn::Beside(Arc::clone(&self.alone).read_owned().await, key)
    }

    fn key(&self, identity: Identity, key: String) -> Arc<AsyncMutex<()>> {
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(keys.entry((identity, key)).or_default())
    }
}
