//! What a settled call gives: typed and encoded, in both failure modes, and what is withheld.

use std::sync::{Arc, Mutex};

use futures_util::StreamExt as _;
use serde_json::json;
use tool_core::{
    Call, Context, Event, EventKind, Facts, FailureMode, FailureOrigin, HandlerError, Outcome,
    Refusal, Tool,
};
use tool_registry::{ResultPart, SettlementEvent, Toolkit};

use crate::ports::{Count, open};
use crate::tools::{call, echo, fixed, output, settle};

#[tokio::test]
async fn a_success_is_one_result_and_its_typed_and_encoded_values_agree() {
    let (kit, say) = Toolkit::new().with_handle("echo", echo()).unwrap();
    let registry = open().build();
    registry.register(kit).unwrap().keep();
    let settling = registry
        .snapshot()
        .settle(Call::new("echo", json!({"text": "said"})), &Facts::new());
    let events: Vec<_> = settling.stream().collect().await;
    let [SettlementEvent::Settled(settled)] = &events[..] else {
        panic!("expected one event: {events:?}")
    };
    assert!(!settled.is_error());
    assert_eq!(output(settled), &json!("said"));
    assert_eq!(settled.structured(), Some(&json!("said")));
    assert_eq!(say.output(settled).unwrap(), "said");
}

/// A failure that is a number here and a text outside.
#[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema, thiserror::Error)]
#[serde(into = "String")]
#[schemars(with = "String")]
#[error("status {0}")]
struct Status(u32);

impl From<Status> for String {
    fn from(status: Status) -> Self {
        status.0.to_string()
    }
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Find {
    id: u32,
}

/// Gives small numbers back and fails with large ones.
fn find(runs: &Count) -> Tool {
    let runs = runs.clone();
    Tool::fallible("Finds", move |find: Find, _: Context| {
        runs.add();
        async move {
            let found = if find.id < 400 {
                Ok(find.id)
            } else {
                Err(Status(find.id))
            };
            Ok::<_, HandlerError>(found)
        }
    })
    .into()
}

#[tokio::test]
async fn a_declared_failure_is_encoded_by_its_own_type_in_both_modes() {
    for mode in [FailureMode::Error, FailureMode::Return] {
        let tool = find(&Count::default()).failure_mode(mode);
        assert_eq!(
            output(&settle(tool.clone(), r#"{"id":7}"#).await),
            &json!(7)
        );

        let settled = settle(tool, r#"{"id":404}"#).await;
        assert_eq!(settled.structured(), Some(&json!("404")));
        assert_eq!(settled.text(), "status 404");
        let result = settled.into_result();
        if mode == FailureMode::Return {
            let returned = result.unwrap();
            assert!(returned.is_error() && matches!(returned.outcome, Outcome::Failed(_)));
            assert_eq!(returned.structured(), Some(&json!("404")));
        } else {
            let error = result.unwrap_err();
            assert_eq!(error.origin(), FailureOrigin::Handler);
            assert_eq!(error.settlement().structured(), Some(&json!("404")));
        }
    }
}

#[tokio::test]
async fn under_return_arguments_that_do_not_fit_are_a_failed_result_and_run_nothing() {
    let runs = Count::default();
    for (arguments, says) in [
        ("{}", "missing key \"id\""),
        (r#"{"id":"x"}"#, "expected integer at /id, got string"),
        (
            r#"{"id":NaN}"#,
            "the arguments are not JSON, at line 1 column 7; send one JSON object",
        ),
    ] {
        let tool = find(&runs).failure_mode(FailureMode::Return);
        let returned = settle(tool, arguments).await.into_result().unwrap();
        assert!(returned.is_error());
        assert_eq!(returned.outcome.origin(), Some(FailureOrigin::Validation));
        assert_eq!(returned.text(), says);
    }
    assert_eq!(runs.get(), 0);
}

#[tokio::test]
async fn what_is_over_its_ceiling_is_told_by_its_size_and_stands_in_no_event() {
    let sizes = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&sizes);
    let registry = open()
        .events(move |event: &Event<'_>| {
            assert!(!format!("{event:?}").contains("canary"));
            let EventKind::Settled(settled) = event.kind else {
                return;
            };
            // Not what it prints alone: what a listener can read holds nothing either.
            assert!(!format!("{settled:?} {}", settled.text()).contains("canary"));
            if let Outcome::Refused(Refusal::Ceiling {
                chars, max_chars, ..
            }) = settled.outcome
            {
                seen.lock().unwrap().push((chars, max_chars));
            }
        })
        .build();
    let tool = fixed("canary text").ceiling(5.try_into().unwrap());
    registry.register([("tool", tool)]).unwrap().keep();

    let settled = call(&registry, "tool").await;
    assert_eq!(*sizes.lock().unwrap(), [(11, 5)]);
    let part = ResultPart::from(&settled);
    assert_eq!(
        (part.outcome.as_str(), part.kind.as_deref()),
        ("refused", Some("ceiling"))
    );
    let json = serde_json::to_string(&part).unwrap();
    assert!(json.contains("no data was returned") && !json.contains("canary"));
}
