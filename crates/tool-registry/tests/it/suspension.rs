//! Calls that wait for a decision: what they are bound to, and how often they are good.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use tool_core::{
    BoxFuture, Call, Decision, Facts, Gate, NobodyToAsk, Permission, RefusalKind, ResumeFault,
    State, StateError, Suspension, Verdict,
};
use tool_registry::{Approvals, MemoryState, Registry, SealKey};

use crate::ports::{Count, Rules, rule};
use crate::tools::{mirror, output, refusal};
use crate::waits::{any, asking, fault, resume, suspend, suspend_as, waiting};

const KEY: [u8; 32] = [7; 32];

#[tokio::test]
async fn an_approved_call_runs_once_in_another_process_from_json() {
    let runs = Count::default();
    let state = Arc::new(MemoryState::default());
    let registry = asking()
        .seal_key(SealKey::new(KEY))
        .state(Shared(state.clone()))
        .build();
    let _tool = registry.register([("tool", mirror(any(), &runs))]).unwrap();
    let json = serde_json::to_string(&suspend(&registry, r#"{"b":1,"a":[2]}"#).await).unwrap();
    assert_eq!(runs.get(), 0);

    // What another process would set up: the same tools, key and state.
    let other = asking()
        .seal_key(SealKey::new(KEY))
        .state(Shared(state))
        .build();
    let _tool = other.register([("tool", mirror(any(), &runs))]).unwrap();
    let suspension: Suspension = serde_json::from_str(&json).unwrap();
    assert_eq!(suspension.arguments, json!({"a": [2], "b": 1}));
    let settled = resume(&other, suspension.clone(), Verdict::Approve).await;
    assert_eq!(output(&settled), &json!({"a": [2], "b": 1}));
    assert_eq!(settled.call.as_ref().map(|id| id.as_str()), Some("c1"));

    // The first decision counts, in whichever process the second comes.
    for registry in [&other, &registry] {
        let again = resume(registry, suspension.clone(), Verdict::Approve).await;
        assert_eq!(fault(&again), ResumeFault::Used);
    }
    assert_eq!(runs.get(), 1);
}

struct Shared(Arc<MemoryState>);

impl State for Shared {
    fn claim<'a>(
        &'a self,
        key: &'a str,
        until: SystemTime,
    ) -> BoxFuture<'a, Result<bool, StateError>> {
        self.0.claim(key, until)
    }
}

#[tokio::test]
async fn a_decline_runs_nothing_is_final_and_its_note_reaches_the_model() {
    let runs = Count::default();
    let registry = asking().build();
    let _tool = registry.register([("tool", mirror(any(), &runs))]).unwrap();
    let suspension = suspend(&registry, "{}").await;
    let no = Verdict::Decline {
        note: Some("use the other table".to_owned()),
    };
    let settled = resume(&registry, suspension.clone(), no).await;
    assert_eq!(settled.text(), "the user declined: use the other table");
    assert_eq!(refusal(&settled).kind(), RefusalKind::Declined);
    let late = resume(&registry, suspension, Verdict::Approve).await;
    assert_eq!(fault(&late), ResumeFault::Used);
    assert_eq!(runs.get(), 0);
}

#[tokio::test]
async fn a_suspension_that_was_altered_in_any_field_is_refused() {
    let runs = Count::default();
    let registry = asking().build();
    let _tools = registry
        .register([
            ("tool", mirror(any(), &runs)),
            ("other", mirror(any(), &runs)),
        ])
        .unwrap();
    let suspension = suspend(&registry, r#"{"to":"a"}"#).await;
    let whole = serde_json::to_value(&suspension).unwrap();
    for (key, value) in whole.as_object().unwrap() {
        let mut altered = whole.clone();
        altered[key] = match value {
            Value::String(text) if key == "seal" => {
                let first = if text.starts_with('0') { "1" } else { "0" };
                json!(format!("{first}{}", &text[1..]))
            }
            Value::String(text) => json!(format!("{text}x")),
            Value::Number(number) => json!(number.as_u64().unwrap() + 1),
            Value::Object(_) if key == "gate" => json!({"kind": "approval"}),
            Value::Object(_) if key == "facts" => json!({"session": "s2"}),
            Value::Object(_) => json!({"to": "b"}),
            _ => json!(["{\"to\":\"b\"}"]),
        };
        let altered: Suspension = serde_json::from_value(altered).unwrap();
        let settled = resume(&registry, altered, Verdict::Approve).await;
        assert_eq!(fault(&settled), ResumeFault::Forged, "{key}");
    }
    let mut added = whole.clone();
    added["passed"] = json!([{"kind": "approval"}]);
    let added: Suspension = serde_json::from_value(added).unwrap();
    let settled = resume(&registry, added, Verdict::Approve).await;
    assert_eq!(fault(&settled), ResumeFault::Forged);

    // One made by hand, and one sealed by another key.
    let mut made = Suspension::new("sus_1", Gate::Approval, "tool");
    made.seal = "00".repeat(32);
    assert_eq!(
        fault(&resume(&registry, made, Verdict::Approve).await),
        ResumeFault::Forged
    );
    let elsewhere = asking().seal_key(SealKey::new(KEY)).build();
    let _tool = elsewhere
        .register([("tool", mirror(any(), &runs))])
        .unwrap();
    let foreign = suspend(&elsewhere, "{}").await;
    assert_eq!(
        fault(&resume(&registry, foreign, Verdict::Approve).await),
        ResumeFault::Forged
    );

    assert_eq!(runs.get(), 0);
    let settled = resume(&registry, suspension, Verdict::Approve).await;
    assert_eq!((settled.outcome.as_str(), runs.get()), ("completed", 1));
}

#[tokio::test]
async fn a_suspension_expires() {
    let now = Arc::new(std::sync::Mutex::new(
        UNIX_EPOCH + Duration::from_secs(1_000),
    ));
    let clock = Arc::clone(&now);
    let registry = asking()
        .clock(move || *clock.lock().unwrap())
        .suspension_ttl(Duration::from_secs(60))
        .build();
    let runs = Count::default();
    let _tool = registry.register([("tool", mirror(any(), &runs))]).unwrap();
    let (first, second) = (
        suspend(&registry, "{}").await,
        suspend(&registry, "{}").await,
    );
    assert_ne!(first.id, second.id);
    *now.lock().unwrap() += Duration::from_secs(59);
    assert!(!resume(&registry, first, Verdict::Approve).await.is_error());
    *now.lock().unwrap() += Duration::from_secs(1);
    let settled = resume(&registry, second, Verdict::Approve).await;
    assert_eq!(fault(&settled), ResumeFault::Expired);
    assert_eq!(runs.get(), 1);
}

#[tokio::test]
async fn a_suspension_is_good_for_its_caller_its_tool_and_its_definition_only() {
    let runs = Count::default();
    let registry = asking().build();
    let tool = mirror(any(), &runs);
    let held = registry.register([("tool", tool.clone())]).unwrap();
    let (ada, eve) = (Facts::new().session("ada"), Facts::new().session("eve"));
    let suspension = suspend_as(&registry, "{}", &ada).await;
    let settled = registry
        .snapshot()
        .resume(suspension.clone(), Verdict::Approve, &eve)
        .await;
    assert_eq!(fault(&settled), ResumeFault::Foreign);

    held.close();
    let changed = registry
        .register([("tool", tool.described("Does something else"))])
        .unwrap();
    let settled = registry
        .snapshot()
        .resume(suspension, Verdict::Approve, &ada)
        .await;
    assert_eq!(fault(&settled), ResumeFault::Definition);
    let suspension = suspend_as(&registry, "{}", &ada).await;
    changed.close();
    let settled = registry
        .snapshot()
        .resume(suspension, Verdict::Approve, &ada)
        .await;
    assert_eq!(refusal(&settled).kind(), RefusalKind::Unknown);
    assert_eq!(runs.get(), 0);
}

#[tokio::test]
async fn policy_is_asked_again_for_a_deny_when_a_call_goes_on() {
    let closed = Count::default();
    let switch = closed.clone();
    let policy = Rules(move |_: &tool_core::Request<'_>| {
        rule(if switch.get() == 0 {
            Decision::Ask
        } else {
            Decision::Deny
        })
    });
    let registry = Registry::builder()
        .permission(Permission::new(policy, NobodyToAsk))
        .build();
    let runs = Count::default();
    let _tool = registry.register([("tool", mirror(any(), &runs))]).unwrap();
    let suspension = suspend(&registry, "{}").await;
    closed.add();
    let settled = resume(&registry, suspension, Verdict::Approve).await;
    assert_eq!(refusal(&settled).kind(), RefusalKind::Denied);
    assert_eq!(runs.get(), 0);
}

#[tokio::test]
async fn state_that_cannot_tell_refuses() {
    struct Down;
    impl State for Down {
        fn claim<'a>(
            &'a self,
            _: &'a str,
            _: SystemTime,
        ) -> BoxFuture<'a, Result<bool, StateError>> {
            Box::pin(async { Err(StateError::new("disk on fire")) })
        }
    }
    let runs = Count::default();
    let registry = asking().state(Down).build();
    let _tool = registry.register([("tool", mirror(any(), &runs))]).unwrap();
    let suspension = suspend(&registry, "{}").await;
    let settled = resume(&registry, suspension, Verdict::Approve).await;
    assert_eq!(fault(&settled), ResumeFault::Unknown);
    assert!(!settled.text().contains("disk"));
    assert_eq!(runs.get(), 0);
}

#[tokio::test]
async fn hooks_run_again_on_a_resumed_call_and_may_not_change_what_was_decided() {
    use tool_core::{Arguments, BeforeHook, HookError, Incoming};
    struct Counting(Count);
    impl BeforeHook for Counting {
        fn before<'a>(
            &'a self,
            incoming: &'a mut Incoming,
            _: &'a Facts,
        ) -> BoxFuture<'a, Result<(), HookError>> {
            self.0.add();
            let times = if incoming.name == "steady" {
                0
            } else {
                self.0.get()
            };
            incoming.name = "tool".to_owned();
            incoming.arguments = Arguments::from(json!({"times": times}));
            Box::pin(async { Ok(()) })
        }
    }
    let runs = Count::default();
    let registry = asking().before(Counting(Count::default())).build();
    let _tool = registry.register([("tool", mirror(any(), &runs))]).unwrap();
    let settle = async |name: &str| {
        let call = Call::new(name, "{}");
        let settling = registry.snapshot().settle(call, &Facts::new());
        waiting(settling.approvals(Approvals::Suspend).await)
    };
    let settled = resume(&registry, settle("steady").await, Verdict::Approve).await;
    assert_eq!(output(&settled), &json!({"times": 0}));
    let settled = resume(&registry, settle("restless").await, Verdict::Approve).await;
    assert_eq!(fault(&settled), ResumeFault::Arguments);
    assert_eq!(runs.get(), 1);
}
