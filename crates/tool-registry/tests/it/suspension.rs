//! Calls that wait for a decision, and what becomes of them.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use tool_core::{
    Answer, BoxFuture, Call, CallFacts, Capability, CheckIn, Component, Consent, Content,
    Credential, CredentialError, CredentialNeed, Credentials, Decision, Facts, Gate, NeedsApproval,
    NobodyToAsk, Outcome, Permission, Produced, Refusal, RefusalKind, ResumeFault, Settlement,
    State, StateError, Suspension, Tool, ToolFailure, Verdict,
};
use tool_registry::{Approvals, Door, MemoryState, Registry, RegistryBuilder, SealKey};

use crate::ports::{Always, Answers, Count, Rules, open, rule};
use crate::tools::{mirror, output, refusal};

const KEY: [u8; 32] = [7; 32];

fn any() -> Value {
    json!({"type": "object"})
}

/// A registry that asks about every call.
fn asking() -> RegistryBuilder {
    Registry::builder().permission(Permission::new(Always(Decision::Ask), NobodyToAsk))
}

async fn suspend(registry: &Registry, arguments: &str) -> Suspension {
    suspend_as(registry, arguments, &Facts::new()).await
}

async fn suspend_as(registry: &Registry, arguments: &str, facts: &Facts) -> Suspension {
    let call = Call::new("tool", arguments).id("c1");
    let settled = registry
        .snapshot()
        .settle(call, facts)
        .approvals(Approvals::Suspend)
        .await;
    waiting(settled)
}

#[track_caller]
fn waiting(settled: Settlement) -> Suspension {
    assert!(!settled.is_error(), "{}", settled.text());
    match settled.outcome {
        Outcome::Suspended(suspension) => *suspension,
        other => panic!("expected a suspension, got {}", other.as_str()),
    }
}

#[track_caller]
fn fault(settled: &Settlement) -> ResumeFault {
    match refusal(settled) {
        Refusal::Resume { fault } => *fault,
        other => panic!("expected a fault of resuming, got {}", other.kind()),
    }
}

async fn resume(registry: &Registry, suspension: Suspension, verdict: Verdict) -> Settlement {
    registry
        .snapshot()
        .resume(suspension, verdict, &Facts::new())
        .await
}

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
async fn several_gates_of_one_call_never_satisfy_each_other() {
    let policy = Rules(|_: &tool_core::Request<'_>| rule(Decision::Ask));
    let registry = Registry::builder()
        .permission(Permission::new(policy, NobodyToAsk))
        .build();
    let runs = Count::default();
    let component = Component::new("confirm");
    let tool = mirror(any(), &runs)
        .capabilities([Capability::UserData])
        .needs_approval(true)
        .check_in(CheckIn::always().component(component.clone()));
    let _tool = registry.register([("tool", tool)]).unwrap();

    let mut suspension = suspend(&registry, "{}").await;
    let mut gates = Vec::new();
    loop {
        gates.push(suspension.gate.to_string());
        assert_eq!(
            suspension.component.is_some(),
            suspension.gate == Gate::CheckIn
        );
        assert_eq!(runs.get(), 0);
        let settled = resume(&registry, suspension, Verdict::Approve).await;
        match settled.outcome {
            Outcome::Suspended(next) => suspension = *next,
            _ => {
                assert!(!settled.is_error());
                break;
            }
        }
    }
    assert_eq!(
        gates,
        [
            "policy on call",
            "policy on user_data",
            "approval",
            "check-in"
        ]
    );
    assert_eq!(runs.get(), 1);
}

#[tokio::test]
async fn approval_inline_asks_for_each_gate_and_a_no_runs_nothing() {
    let answers = Answers::yes();
    let registry = Registry::builder()
        .permission(Permission::new(Always(Decision::Allow), answers.clone()))
        .build();
    let runs = Count::default();
    let tool = mirror(any(), &runs)
        .needs_approval(true)
        .check_in(CheckIn::always());
    let _tool = registry.register([("tool", tool.clone())]).unwrap();
    assert!(!crate::tools::call(&registry, "tool").await.is_error());
    assert_eq!((answers.1.get(), runs.get()), (2, 1));

    let no = Answers(Answer::Declined { note: None }, Count::default());
    let registry = Registry::builder()
        .permission(Permission::new(Always(Decision::Allow), no))
        .build();
    let _tool = registry.register([("tool", tool)]).unwrap();
    let settled = crate::tools::call(&registry, "tool").await;
    assert_eq!(refusal(&settled).kind(), RefusalKind::Declined);
    assert_eq!(runs.get(), 1);
}

#[derive(serde::Deserialize)]
struct Refund {
    cents: u64,
}

#[tokio::test]
async fn predicates_see_decoded_input_and_the_facts_and_a_failing_one_asks() {
    let runs = Count::default();
    let large = NeedsApproval::when(|refund: Refund, facts: CallFacts| async move {
        assert_eq!(facts.call.as_ref().map(|id| id.as_str()), Some("c1"));
        if refund.cents == 13 {
            return Err("unlucky".into());
        }
        Ok(refund.cents > 1_000)
    });
    let small = CheckIn::when(|refund: Refund| match refund.cents {
        7 => panic!("the predicate broke"),
        8 => Err("the predicate failed".into()),
        _ => Ok(false),
    });
    let registry = open().build();
    let tool = mirror(any(), &runs).needs_approval(large).check_in(small);
    let _tool = registry.register([("tool", tool)]).unwrap();
    for (cents, gate) in [
        (2_000, "approval"),
        (13, "approval"),
        (7, "check-in"),
        (8, "check-in"),
    ] {
        let suspension = suspend(&registry, &format!(r#"{{"cents":{cents}}}"#)).await;
        assert_eq!(suspension.gate.to_string(), gate, "{cents}");
    }
    // What the predicate cannot read asks as well.
    assert_eq!(suspend(&registry, "{}").await.gate, Gate::Approval);
    assert_eq!(runs.get(), 0);
    let call = Call::new("tool", r#"{"cents":5}"#).id("c1");
    let settled = registry
        .snapshot()
        .settle(call, &Facts::new())
        .approvals(Approvals::Suspend)
        .await;
    assert_eq!((settled.outcome.as_str(), runs.get()), ("completed", 1));
}

#[tokio::test]
async fn replacing_the_approval_of_a_clone_leaves_the_original() {
    let runs = Count::default();
    let careful = mirror(any(), &runs).needs_approval(true);
    let careless = careful.clone().needs_approval(false);
    let registry = open().build();
    let _tools = registry
        .register([("tool", careful), ("careless", careless)])
        .unwrap();
    suspend(&registry, "{}").await;
    assert!(!crate::tools::call(&registry, "careless").await.is_error());
    assert_eq!(runs.get(), 1);
}

#[tokio::test]
async fn nobody_is_asked_about_a_call_that_policy_denies_or_that_does_not_fit() {
    let registry =
        Registry::builder().permission(Permission::new(Always(Decision::Deny), NobodyToAsk));
    let registry = registry.build();
    let schema = json!({"type": "object", "required": ["a"]});
    let runs = Count::default();
    let tool = mirror(schema, &runs).check_in(CheckIn::always());
    let _tool = registry.register([("tool", tool.clone())]).unwrap();
    let call = || Call::new("tool", "{}").id("c1");
    let settle = |registry: &Registry| {
        registry
            .snapshot()
            .settle(call(), &Facts::new())
            .approvals(Approvals::Suspend)
    };
    assert_eq!(
        refusal(&settle(&registry).await).kind(),
        RefusalKind::Denied
    );
    let registry = open().build();
    let _tool = registry.register([("tool", tool)]).unwrap();
    assert_eq!(
        refusal(&settle(&registry).await).kind(),
        RefusalKind::InvalidArguments
    );
}

#[tokio::test]
async fn an_answer_that_is_no_decision_is_refused_by_its_shape_and_decides_nothing() {
    let runs = Count::default();
    let registry = asking().build();
    let _tool = registry.register([("tool", mirror(any(), &runs))]).unwrap();
    let suspension = suspend(&registry, "{}").await;
    let secret = "hunter2";
    for (answer, shape) in [
        (json!(null), "nothing"),
        (json!("yes"), "a string"),
        (
            json!({"approved": true, "password": secret}),
            "an object of 2 keys",
        ),
        (
            json!({"decision": "approve", "note": secret}),
            "an object of 2 keys",
        ),
        (json!(["approve"]), "an array of 1"),
    ] {
        let error = suspension.verdict(&answer).unwrap_err().to_string();
        assert!(
            error.contains(shape) && error.contains("policy on call"),
            "{error}"
        );
        assert!(
            error.contains("\"tool\"") && !error.contains(secret),
            "{error}"
        );
    }
    let yes = suspension.verdict(&json!({"decision": "approve"})).unwrap();
    assert!(!resume(&registry, suspension, yes).await.is_error());
    assert_eq!(runs.get(), 1);
}

#[tokio::test]
async fn a_door_that_cannot_suspend_refuses_by_the_name_of_the_gate() {
    let registry = open().build();
    let runs = Count::default();
    let tool = mirror(any(), &runs).check_in(CheckIn::always());
    let _tool = registry.register([("tool", tool)]).unwrap();
    for door in [Door::Mcp, Door::Inner] {
        let settled = registry
            .snapshot()
            .settle(Call::new("tool", "{}"), &Facts::new())
            .door(door)
            .approvals(Approvals::Suspend)
            .await;
        assert_eq!(
            *refusal(&settled),
            Refusal::Door {
                declaration: "check_in"
            }
        );
    }
    assert_eq!(runs.get(), 0);
}

/// A provider that wants consent so many times.
struct Consenting {
    missing: usize,
    asked: Count,
}

impl Credentials for Consenting {
    fn acquire<'a>(
        &'a self,
        _: &'a Facts,
        _: &'a CredentialNeed,
    ) -> BoxFuture<'a, Result<Credential, CredentialError>> {
        self.asked.add();
        let url = "https://example.org/consent?secret=canary";
        Box::pin(async move {
            if self.asked.get() <= self.missing {
                return Err(CredentialError::consent_required(Consent::new(url)));
            }
            Ok(Credential::new("token"))
        })
    }
}

#[tokio::test]
async fn consent_suspends_with_an_address_that_is_never_serialised_nor_printed() {
    for (missing, ends) in [(1, "completed"), (2, "refused")] {
        let asked = Count::default();
        let registry = open()
            .credentials(Consenting {
                missing,
                asked: asked.clone(),
            })
            .build();
        let runs = Count::default();
        let tool = mirror(any(), &runs).needs(CredentialNeed::new("calendar"));
        let _tool = registry.register([("tool", tool)]).unwrap();
        let suspension = suspend(&registry, "{}").await;
        assert_eq!(
            suspension.gate,
            Gate::Consent {
                service: "calendar".to_owned()
            }
        );
        assert!(
            suspension
                .consent
                .as_ref()
                .unwrap()
                .expose()
                .contains("canary")
        );
        let json = serde_json::to_string(&suspension).unwrap();
        assert!(!json.contains("canary") && !format!("{suspension:?}").contains("canary"));

        let suspension: Suspension = serde_json::from_str(&json).unwrap();
        let settled = resume(&registry, suspension, Verdict::Approve).await;
        assert_eq!(settled.outcome.as_str(), ends);
        assert!(!settled.text().contains("canary"));
        assert_eq!(
            (asked.get(), runs.get()),
            (2, usize::from(ends == "completed"))
        );
    }
}

#[tokio::test]
async fn a_tool_that_is_settled_from_outside_takes_a_result_once_and_no_approval() {
    let tool = Tool::external("Ask the crowd", any()).output_schema(json!({"type": "integer"}));
    let registry = open().build();
    let _tool = registry.register([("tool", tool)]).unwrap();
    // It waits whatever is said of approvals.
    let call = || Call::new("tool", r#"{"q":1}"#).id("c1");
    let wait = async || waiting(registry.snapshot().settle(call(), &Facts::new()).await);
    let bring = |suspension: &Suspension, result: Result<Produced, ToolFailure>| {
        registry
            .snapshot()
            .resume(suspension.clone(), result, &Facts::new())
    };

    let suspension = wait().await;
    assert_eq!(suspension.gate, Gate::External);
    let settled = resume(&registry, suspension.clone(), Verdict::Approve).await;
    assert_eq!(fault(&settled), ResumeFault::Mismatch);
    let settled = bring(&suspension, Ok(Produced::value(5))).await;
    assert_eq!(output(&settled), &json!(5));
    assert_eq!(settled.call.as_ref().map(|id| id.as_str()), Some("c1"));
    let settled = bring(&suspension, Ok(Produced::value(6))).await;
    assert_eq!(fault(&settled), ResumeFault::Used);

    // What comes is held to the tool's schema like any output.
    let settled = bring(&wait().await, Ok(Produced::value("five"))).await;
    assert_eq!(settled.outcome.as_str(), "defect");
    let failure = ToolFailure::new("nobody knew").content([Content::text("nobody knew it")]);
    let settled = bring(&wait().await, Err(failure)).await;
    assert_eq!(
        (settled.outcome.as_str(), settled.text()),
        ("failed", "nobody knew it".to_owned())
    );
    // A result settles nothing that waits for somebody's word.
    let asking = asking().build();
    let _tool = asking
        .register([("tool", mirror(any(), &Count::default()))])
        .unwrap();
    let suspension = suspend(&asking, "{}").await;
    let result: Result<Produced, ToolFailure> = Ok(Produced::value(1));
    let settled = asking
        .snapshot()
        .resume(suspension, result, &Facts::new())
        .await;
    assert_eq!(fault(&settled), ResumeFault::Mismatch);
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
            incoming.arguments = Arguments::Value(json!({"times": times}));
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
