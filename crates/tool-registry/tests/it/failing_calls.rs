//! A caller that makes the same failing call over and over.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tool_core::{
    Call, Decision, Facts, HandlerError, NobodyToAsk, Outcome, Permission, Refusal, Settlement,
    Tool, ToolFailure,
};
use tool_registry::{FailingCalls, Registration, Registry};

use crate::ports::Always;

struct Watched {
    registry: Registry,
    ran: Arc<AtomicUsize>,
    _registration: Registration,
}

/// A registry that stops a call after three failures, with a tool that does as it is told.
fn watched() -> Watched {
    let failing = FailingCalls::new(NonZeroU32::new(3).unwrap()).rest(Duration::from_secs(10));
    let registry = Registry::builder()
        .permission(Permission::new(
            failing.ahead_of(Always(Decision::Allow)),
            NobodyToAsk,
        ))
        .events(failing)
        .build();
    let ran = Arc::<AtomicUsize>::default();
    let inside = Arc::clone(&ran);
    let schema =
        json!({"type": "object", "properties": {"do": {"type": "string"}}, "required": ["do"]});
    let tool = Tool::dynamic("Does as it is told", schema, move |input: Value, _| {
        inside.fetch_add(1, Ordering::SeqCst);
        async move {
            match input["do"].as_str() {
                Some("fail") => Err(HandlerError::from(ToolFailure::new("no such row"))),
                Some("break") => Err(HandlerError::from(std::io::Error::other("broken"))),
                _ => Ok(json!("done")),
            }
        }
    });
    let registration = registry.register([("act", tool)]).unwrap();
    Watched {
        registry,
        ran,
        _registration: registration,
    }
}

impl Watched {
    async fn call(&self, who: &str, arguments: &str) -> Settlement {
        let facts = Facts::new().session(who);
        let call = Call::new("act", arguments);
        self.registry.snapshot().settle(call, &facts).await
    }

    fn ran(&self) -> usize {
        self.ran.load(Ordering::SeqCst)
    }
}

fn is_stopped(settlement: &Settlement) -> bool {
    matches!(&settlement.outcome, Outcome::Refused(Refusal::Denied(_)))
}

const FAILS: &str = r#"{"do":"fail"}"#;

#[tokio::test(start_paused = true)]
async fn s30_an_identical_failing_call_is_stopped_after_so_many_and_says_why() {
    let watched = watched();
    for _ in 0..3 {
        assert_eq!(watched.call("a", FAILS).await.text(), "no such row");
    }
    // Spelled otherwise it is the same call.
    let stopped = watched.call("a", r#"{ "do" : "fail" }"#).await;
    assert!(is_stopped(&stopped));
    assert_eq!(
        stopped.text(),
        "permission for act was denied: this call failed 3 times with the same arguments; change \
         them, do something else first, or make it again in 10 s"
    );
    assert_eq!(watched.ran(), 3);
    // Neither another call of the caller nor another caller is stopped.
    assert!(!is_stopped(&watched.call("a", r#"{"do":"break"}"#).await));
    assert!(!is_stopped(&watched.call("b", FAILS).await));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_stopped_may_be_made_once_more_when_it_has_rested() {
    let watched = watched();
    for _ in 0..3 {
        watched.call("a", FAILS).await;
    }
    tokio::time::advance(Duration::from_millis(9_999)).await;
    assert!(is_stopped(&watched.call("a", FAILS).await));
    tokio::time::advance(Duration::from_millis(1)).await;
    assert_eq!(watched.call("a", FAILS).await.text(), "no such row");
    assert!(is_stopped(&watched.call("a", FAILS).await));
}

#[tokio::test(start_paused = true)]
async fn whoever_waits_as_long_as_it_is_told_may_call() {
    for rested in [1, 999, 1_000, 9_999] {
        let watched = watched();
        for _ in 0..3 {
            watched.call("a", FAILS).await;
        }
        tokio::time::advance(Duration::from_millis(rested)).await;
        let told = watched.call("a", FAILS).await.text().to_string();
        let (told, _) = told.rsplit_once(" s").unwrap();
        let (_, seconds) = told.rsplit_once("in ").unwrap();
        let seconds: u64 = seconds.parse().unwrap();
        assert_eq!(seconds, (10_000 - rested).div_ceil(1_000));
        tokio::time::advance(Duration::from_secs(seconds)).await;
        assert_eq!(watched.call("a", FAILS).await.text(), "no such row");
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_completes_begins_the_counts_of_its_caller_anew() {
    let watched = watched();
    for _ in 0..4 {
        for _ in 0..2 {
            watched.call("a", FAILS).await;
        }
        assert_eq!(watched.call("a", r#"{"do":"mend"}"#).await.text(), "done");
        watched.call("b", r#"{"do":"mend"}"#).await;
    }
    assert_eq!(watched.ran(), 16);
}

#[tokio::test(start_paused = true)]
async fn arguments_that_do_not_fit_and_defects_count_and_refusals_do_not() {
    let watched = watched();
    for arguments in [r#"{"do":5}"#, r#"{"do":"break"}"#] {
        for _ in 0..3 {
            assert!(!is_stopped(&watched.call("a", arguments).await));
        }
        for _ in 0..3 {
            assert!(is_stopped(&watched.call("a", arguments).await));
        }
        tokio::time::advance(Duration::from_secs(10)).await;
        // The denials in between counted for nothing: the time is since the last failure.
        assert!(!is_stopped(&watched.call("a", arguments).await));
    }
}
