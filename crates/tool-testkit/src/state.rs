//! What every [`State`] promises.

mod between;
mod claims;
mod values;

use std::time::{Duration, SystemTime};

use tool_core::{State, StateReading, StateVersion};

use crate::report::{Failed, Report};

pub use crate::report::Verdict;
pub use between::{Between, Fault, Operation};

/// Opens the states that the suite runs on.
///
/// Cases that race run on threads of their own, each of which drives what it is given to its end
/// without a runtime: a state whose futures need one wraps them.
pub trait StateHarness: Send + Sync {
    /// The state.
    type State: State + 'static;

    /// Opens a state of its own for each call, with nothing in it.
    fn open(&self) -> Self::State;

    /// A second handle on what a state keeps, as another process would have one. By default there
    /// is none, and the cases that need it are not applicable.
    fn reopen(&self, state: &Self::State) -> Option<Self::State> {
        let _ = state;
        None
    }

    /// The time by which the states go.
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }

    /// Cases that do not hold, each with the reason. One that holds all the same is stale, and a
    /// name that is no case of the suite fails.
    fn declared(&self) -> Vec<(&'static str, &'static str)> {
        Vec::new()
    }
}

/// Runs every case, each on states of its own.
pub async fn run<H: StateHarness>(harness: &H) -> Report {
    ran![harness;
        claims::a_key_is_claimed_once,
        claims::keys_of_any_text_are_apart,
        claims::a_claim_holds_in_every_handle,
        claims::of_claims_at_once_one_succeeds,
        claims::a_moment_that_has_passed_makes_no_key_new,
        values::what_was_never_written_is_absent,
        values::what_is_written_is_read,
        values::what_is_known_is_not_read_again,
        values::a_write_needs_the_version_that_is_there,
        values::no_version_comes_twice,
        values::values_and_claims_are_apart,
        values::a_write_is_seen_by_every_handle,
        values::of_writes_at_once_none_is_lost,
    ]
}

/// Keys that look alike, or that a file or an address would not take.
const KEYS: &[&str] = &[
    "", "a", "A", "a ", "a/b", "a//b", "a\\b", "../a", ".", "a.tmp", "a:b", "é", "e\u{301}", "\0",
    "a\nb", "%61", "*",
];

fn later<H: StateHarness>(harness: &H) -> SystemTime {
    harness.now() + Duration::from_secs(3_600)
}

/// The value under a key and its version.
async fn value(state: &impl State, key: &str) -> Result<(Vec<u8>, StateVersion), Failed> {
    match state.read(key, None).await? {
        StateReading::Value(value, version) => Ok((value, version)),
        StateReading::Absent => Err(Failed::new("what was written is absent")),
        StateReading::Unchanged => Err(Failed::new("a value is unchanged that nobody knew")),
    }
}

/// Drives a future on this thread.
fn drive<T>(future: impl Future<Output = T>) -> T {
    struct Thread(std::thread::Thread);
    impl std::task::Wake for Thread {
        fn wake(self: std::sync::Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = std::sync::Arc::new(Thread(std::thread::current())).into();
    let mut context = std::task::Context::from_waker(&waker);
    let mut future = std::pin::pin!(future);
    loop {
        match future.as_mut().poll(&mut context) {
            std::task::Poll::Ready(value) => return value,
            std::task::Poll::Pending => std::thread::park(),
        }
    }
}
