//! State that lives as long as the process.

use std::collections::{BTreeSet, HashSet};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use tool_core::{BoxFuture, State, StateError};

/// State in memory: forgotten when the process ends, and not shared with another.
///
/// A key is kept until its moment has passed and is dropped by a later claim, so what is kept is
/// bounded by what was claimed and has not expired. A claim costs the same however many keys are
/// kept. When the clock goes backwards, a key that may have been forgotten counts as claimed.
pub struct MemoryState {
    clock: Arc<dyn Fn() -> SystemTime + Send + Sync>,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    keys: HashSet<Arc<str>>,
    by_moment: BTreeSet<(SystemTime, Arc<str>)>,
    /// The latest moment of a key that was forgotten.
    forgotten: Option<SystemTime>,
}

impl MemoryState {
    /// State that tells by this clock what has passed.
    pub fn with_clock(clock: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        Self {
            clock: Arc::new(clock),
            kept: Mutex::default(),
        }
    }
}

impl Default for MemoryState {
    /// State by the system's clock.
    fn default() -> Self {
        Self::with_clock(SystemTime::now)
    }
}

impl State for MemoryState {
    fn claim<'a>(
        &'a self,
        key: &'a str,
        until: SystemTime,
    ) -> BoxFuture<'a, Result<bool, StateError>> {
        let now = (self.clock)();
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let first = kept.claim(key, until, now);
        drop(kept);
        Box::pin(async move { Ok(first) })
    }
}

impl Kept {
    fn claim(&mut self, key: &str, until: SystemTime, now: SystemTime) -> bool {
        while let Some(oldest) = self.by_moment.first()
            && oldest.0 <= now
            && let Some((moment, key)) = self.by_moment.pop_first()
        {
            self.keys.remove(&key);
            self.forgotten = self.forgotten.max(Some(moment));
        }
        if self.forgotten >= Some(until) || self.keys.contains(key) {
            return false;
        }
        let key: Arc<str> = key.into();
        self.keys.insert(Arc::clone(&key));
        self.by_moment.insert((until, key));
        true
    }
}

impl fmt::Debug for MemoryState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MemoryState(..)")
    }
}
