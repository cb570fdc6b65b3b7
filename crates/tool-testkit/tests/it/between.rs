//! A state where a test comes between.

use std::collections::HashSet;
use std::error::Error as _;
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use tool_core::{BoxFuture, State, StateError, StateReading, StateVersion};
use tool_testkit::state::{Between, Fault, Operation};

/// Begins before it is polled, as a state may.
#[derive(Default)]
struct Eager(Mutex<HashSet<String>>);

impl State for Eager {
    fn claim<'a>(&'a self, key: &'a str, _: SystemTime) -> BoxFuture<'a, Result<bool, StateError>> {
        let claimed = self.0.lock().expect("no panic").insert(key.to_owned());
        Box::pin(async move { Ok(claimed) })
    }

    fn read<'a>(
        &'a self,
        _: &'a str,
        _: Option<&'a StateVersion>,
    ) -> BoxFuture<'a, Result<StateReading, StateError>> {
        Box::pin(async { Ok(StateReading::Absent) })
    }
}

fn between() -> (Arc<Eager>, Between) {
    let state = Arc::new(Eager::default());
    (Arc::clone(&state), Between::new(state))
}

async fn claim(state: &dyn State, key: &str) -> Result<bool, String> {
    let claimed = state.claim(key, SystemTime::UNIX_EPOCH).await;
    claimed.map_err(|error| error.source().expect("it has a cause").to_string())
}

#[tokio::test]
async fn what_fails_is_not_passed_on_and_what_loses_its_answer_is() {
    let (kept, state) = between();
    for (fault, passes) in [
        (Fault::Fails("down"), false),
        (Fault::LosesAnswers("down"), true),
    ] {
        state.set(Operation::Claim, Some(fault));
        assert_eq!(claim(&state, "key").await, Err("down".to_owned()));
        assert_eq!(kept.0.lock().expect("no panic").contains("key"), passes);
        // Nothing else is concerned.
        assert_eq!(
            state.read("key", None).await.ok(),
            Some(StateReading::Absent)
        );
    }
    state.set(Operation::Claim, None);
    assert_eq!(claim(&state, "key").await, Ok(false));
    state.set(Operation::Claim, Some(Fault::Hangs));
    tokio::select! {
        biased;
        _ = claim(&state, "other") => panic!("it hangs"),
        () = std::future::ready(()) => {}
    }
    assert!(!kept.0.lock().expect("no panic").contains("other"));
}

#[tokio::test]
async fn what_comes_first_is_done_ahead_of_the_next_operation_of_that_key_alone() {
    let (kept, state) = between();
    let taken = Arc::clone(&kept);
    let first = async move {
        assert_eq!(claim(&*taken, "key").await, Ok(true));
    };
    state.before_next(Operation::Claim, Some("key"), Box::pin(first));
    assert_eq!(claim(&state, "other").await, Ok(true));
    // Somebody else was faster.
    assert_eq!(claim(&state, "key").await, Ok(false));
    assert_eq!(claim(&state, "third").await, Ok(true));
}
