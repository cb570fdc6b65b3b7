//! Waiting for what must come, and no longer than it may take.

use std::time::{Duration, Instant};

/// Far more than anything here takes on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(90);

/// Looks again and again until there is something to see.
#[track_caller]
pub(crate) fn until<T>(what: &str, look: impl FnMut() -> Option<T>) -> T {
    match within(PATIENCE, look) {
        Some(seen) => seen,
        None => panic!("{what}: not within {PATIENCE:?}"),
    }
}

/// What was seen in time, if anything was.
pub(crate) fn within<T>(patience: Duration, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let deadline = Instant::now() + patience;
    loop {
        let seen = look();
        if seen.is_some() || Instant::now() >= deadline {
            return seen;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}
