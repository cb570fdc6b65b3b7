//! State that lives as long as the process.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use tool_core::{BoxFuture, State, StateError, StateReading, StateVersion};

/// State in memory: forgotten when the process ends, and not shared with another.
///
/// A key is kept until its moment has passed and is dropped by a later claim, so what is kept is
/// bounded by what was claimed and has not expired. A claim costs the same however many keys are
/// kept. When the clock goes backwards, a key that may have been forgotten counts as claimed.
pub struct MemoryState {
    clock: Arc<dyn Fn() -> SystemTime + Send + Sync>,
    kept: Mutex<Kept>,
    values: Mutex<Values>,
}

#[derive(Default)]
struct Values {
    written: u64,
    by_key: HashMap<String, (StateVersion, Vec<u8>)>,
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
            values: Mutex::default(),
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

    fn read<'a>(
        &'a self,
        key: &'a str,
        known: Option<&'a StateVersion>,
    ) -> BoxFuture<'a, Result<StateReading, StateError>> {
        Box::pin(async move {
            let values = self.values.lock().unwrap_or_else(PoisonError::into_inner);
            Ok(match values.by_key.get(key) {
                None => StateReading::Absent,
                Some((version, _)) if Some(version) == known => StateReading::Unchanged,
                Some((version, value)) => StateReading::Value(value.clone(), version.clone()),
            })
        })
    }

    fn write<'a>(
        &'a self,
        key: &'a str,
        expected: Option<&'a StateVersion>,
        value: &'a [u8],
    ) -> BoxFuture<'a, Result<Option<StateVersion>, StateError>> {
        Box::pin(async move {
            let mut values = self.values.lock().unwrap_or_else(PoisonError::into_inner);
            if values.by_key.get(key).map(|(version, _)| version) != expected {
                return Ok(None);
            }
            values.written += 1;
            let version = StateVersion::new(values.written.to_string());
            let entry = (version.clone(), value.to_vec());
            values.by_key.insert(key.to_owned(), entry);
            Ok(Some(version))
        })
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
