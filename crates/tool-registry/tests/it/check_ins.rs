//! A tool checks in before it acts, and an outside result is whatever it is.

use std::sync::Arc;

use serde_json::json;
use tool_core::{
    Call, CheckIn, Credential, CredentialNeed, Event, EventKind, Facts, Gate, Produced, Suspension,
    Tool, ToolFailure, Verdict,
};
use tool_registry::{Approvals, MemoryState, SealKey};

use crate::ports::{Count, Keyring, Log, open};
use crate::tools::{mirror, output};
use crate::waits::{any, resume, suspend, waiting};

#[derive(serde::Deserialize)]
struct Refund {
    cents: u64,
}

#[tokio::test]
async fn a_check_in_waits_before_the_tool_acts_and_says_what_it_would_do() {
    let (runs, asked) = (Count::default(), Log::default());
    let seen = asked.clone();
    let registry = open()
        .events(move |event: &Event<'_>| {
            if let EventKind::Asked(gate) = event.kind {
                seen.write(format!("{} {gate}", event.tool));
            }
        })
        .build();
    let tool = mirror(any(), &runs);
    let large = CheckIn::when(|refund: Refund| Ok(refund.cents > 1_000));
    registry
        .register([
            ("tool", tool.clone().check_in(CheckIn::always())),
            ("large", tool.clone().check_in(large)),
            ("silent", tool),
        ])
        .unwrap()
        .keep();

    let suspension = suspend(&registry, r#"{"cents":5}"#).await;
    assert_eq!(
        (&suspension.gate, suspension.tool.as_str()),
        (&Gate::CheckIn, "tool")
    );
    assert_eq!(suspension.arguments, json!({"cents": 5}));
    assert_eq!(suspension.because, "the tool checks in before it acts");
    assert_eq!(runs.get(), 0);

    let settle = async |name: &str, cents: u64| {
        let call = Call::new(name, json!({"cents": cents}));
        let settling = registry.snapshot().settle(call, &Facts::new());
        settling.approvals(Approvals::Suspend).await
    };
    waiting(settle("large", 2_000).await);
    assert_eq!(runs.get(), 0);
    for (name, cents) in [("large", 1_000), ("silent", 2_000)] {
        assert_eq!(output(&settle(name, cents).await), &json!({"cents": cents}));
    }
    assert_eq!(asked.lines(), ["tool check-in", "large check-in"]);
}

#[tokio::test]
async fn what_waits_acquires_nothing_and_what_was_approved_elsewhere_acquires_and_runs_once() {
    let (runs, acquired) = (Count::default(), Count::default());
    let state = Arc::new(MemoryState::default());
    let process = || {
        let acquired = acquired.clone();
        let registry = open()
            .seal_key(SealKey::new([7; 32]))
            .state(Arc::clone(&state))
            .credentials(Keyring(move |_: &CredentialNeed| {
                acquired.add();
                Ok(Credential::new("secret"))
            }))
            .build();
        let tool = mirror(any(), &runs).needs(CredentialNeed::new("mail"));
        let tool = tool.check_in(CheckIn::always());
        registry.register([("tool", tool)]).unwrap().keep();
        registry
    };
    let json = serde_json::to_string(&suspend(&process(), "{}").await).unwrap();
    assert_eq!((acquired.get(), runs.get()), (0, 0));
    for (ends, times) in [("completed", 1), ("refused", 1)] {
        let suspension: Suspension = serde_json::from_str(&json).unwrap();
        let settled = resume(&process(), suspension, Verdict::Approve).await;
        assert_eq!(settled.outcome.as_str(), ends);
        assert_eq!((acquired.get(), runs.get()), (times, times));
    }
}

#[tokio::test]
async fn a_result_from_outside_is_any_value_where_no_schema_says_otherwise() {
    let registry = open().build();
    let tool = Tool::external("Asks a person", any());
    registry.register([("tool", tool)]).unwrap().keep();
    let values = [
        json!("text"),
        json!(5),
        json!(false),
        json!([1]),
        json!({"a": null}),
        json!(null),
    ];
    for value in values {
        let call = Call::new("tool", "{}").id("c1");
        let suspension = waiting(registry.snapshot().settle(call, &Facts::new()).await);
        assert_eq!(
            (suspension.tool.as_str(), &suspension.gate),
            ("tool", &Gate::External)
        );
        let result: Result<Produced, ToolFailure> = Ok(Produced::value(value.clone()));
        let snapshot = registry.snapshot();
        let settled = snapshot.resume(suspension, result, &Facts::new()).await;
        assert_eq!(output(&settled), &value);
    }
}
