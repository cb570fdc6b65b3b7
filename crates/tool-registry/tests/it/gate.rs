//! The gate fails closed: nothing runs that policy, a person or a hook has not let through.

use std::sync::{Arc, Mutex};

use serde_json::json;
use tool_core::{
    Answer, Approver, ApproverError, Ask, BoxFuture, Call, Capability, ClosedPolicy, Decision,
    Facts, Namespace, NobodyToAsk, Outcome, Permission, Policy, PolicyError, Refusal, Request,
    Ruling, Settlement, Source, Tool, Word,
};
use tool_registry::{Door, Registry};

use crate::ports::{Always, Answers, Count, Log, Rules, rule};
use crate::tools::{echo, mirror, refusal};

fn counting(runs: &Count) -> Tool {
    mirror(json!({"type": "object"}), runs)
}

/// Settles one call of a counting tool under a permission, and returns how often it ran.
async fn under(permission: Permission) -> (Settlement, usize) {
    let runs = Count::default();
    let registry = Registry::builder().permission(permission).build();
    let _tool = registry.register([("counter", counting(&runs))]).unwrap();
    let call = Call::new("counter", "{}");
    let settled = registry.snapshot().settle(call, &Facts::new()).await;
    (settled, runs.get())
}

#[tokio::test]
async fn a_registry_without_a_policy_runs_nothing() {
    let runs = Count::default();
    let registry = Registry::default();
    let _tool = registry.register([("counter", counting(&runs))]).unwrap();
    let settled = crate::tools::call(&registry, "counter").await;
    assert!(matches!(refusal(&settled), Refusal::Denied(_)));
    assert_eq!(runs.get(), 0);
}

#[tokio::test]
async fn ask_with_nobody_there_is_a_denial_that_names_the_tool() {
    let (settled, runs) = under(Permission::new(Always(Decision::Ask), NobodyToAsk)).await;
    assert_eq!(
        settled.text(),
        "permission for counter was denied; calling again will not change that"
    );
    assert_eq!(
        refusal(&settled).operator(),
        "counter denied: the rule of this test, and nobody is there to ask"
    );
    assert_eq!(runs, 0);
}

#[tokio::test]
async fn deny_is_never_asked_and_never_run() {
    let asked = Answers::yes();
    let (settled, runs) = under(Permission::new(Always(Decision::Deny), asked.clone())).await;
    assert_eq!(
        settled.text(),
        "permission for counter was denied; calling again will not change that"
    );
    assert_eq!((asked.1.get(), runs), (0, 0));
}

#[tokio::test]
async fn allow_runs_and_asks_nobody() {
    let asked = Answers::yes();
    let (settled, runs) = under(Permission::new(Always(Decision::Allow), asked.clone())).await;
    assert!(matches!(settled.outcome, Outcome::Completed));
    assert_eq!((asked.1.get(), runs), (0, 1));
}

#[tokio::test]
async fn ask_runs_once_it_is_approved() {
    let asked = Answers::yes();
    let (settled, runs) = under(Permission::new(Always(Decision::Ask), asked.clone())).await;
    assert!(matches!(settled.outcome, Outcome::Completed));
    assert_eq!((asked.1.get(), runs), (1, 1));
}

#[tokio::test]
async fn a_decline_is_told_from_a_denial_and_its_note_reaches_the_model() {
    let answers = |note: Option<&str>| {
        Answers(
            Answer::Declined {
                note: note.map(str::to_owned),
            },
            Count::default(),
        )
    };
    let (settled, runs) = under(Permission::new(
        Always(Decision::Ask),
        answers(Some("use staging")),
    ))
    .await;
    assert_eq!(settled.text(), "the user declined: use staging");
    assert_eq!(runs, 0);
    let (settled, _) = under(Permission::new(Always(Decision::Ask), answers(None))).await;
    assert!(matches!(
        refusal(&settled),
        Refusal::Declined { note: None }
    ));
}

#[tokio::test]
async fn the_reason_of_a_rule_reaches_the_model_and_the_rule_itself_does_not() {
    let policy = Rules(|_: &Request<'_>| {
        Ok(Ruling::new(Decision::Deny, "/etc/policy.toml:14")
            .reason(Some("production is frozen".to_owned())))
    });
    let (settled, _) = under(Permission::new(policy, NobodyToAsk)).await;
    assert_eq!(
        settled.text(),
        "permission for counter was denied: production is frozen"
    );
    assert!(refusal(&settled).operator().contains("/etc/policy.toml:14"));
}

struct Broken;

impl Approver for Broken {
    fn ask<'a>(&'a self, _: Ask<'a>) -> BoxFuture<'a, Result<Word, ApproverError>> {
        Box::pin(async { Err(ApproverError::new("the desk at 10.0.0.7 is down")) })
    }
}

struct Panics;

impl Policy for Panics {
    fn decide<'a>(&'a self, _: &'a Request<'a>) -> BoxFuture<'a, Result<Ruling, PolicyError>> {
        Box::pin(async { panic!("canary policy") })
    }
}

impl Approver for Panics {
    fn ask<'a>(&'a self, _: Ask<'a>) -> BoxFuture<'a, Result<Word, ApproverError>> {
        panic!("canary approver")
    }
}

#[tokio::test]
async fn a_broken_policy_denies_and_only_the_operator_reads_why() {
    let policy =
        Rules(|_: &Request<'_>| Err(PolicyError::new(std::io::Error::other("db at 10.0.0.7"))));
    let (settled, runs) = under(Permission::new(policy, Answers::yes())).await;
    assert!(!settled.text().contains("10.0.0.7"), "{}", settled.text());
    assert_eq!(
        refusal(&settled).operator(),
        "counter denied: policy could not decide: db at 10.0.0.7"
    );
    assert_eq!(runs, 0);
}

#[tokio::test]
async fn a_broken_approver_denies_and_only_the_operator_reads_why() {
    let (settled, runs) = under(Permission::new(Always(Decision::Ask), Broken)).await;
    assert!(matches!(refusal(&settled), Refusal::Denied(_)));
    assert!(!settled.text().contains("10.0.0.7"), "{}", settled.text());
    assert!(refusal(&settled).operator().contains("10.0.0.7"));
    assert_eq!(runs, 0);
}

#[tokio::test]
async fn a_policy_or_an_approver_that_panics_runs_nothing() {
    for permission in [
        Permission::new(Panics, NobodyToAsk),
        Permission::new(Always(Decision::Ask), Panics),
    ] {
        let (settled, runs) = under(permission).await;
        assert!(matches!(settled.outcome, Outcome::Defect(_)));
        assert!(!settled.text().contains("canary"));
        assert_eq!(runs, 0);
    }
}

#[tokio::test]
async fn hints_of_a_tool_loosen_nothing() {
    let runs = Count::default();
    let registry = Registry::builder()
        .permission(Permission::new(ClosedPolicy, NobodyToAsk))
        .build();
    let harmless = counting(&runs).read_only().capabilities([]);
    let server = registry.registrar(Source::Server(Namespace::new("files").unwrap()));
    let _tool = server.register([("harmless", harmless)]).unwrap();
    let settled = crate::tools::call(&registry, "files__harmless").await;
    assert!(matches!(refusal(&settled), Refusal::Denied(_)));
    assert_eq!(runs.get(), 0);
}

#[tokio::test]
async fn one_decision_guards_every_door_and_the_batch() {
    let (runs, log) = (Count::default(), Log::default());
    let asked = log.clone();
    let policy = Rules(move |request: &Request<'_>| {
        asked.write(format!("{} {}", request.action, request.resources[0]));
        rule(Decision::Deny)
    });
    let registry = Registry::builder()
        .permission(Permission::new(policy, NobodyToAsk))
        .build();
    let _tool = registry.register([("counter", counting(&runs))]).unwrap();
    let snapshot = registry.snapshot();
    for door in [
        Door::Model,
        Door::Resumed,
        Door::Mcp,
        Door::Inner,
        Door::Code,
    ] {
        let call = Call::new("counter", "{}");
        let settled = snapshot.settle(call, &Facts::new()).door(door).await;
        assert!(matches!(refusal(&settled), Refusal::Denied(_)), "{door:?}");
    }
    let calls = [Call::new("counter", "{}"), Call::new("counter", "{}")];
    for settled in snapshot.settle_all(calls, &Facts::new()).await {
        assert!(matches!(refusal(&settled), Refusal::Denied(_)));
    }
    assert_eq!(runs.get(), 0);
    assert_eq!(log.lines(), vec!["call counter"; 7]);
}

#[tokio::test]
async fn policy_is_asked_about_the_identity_the_source_the_arguments_and_whose_call_it_is() {
    let seen = Arc::new(Mutex::new(None));
    let told = seen.clone();
    let policy = Rules(move |request: &Request<'_>| {
        *told.lock().unwrap() = Some(json!({
            "action": request.action.as_str(),
            "resources": request.resources.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "tool": request.tool.map(ToString::to_string),
            "source": request.source.map(ToString::to_string),
            "call": request.call.map(|id| id.as_str()),
            "session": request.facts.session_id().map(|id| id.as_str()),
            "arguments": request.arguments(),
            "asserts": request.asserts,
        }));
        rule(Decision::Allow)
    });
    let registry = Registry::builder()
        .permission(Permission::new(policy, NobodyToAsk))
        .build();
    let server = registry.registrar(Source::Server(Namespace::new("db").unwrap()));
    let tool = mirror(json!({"type": "object"}), &Count::default());
    let registration = server.register([("my.query", tool)]).unwrap();
    let wire = registration.entries()[0].1.to_string();
    let call = Call::new(wire, r#"{"q":1}"#).id("c1");
    let facts = Facts::new().session("s1");
    let _ = registry.snapshot().settle(call, &facts).await;
    assert_eq!(
        seen.lock().unwrap().take().unwrap(),
        json!({
            "action": "call",
            "resources": ["db/my.query"],
            "tool": "db/my.query",
            "source": "server db",
            "call": "c1",
            "session": "s1",
            "arguments": {"q": 1},
            "asserts": false,
        })
    );
}

#[tokio::test]
async fn policy_sees_attempts_with_invalid_arguments_and_its_denial_comes_first() {
    let log = Log::default();
    let asked = log.clone();
    let policy = Rules(move |request: &Request<'_>| {
        asked.write(format!(
            "{:?}",
            request.arguments().map(ToString::to_string)
        ));
        rule(Decision::Deny)
    });
    let registry = Registry::builder()
        .permission(Permission::new(policy, NobodyToAsk))
        .build();
    let _echo = registry.register([("echo", echo())]).unwrap();
    for arguments in ["{", r#"{"txt":1}"#] {
        let call = Call::new("echo", arguments);
        let settled = registry.snapshot().settle(call, &Facts::new()).await;
        assert!(matches!(refusal(&settled), Refusal::Denied(_)));
    }
    assert_eq!(log.lines(), ["None", r#"Some("{\"txt\":1}")"#]);
}

#[tokio::test]
async fn capabilities_are_asked_in_the_order_declared_after_the_call_itself() {
    let log = Log::default();
    let asked = log.clone();
    let policy = Rules(move |request: &Request<'_>| {
        asked.write(request.action.as_str());
        rule(if request.action.as_str() == "external_net" {
            Decision::Deny
        } else {
            Decision::Allow
        })
    });
    let runs = Count::default();
    let registry = Registry::builder()
        .permission(Permission::new(policy, NobodyToAsk))
        .build();
    let tool = counting(&runs).capabilities([
        Capability::MemoryRead,
        Capability::ExternalNet,
        Capability::UserData,
    ]);
    let _tool = registry.register([("counter", tool)]).unwrap();
    let settled = crate::tools::call(&registry, "counter").await;
    assert_eq!(log.lines(), ["call", "memory_read", "external_net"]);
    assert!(
        settled.text().contains("external_net"),
        "{}",
        settled.text()
    );
    assert_eq!(runs.get(), 0);
}

#[tokio::test]
async fn a_capability_that_policy_does_not_govern_is_not_asked_about() {
    let runs = Count::default();
    let registry = Registry::builder()
        .permission(Permission::new(Always(Decision::Allow), NobodyToAsk))
        .build();
    let tool = counting(&runs).capabilities([Capability::UserData]);
    let _tool = registry.register([("counter", tool)]).unwrap();
    let settled = crate::tools::call(&registry, "counter").await;
    assert!(matches!(settled.outcome, Outcome::Completed));
    assert_eq!(runs.get(), 1);
}

#[tokio::test]
async fn every_open_question_is_put_and_one_no_is_enough() {
    struct NoUserData(Log);
    impl Approver for NoUserData {
        fn ask<'a>(&'a self, ask: Ask<'a>) -> BoxFuture<'a, Result<Word, ApproverError>> {
            let action = ask.request.action.as_str().to_owned();
            self.0.write(action.clone());
            Box::pin(async move {
                Ok(if action == "user_data" {
                    Answer::Declined { note: None }.into()
                } else {
                    Answer::Approved.into()
                })
            })
        }
    }
    let (runs, log) = (Count::default(), Log::default());
    let policy = Rules(|_: &Request<'_>| rule(Decision::Ask));
    let registry = Registry::builder()
        .permission(Permission::new(policy, NoUserData(log.clone())))
        .build();
    let tool = counting(&runs).capabilities([Capability::MemoryRead, Capability::UserData]);
    let _tool = registry.register([("counter", tool)]).unwrap();
    let settled = crate::tools::call(&registry, "counter").await;
    assert!(matches!(refusal(&settled), Refusal::Declined { .. }));
    assert_eq!(log.lines(), ["call", "memory_read", "user_data"]);
    assert_eq!(runs.get(), 0);
}

#[tokio::test]
async fn nobody_is_asked_about_a_call_whose_arguments_are_invalid() {
    let asked = Answers::yes();
    let registry = Registry::builder()
        .permission(Permission::new(Always(Decision::Ask), asked.clone()))
        .build();
    let _echo = registry.register([("echo", echo())]).unwrap();
    let settled = crate::tools::call(&registry, "echo").await;
    assert!(matches!(refusal(&settled), Refusal::InvalidArguments(_)));
    assert_eq!(asked.1.get(), 0);
}
