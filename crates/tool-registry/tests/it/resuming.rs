//! Calls that go on: by the clock, at once from several places, and held to everything anew.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use tool_core::{
    ArtifactKind, Call, Decision, Facts, Gate, Identification, NobodyToAsk, Permission,
    RefusalKind, ResumeFault, State, Suspension, Tool, Validation, Verdict,
};
use tool_registry::{MemoryState, Registry};

use crate::ports::{Count, Rules, Shelf, Stuck, rule};
use crate::tools::{mirror, output, refusal, run};
use crate::waits::{any, asking, fault, resume, suspend, suspend_as, waiting};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// A clock that a test turns.
#[derive(Clone)]
struct Clock(Arc<Mutex<SystemTime>>);

impl Clock {
    fn at(days: u32) -> Self {
        Self(Arc::new(Mutex::new(UNIX_EPOCH + DAY * days)))
    }

    fn turn_to(&self, days: u32) {
        *self.0.lock().unwrap() = UNIX_EPOCH + DAY * days;
    }

    fn read(&self) -> impl Fn() -> SystemTime + Send + Sync + 'static {
        let now = Arc::clone(&self.0);
        move || *now.lock().unwrap()
    }
}

fn registry_of(builder: tool_registry::RegistryBuilder, tool: impl Into<Tool>) -> Registry {
    let registry = builder.build();
    registry.register([("tool", tool.into())]).unwrap().keep();
    registry
}

#[test]
fn of_many_decisions_at_the_same_time_exactly_one_counts() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(4)
        .build()
        .unwrap();
    runtime.block_on(async {
        let runs = Count::default();
        let registry = registry_of(asking(), mirror(any(), &runs));
        for round in 1..=50 {
            let suspension = suspend(&registry, "{}").await;
            let gate = Arc::new(tokio::sync::Barrier::new(8));
            let tasks: Vec<_> = (0..8)
                .map(|number| {
                    let (registry, suspension) = (registry.clone(), suspension.clone());
                    let gate = Arc::clone(&gate);
                    tokio::spawn(async move {
                        gate.wait().await;
                        let verdict = match number {
                            0 => Verdict::Decline { note: None },
                            _ => Verdict::Approve,
                        };
                        resume(&registry, suspension, verdict).await
                    })
                })
                .collect();
            let mut first = 0;
            for task in tasks {
                let settled = task.await.unwrap();
                let decided = settled.outcome.as_str() == "completed"
                    || refusal(&settled).kind() == RefusalKind::Declined;
                if decided {
                    first += 1;
                } else {
                    assert_eq!(fault(&settled), ResumeFault::Used);
                }
            }
            assert_eq!(first, 1);
            assert!(runs.get() <= round);
        }
        assert!(runs.get() > 0);
    });
}

#[tokio::test]
async fn a_decision_that_may_have_been_forgotten_counts_as_made() {
    // A year to decide in: what was decided is remembered for as long.
    let (clock, runs) = (Clock::at(1_000), Count::default());
    let builder = asking().clock(clock.read()).suspension_ttl(DAY * 365);
    let registry = registry_of(builder, mirror(any(), &runs));
    let decided = suspend(&registry, "{}").await;
    assert!(
        !resume(&registry, decided.clone(), Verdict::Approve)
            .await
            .is_error()
    );
    for day in [1_032, 1_100, 1_364] {
        clock.turn_to(day);
        let other = suspend(&registry, "{}").await;
        assert!(!resume(&registry, other, Verdict::Approve).await.is_error());
        let again = resume(&registry, decided.clone(), Verdict::Approve).await;
        assert_eq!(fault(&again), ResumeFault::Used, "day {day}");
    }
    // Expired by now, and forgotten with the next decision.
    clock.turn_to(1_366);
    let other = suspend(&registry, "{}").await;
    assert!(!resume(&registry, other, Verdict::Approve).await.is_error());
    assert_eq!(
        fault(&resume(&registry, decided.clone(), Verdict::Approve).await),
        ResumeFault::Expired
    );
    // The clock goes back to when it was good.
    clock.turn_to(1_100);
    let again = resume(&registry, decided, Verdict::Approve).await;
    assert_eq!(fault(&again), ResumeFault::Used);
    assert_eq!(runs.get(), 5);
    // What is suspended from now on can be decided none the less.
    let fresh = suspend(&registry, "{}").await;
    assert!(!resume(&registry, fresh, Verdict::Approve).await.is_error());
}

#[tokio::test]
async fn state_keeps_what_has_not_passed_and_no_more() {
    let clock = Clock::at(10);
    let state = MemoryState::with_clock(clock.read());
    let until = |day: u32| UNIX_EPOCH + DAY * day;
    assert!(state.claim("a", until(12)).await.unwrap());
    assert!(state.claim("b", until(11)).await.unwrap());
    assert!(!state.claim("a", until(12)).await.unwrap());
    clock.turn_to(12);
    assert!(state.claim("c", until(13)).await.unwrap());
    // Both have passed and are forgotten; a claim of their time is refused all the same.
    clock.turn_to(10);
    for key in ["a", "b", "new"] {
        assert!(!state.claim(key, until(12)).await.unwrap(), "{key}");
    }
    assert!(state.claim("new", until(14)).await.unwrap());
}

#[tokio::test]
async fn no_date_is_too_near_too_far_or_too_early_for_the_clock() {
    let runs = Count::default();
    let registry = registry_of(asking().suspension_ttl(Duration::MAX), mirror(any(), &runs));
    let suspension = suspend(&registry, "{}").await;
    assert!(
        !resume(&registry, suspension, Verdict::Approve)
            .await
            .is_error()
    );

    let registry = registry_of(
        asking().suspension_ttl(Duration::ZERO),
        mirror(any(), &runs),
    );
    let suspension = suspend(&registry, "{}").await;
    let settled = resume(&registry, suspension, Verdict::Approve).await;
    assert_eq!(fault(&settled), ResumeFault::Expired);

    let builder = asking().clock(|| UNIX_EPOCH - DAY);
    let registry = registry_of(builder, mirror(any(), &runs));
    let settling = registry
        .snapshot()
        .settle(Call::new("tool", "{}"), &Facts::new());
    let settled = settling.approvals(tool_registry::Approvals::Suspend).await;
    assert_eq!(refusal(&settled).kind(), RefusalKind::Door);
    assert_eq!(runs.get(), 1);
}

#[tokio::test]
async fn the_caller_is_the_session_the_agent_and_the_identity_and_not_the_message_or_the_run() {
    let identity = |tenant: &str| Identification::principal("ada").tenant(tenant);
    let caller = || {
        Facts::new()
            .session("s")
            .agent("a")
            .message("m1")
            .run("r1")
            .identity(identity("acme"))
    };
    let runs = Count::default();
    let registry = registry_of(asking(), mirror(any(), &runs));
    let others = [
        Facts::new(),
        caller().session("other"),
        caller().agent("other"),
        caller().identity(identity("other")),
        caller().identity(Identification::principal("ada")),
    ];
    let suspension = suspend_as(&registry, "{}", &caller()).await;
    for other in others {
        let snapshot = registry.snapshot();
        let settled = snapshot
            .resume(suspension.clone(), Verdict::Approve, &other)
            .await;
        assert_eq!(fault(&settled), ResumeFault::Foreign, "{other:?}");
    }
    let later = caller().message("m2").run("r2");
    let snapshot = registry.snapshot();
    let settled = snapshot.resume(suspension, Verdict::Approve, &later).await;
    assert_eq!((settled.outcome.as_str(), runs.get()), ("completed", 1));
}

#[tokio::test]
async fn json_may_be_spelled_anew_and_no_value_may_change() {
    let runs = Count::default();
    let registry = registry_of(asking(), mirror(any(), &runs));
    let arguments = r#"{"z":0.1,"a":{"y":-0.0,"b":9007199254740993,"c":1e-7,"d":"é\u0000"}}"#;
    let suspension = suspend(&registry, arguments).await;
    let value = serde_json::to_value(&suspension).unwrap();
    // Keys in reverse, spaces everywhere.
    let reversed = reversed(&value);
    let back: Suspension = serde_json::from_str(&reversed).unwrap();
    assert_eq!(back, suspension);
    assert!(!resume(&registry, back, Verdict::Approve).await.is_error());

    let suspension = suspend(&registry, arguments).await;
    let text = serde_json::to_string(&suspension).unwrap();
    for (from, to) in [
        ("9007199254740993", "9007199254740992"),
        ("\"z\":0.1", "\"z\":0.10000000000000002"),
        ("-0.0", "0.0"),
    ] {
        let rounded = text.replace(from, to);
        assert_ne!(rounded, text);
        let rounded: Suspension = serde_json::from_str(&rounded).unwrap();
        let settled = resume(&registry, rounded, Verdict::Approve).await;
        assert_eq!(fault(&settled), ResumeFault::Forged, "{from}");
    }
    assert_eq!(runs.get(), 1);
}

/// JSON with the keys of every object in reverse.
fn reversed(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let pairs: Vec<_> = map
                .iter()
                .rev()
                .map(|(key, value)| format!("{} :\n {}", json!(key), reversed(value)))
                .collect();
            format!("{{{}}}", pairs.join(","))
        }
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(reversed).collect();
            format!("[{}]", items.join(","))
        }
        leaf => leaf.to_string(),
    }
}

#[tokio::test]
async fn arguments_of_megabytes_are_suspended_and_go_on() {
    let runs = Count::default();
    let registry = registry_of(asking(), mirror(any(), &runs));
    let rows: Vec<_> = (0..100_000)
        .map(|row| format!("row number {row}"))
        .collect();
    let arguments = json!({"rows": rows});
    let text = arguments.to_string();
    assert!(text.len() > 1_500_000);
    for delivered in [tool_core::Arguments::Text(text), arguments.clone().into()] {
        let settling = registry
            .snapshot()
            .settle(Call::new("tool", delivered), &Facts::new());
        let suspension = waiting(settling.approvals(tool_registry::Approvals::Suspend).await);
        let json = serde_json::to_vec(&suspension).unwrap();
        let suspension = serde_json::from_slice(&json).unwrap();
        let settled = resume(&registry, suspension, Verdict::Approve).await;
        assert_eq!(output(&settled), &arguments);
    }
}

#[tokio::test]
async fn what_was_approved_is_held_to_its_ceiling_and_to_what_it_wants() {
    let long = run(|_| async { Ok(json!("far too long")) }).ceiling(NonZeroUsize::MIN);
    let registry = registry_of(asking(), long);
    let settled = resume(&registry, suspend(&registry, "{}").await, Verdict::Approve).await;
    assert_eq!(refusal(&settled).kind(), RefusalKind::Ceiling);

    let report = ArtifactKind::new("report").unwrap();
    let schema = json!({
        "type": "object",
        "properties": {"ref": {"type": "string"}},
        "required": ["ref"]
    });
    let runs = Count::default();
    let wanting = mirror(schema, &runs)
        .wants("ref", report)
        .validation(Validation::Advertise);
    let builder = asking().artifacts(Shelf(|_: &str| Ok(None)));
    let registry = registry_of(builder, wanting);
    for arguments in ["{}", r#"{"ref":"gone"}"#] {
        let suspension = suspend(&registry, arguments).await;
        let settled = resume(&registry, suspension, Verdict::Approve).await;
        assert_eq!(
            refusal(&settled).kind(),
            RefusalKind::Artifact,
            "{arguments}"
        );
    }
    assert_eq!(runs.get(), 0);
}

#[tokio::test]
async fn policy_that_asks_about_more_by_now_asks() {
    let strict = Count::default();
    let switch = strict.clone();
    let policy = Rules(move |request: &tool_core::Request<'_>| {
        let capability = request.action.as_str() == "user_data";
        rule(match (capability, switch.get()) {
            (true, 0) => Decision::Allow,
            _ => Decision::Ask,
        })
    });
    let runs = Count::default();
    let tool = mirror(any(), &runs).capabilities([tool_core::Capability::UserData]);
    let permission = Permission::new(policy, NobodyToAsk);
    let registry = registry_of(Registry::builder().permission(permission), tool);
    let first = suspend(&registry, "{}").await;
    strict.add();
    let second = waiting(resume(&registry, first.clone(), Verdict::Approve).await);
    let user_data = Gate::Policy {
        action: "user_data".to_owned(),
    };
    assert_eq!(
        (&second.gate, &second.passed),
        (&user_data, &vec![first.gate])
    );
    assert!(!resume(&registry, second, Verdict::Approve).await.is_error());
    assert_eq!(runs.get(), 1);
}

#[tokio::test]
async fn whoever_decides_sees_the_arguments_that_will_run_and_no_key_without_a_value() {
    use tool_core::{Arguments, Incoming};
    let doubles = crate::ports::Before(|incoming: &mut Incoming, _: &Facts| {
        incoming.arguments = Arguments::from(json!({"amount": 20}));
        Ok(())
    });
    let runs = Count::default();
    let registry = registry_of(asking().before(doubles), mirror(any(), &runs));
    let suspension = suspend(&registry, r#"{"amount":10}"#).await;
    assert_eq!(suspension.arguments, json!({"amount": 20}));
    let json = serde_json::to_value(&suspension).unwrap();
    let keys: BTreeSet<_> = json
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    for absent in ["component", "consent", "passed"] {
        assert!(!keys.contains(absent), "{absent}");
    }
    let settled = resume(&registry, suspension, Verdict::Approve).await;
    assert_eq!(output(&settled), &json!({"amount": 20}));
}

#[tokio::test(start_paused = true)]
async fn state_that_does_not_answer_refuses_in_time() {
    let runs = Count::default();
    struct Silent(Stuck);
    impl State for Silent {
        fn claim<'a>(
            &'a self,
            _: &'a str,
            _: SystemTime,
        ) -> tool_core::BoxFuture<'a, Result<bool, tool_core::StateError>> {
            self.0.wait()
        }
    }
    let limit = Duration::from_secs(3);
    let builder = asking().state(Silent(Stuck::default())).gate_timeout(limit);
    let registry = registry_of(builder, mirror(any(), &runs));
    let suspension = suspend(&registry, "{}").await;
    let began = tokio::time::Instant::now();
    let settled = resume(&registry, suspension, Verdict::Approve).await;
    assert_eq!(fault(&settled), ResumeFault::Unknown);
    assert_eq!((began.elapsed(), runs.get()), (limit, 0));
}

#[tokio::test]
async fn a_request_is_resumed_as_it_was_advertised() {
    let runs = Count::default();
    let registry = registry_of(asking(), mirror(any(), &runs));
    let renamed = || {
        let snapshot = registry.snapshot();
        snapshot
            .with_view(|view| view.rename("tool", "alias"))
            .unwrap()
    };
    let settling = renamed().settle(Call::new("alias", "{}"), &Facts::new());
    let suspension = waiting(settling.approvals(tool_registry::Approvals::Suspend).await);
    let elsewhere = resume(&registry, suspension.clone(), Verdict::Approve).await;
    assert_eq!(refusal(&elsewhere).kind(), RefusalKind::Unknown);

    let settling = renamed().settle(Call::new("alias", "{}"), &Facts::new());
    let suspension = waiting(settling.approvals(tool_registry::Approvals::Suspend).await);
    let settled = renamed()
        .resume(suspension, Verdict::Approve, &Facts::new())
        .await;
    assert_eq!((settled.outcome.as_str(), runs.get()), ("completed", 1));
}

#[tokio::test]
async fn a_decision_is_about_the_tool_that_was_shown_and_not_about_its_twin() {
    use tool_core::{Namespace, Source};
    let registry = asking().build();
    let runs = [Count::default(), Count::default()];
    for (server, runs) in ["one", "two"].into_iter().zip(&runs) {
        let source = Source::Server(Namespace::new(server).unwrap());
        let registrar = registry.registrar(source);
        registrar
            .register([("delete", mirror(any(), runs))])
            .unwrap()
            .keep();
    }
    // One definition under one name, in two requests.
    let request = |server: &str| {
        let snapshot = registry.snapshot();
        let name = format!("{server}__delete");
        snapshot
            .with_view(|view| view.rename(&name, "delete"))
            .unwrap()
    };
    let call = Call::new("delete", "{}");
    let settling = request("one").settle(call, &Facts::new());
    let suspension = waiting(settling.approvals(tool_registry::Approvals::Suspend).await);
    assert_eq!(suspension.identity, "one/delete");
    let twin = request("two").resume(suspension.clone(), Verdict::Approve, &Facts::new());
    assert_eq!(fault(&twin.await), ResumeFault::Definition);
    assert_eq!((runs[0].get(), runs[1].get()), (0, 0));
}
