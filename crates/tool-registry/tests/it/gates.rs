//! What a call waits for: policy, approval, check-in, consent, a result from outside.

use serde_json::json;
use tool_core::{
    Answer, BoxFuture, Call, CallFacts, Capability, CheckIn, Component, Consent, Content,
    Credential, CredentialError, CredentialNeed, Credentials, Decision, Facts, Gate, NeedsApproval,
    NobodyToAsk, Outcome, Permission, Produced, Refusal, RefusalKind, ResumeFault, Suspension,
    Tool, ToolFailure, Verdict,
};
use tool_registry::{Approvals, Door, Registry};

use crate::ports::{Always, Answers, Count, Rules, open, rule};
use crate::tools::{mirror, output, refusal};
use crate::waits::{any, asking, fault, resume, suspend, waiting};

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
    for door in [Door::Inner] {
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

/// An approver that writes down what it is asked.
struct Asked(crate::ports::Log, Answer);

impl tool_core::Approver for Asked {
    fn ask<'a>(
        &'a self,
        ask: tool_core::Ask<'a>,
    ) -> BoxFuture<'a, Result<tool_core::Word, tool_core::ApproverError>> {
        let component = ask
            .request
            .metadata
            .map(|metadata| json!(metadata).to_string());
        self.0.write(format!(
            "{} {} {}",
            ask.request.action,
            ask.request
                .arguments()
                .map(ToString::to_string)
                .unwrap_or_default(),
            component.unwrap_or_default()
        ));
        Box::pin(async { Ok(self.1.clone().into()) })
    }
}

#[tokio::test]
async fn an_approver_is_shown_the_arguments_and_the_component_and_a_no_names_the_tool() {
    let log = crate::ports::Log::default();
    let registry = |answer| {
        let approver = Asked(log.clone(), answer);
        let permission = Permission::new(Always(Decision::Allow), approver);
        let registry = Registry::builder().permission(permission).build();
        let component = Component::new("slider");
        let tool = mirror(any(), &Count::default())
            .needs_approval(true)
            .check_in(CheckIn::always().component(component));
        registry.register([("refund", tool)]).unwrap().keep();
        registry
    };
    let settle = async |registry: Registry| {
        let call = Call::new("refund", r#"{"cents":5}"#);
        registry.snapshot().settle(call, &Facts::new()).await
    };
    assert!(!settle(registry(Answer::Approved)).await.is_error());
    assert_eq!(
        log.lines(),
        [
            r#"approve {"cents":5} "#,
            r#"check_in {"cents":5} {"component":{"id":"slider"}}"#
        ]
    );
    let settled = settle(registry(Answer::Nobody)).await;
    assert_eq!(
        settled.text(),
        "permission for refund was denied; calling again will not change that"
    );
}

#[tokio::test(start_paused = true)]
async fn a_predicate_that_comes_to_no_end_asks_in_time() {
    let limit = std::time::Duration::from_secs(3);
    let runs = Count::default();
    let endless = NeedsApproval::when(|_: serde_json::Value, _: CallFacts| std::future::pending());
    let registry = open().gate_timeout(limit).build();
    let tool = mirror(any(), &runs).needs_approval(endless);
    let _tool = registry.register([("tool", tool)]).unwrap();
    let began = tokio::time::Instant::now();
    let suspension = suspend(&registry, "{}").await;
    assert_eq!(
        (suspension.gate.clone(), began.elapsed()),
        (Gate::Approval, limit)
    );
    let settled = resume(&registry, suspension, Verdict::Approve).await;
    assert_eq!((settled.outcome.as_str(), runs.get()), ("completed", 1));
}
