//! State that lives as long as the process.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use tool_core::{BoxFuture, State, StateError};

/// State in memory: forgotten when the process ends, and not shared with another.
///
/// A key is kept until its moment and is dropped by a later claim, so what is kept is bounded by
/// what was claimed and has not expired.
#[derive(Debug, Default)]
pub struct MemoryState {
    claimed: Mutex<HashMap<String, SystemTime>>,
}

impl State for MemoryState {
    fn claim<'a>(
        &'a self,
        key: &'a str,
        until: SystemTime,
    ) -> BoxFuture<'a, Result<bool, StateError>> {
        let mut claimed = self.claimed.lock().unwrap_or_else(PoisonError::into_inner);
        // What expires is refused by its own date, so forgetting it lets nothing through.
        let earliest = until.checked_sub(KEEP).unwrap_or(SystemTime::UNIX_EPOCH);
        claimed.retain(|_, until| *until >= earliest);
        let first = claimed.insert(key.to_owned(), until).is_none();
        drop(claimed);
        Box::pin(async move { Ok(first) })
    }
}

/// How long a key is kept at least, counted back from the newest moment that was claimed until.
const KEEP: std::time::Duration = std::time::Duration::from_secs(31 * 24 * 60 * 60);
