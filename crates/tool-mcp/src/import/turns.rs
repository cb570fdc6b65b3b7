//! Calls of one server that may not run beside each other.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use serde_json::Value;
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};
use tool_core::{Concurrency, canonical_json};

/// The turns of calls of one server's tools, whoever makes them: what the classes of its tools are
/// to the calls of a gateway, as each call of a client is a batch of its own.
///
/// There is a lane for each tool, or for each value of its key, as long as anybody is in it.
#[derive(Default)]
pub(crate) struct Turns(Mutex<HashMap<Lane, Weak<AsyncMutex<()>>>>);

/// The server's own name of a tool, and the key of a call.
type Lane = (Arc<str>, String);

/// The turn of a call. The next one's begins when it is dropped.
pub(crate) struct Turn {
    // Dropped ahead of the place in the lane.
    _running: OwnedMutexGuard<()>,
    _waiting: Waiting,
}

/// A place in a lane, which goes with the last one.
struct Waiting {
    turns: Arc<Turns>,
    lane: Lane,
    lock: Option<Arc<AsyncMutex<()>>>,
}

impl Turns {
    /// Waits until a call may run. `None` for a class whose calls run beside each other.
    ///
    /// # Cancel safety
    /// A dropped future waits no more and holds nobody up; the others keep their order.
    pub(crate) async fn enter(
        self: &Arc<Self>,
        tool: &Arc<str>,
        class: &Concurrency,
        arguments: &Value,
    ) -> Option<Turn> {
        let key = match class {
            Concurrency::Exclusive => String::new(),
            // Calls without a value there are all the same.
            Concurrency::ByKey(_) => class.key(arguments).map(canonical_json).unwrap_or_default(),
            _ => return None,
        };
        let waiting = Waiting::of(self, (Arc::clone(tool), key));
        let lock = waiting.lock.clone()?;
        Some(Turn {
            _running: lock.lock_owned().await,
            _waiting: waiting,
        })
    }

    fn lanes(&self) -> MutexGuard<'_, HashMap<Lane, Weak<AsyncMutex<()>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting {
    fn of(turns: &Arc<Turns>, lane: Lane) -> Self {
        let mut lanes = turns.lanes();
        let there = lanes.entry(lane.clone()).or_default();
        let lock = there.upgrade().unwrap_or_else(|| {
            let lock = Arc::default();
            *there = Arc::downgrade(&lock);
            lock
        });
        drop(lanes);
        Self {
            turns: Arc::clone(turns),
            lane,
            lock: Some(lock),
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        // Nobody enters a lane meanwhile, so that who leaves it last is seen to be the last.
        let mut lanes = self.turns.lanes();
        self.lock = None;
        if lanes
            .get(&self.lane)
            .is_some_and(|lane| lane.strong_count() == 0)
        {
            lanes.remove(&self.lane);
        }
    }
}

#[cfg(test)]
mod tests;
