use std::collections::HashMap;
use std::sync::Mutex;
use std::time::SystemTime;

use tool_core::{BoxFuture, State, StateError, StateReading, StateVersion};
use tool_testkit::Verdict;
use tool_testkit::state::{self, StateHarness};

/// A state that claims anything for anybody, and writes whatever was expected.
#[derive(Default)]
struct Careless(Mutex<HashMap<String, Vec<u8>>>);

impl State for Careless {
    fn claim<'a>(
        &'a self,
        _key: &'a str,
        _until: SystemTime,
    ) -> BoxFuture<'a, Result<bool, StateError>> {
        Box::pin(async { Ok(true) })
    }

    fn read<'a>(
        &'a self,
        key: &'a str,
        _known: Option<&'a StateVersion>,
    ) -> BoxFuture<'a, Result<StateReading, StateError>> {
        let value = self.0.lock().unwrap().get(key).cloned();
        Box::pin(async move {
            Ok(match value {
                None => StateReading::Absent,
                Some(value) => StateReading::Value(value, StateVersion::new("1")),
            })
        })
    }

    fn write<'a>(
        &'a self,
        key: &'a str,
        _expected: Option<&'a StateVersion>,
        value: &'a [u8],
    ) -> BoxFuture<'a, Result<Option<StateVersion>, StateError>> {
        self.0
            .lock()
            .unwrap()
            .insert(key.to_owned(), value.to_vec());
        Box::pin(async { Ok(Some(StateVersion::new("1"))) })
    }
}

struct Harness;

impl StateHarness for Harness {
    type State = Careless;

    fn open(&self) -> Careless {
        Careless::default()
    }
}

#[tokio::test]
async fn a_state_that_keeps_no_condition_is_found_out() {
    let report = state::run(&Harness).await;
    for (case, says) in [
        ("a_key_is_claimed_once", "claimed twice"),
        ("of_claims_at_once_one_succeeds", "8 of eight"),
        ("what_is_known_is_not_read_again", "read again"),
        (
            "a_write_needs_the_version_that_is_there",
            "another was expected",
        ),
        ("no_version_comes_twice", "a version comes twice"),
    ] {
        let verdict = report.verdict(case);
        assert!(
            matches!(verdict, Verdict::Failed { seen } if seen.contains(says)),
            "{case}: {verdict:?}"
        );
    }
    assert_eq!(*report.verdict("what_is_written_is_read"), Verdict::Passed);
    assert_eq!(
        *report.verdict("a_claim_holds_in_every_handle"),
        Verdict::NotApplicable
    );
}
