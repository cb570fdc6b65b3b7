//! Saved approvals: their scopes, their ends, and that gateways share them.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use proptest::prelude::*;
use serde_json::json;
use tool_core::{
    Action, BoxFuture, Decision, Digest, Facts, Identity, Namespace, Policy, Request, Resource,
    Source, State, StateError, StateReading, StateVersion, ToolName,
};
use tool_permission::{Approval, Approvals, ApprovalsError, Layer, Rule, RulePolicy, Scope};

/// State that several gateways share, and that can be broken.
#[derive(Default)]
pub(crate) struct Shared {
    values: Mutex<HashMap<String, (u64, Vec<u8>)>>,
    claimed: Mutex<HashSet<String>>,
    broken: Mutex<bool>,
}

impl Shared {
    fn check(&self) -> Result<(), StateError> {
        match *self.broken.lock().unwrap() {
            true => Err(StateError::new("the disk is gone")),
            false => Ok(()),
        }
    }
}

impl State for Shared {
    fn claim<'a>(
        &'a self,
        key: &'a str,
        _until: SystemTime,
    ) -> BoxFuture<'a, Result<bool, StateError>> {
        Box::pin(async move {
            self.check()?;
            Ok(self.claimed.lock().unwrap().insert(key.to_owned()))
        })
    }

    fn read<'a>(
        &'a self,
        key: &'a str,
        known: Option<&'a StateVersion>,
    ) -> BoxFuture<'a, Result<StateReading, StateError>> {
        Box::pin(async move {
            self.check()?;
            let values = self.values.lock().unwrap();
            let Some((version, value)) = values.get(key) else {
                return Ok(StateReading::Absent);
            };
            let version = StateVersion::new(version.to_string());
            Ok(match known == Some(&version) {
                true => StateReading::Unchanged,
                false => StateReading::Value(value.clone(), version),
            })
        })
    }

    fn write<'a>(
        &'a self,
        key: &'a str,
        expected: Option<&'a StateVersion>,
        value: &'a [u8],
    ) -> BoxFuture<'a, Result<Option<StateVersion>, StateError>> {
        Box::pin(async move {
            // Others get their turn between reading and writing.
            tokio::task::yield_now().await;
            self.check()?;
            let mut values = self.values.lock().unwrap();
            let now = values.get(key).map(|(version, _)| version.to_string());
            if now.as_deref() != expected.map(StateVersion::as_str) {
                return Ok(None);
            }
            let next = values.get(key).map_or(1, |(version, _)| version + 1);
            values.insert(key.to_owned(), (next, value.to_vec()));
            Ok(Some(StateVersion::new(next.to_string())))
        })
    }
}

fn gateway(state: &Arc<Shared>, rules: impl IntoIterator<Item = Rule>) -> RulePolicy {
    let state: Arc<dyn State> = Arc::clone(state) as _;
    RulePolicy::new([Layer::new("test", rules).unwrap()])
        .approvals(Approvals::kept_in(state, "project"))
}

async fn decide(policy: &RulePolicy, facts: &Facts, action: &str, name: &str) -> Decision {
    let request = Request::new(Action::new(action), [Resource::from(name)], facts);
    policy.decide(&request).await.unwrap().decision
}

#[tokio::test]
async fn what_one_gateway_grants_or_revokes_holds_in_the_other_at_once() {
    let state = Arc::new(Shared::default());
    let (one, other) = (gateway(&state, []), gateway(&state, []));
    let facts = Facts::new();
    assert_eq!(decide(&other, &facts, "fetch", "a").await, Decision::Ask);

    let approval = Approval::new("fetch", "a", Scope::Project);
    let granted = one.saved().grant([approval], None).await.unwrap();
    assert_eq!(decide(&other, &facts, "fetch", "a").await, Decision::Allow);
    assert_eq!(decide(&other, &facts, "fetch", "ab").await, Decision::Ask);
    assert_eq!(decide(&other, &facts, "send", "a").await, Decision::Ask);

    assert!(other.saved().revoke(&granted[0].id).await.unwrap());
    assert!(!other.saved().revoke(&granted[0].id).await.unwrap());
    assert_eq!(decide(&one, &facts, "fetch", "a").await, Decision::Ask);
}

#[tokio::test]
async fn an_approval_is_named_by_its_id_where_a_ruling_names_what_decided() {
    let state = Arc::new(Shared::default());
    let policy = gateway(&state, []);
    let secret = Approval::new("fetch", "canary", Scope::Project);
    let granted = policy.saved().grant([secret.clone(), secret], None).await;
    let [granted] = <[Approval; 1]>::try_from(granted.unwrap()).unwrap();
    let facts = Facts::new();
    let request = Request::new(Action::new("fetch"), [Resource::from("canary")], &facts);
    let ruling = policy.decide(&request).await.unwrap();
    let named = format!("saved approval {}", granted.id);
    assert_eq!(ruling.rule(), Some(named.as_str()));
    assert_eq!(ruling.because, format!("allow fetch canary ({named})"));
}

#[tokio::test]
async fn a_scope_holds_for_whom_it_names_and_for_nobody_else() {
    let policy = gateway(&Arc::default(), []);
    let grants = [
        Approval::new("fetch", "of session", Scope::Session("s".into())),
        Approval::new("fetch", "of agent", Scope::Agent("a".into())),
        Approval::new("fetch", "of tool", Scope::Project).for_tool("db/query"),
    ];
    policy.saved().grant(grants, None).await.unwrap();
    let facts = Facts::new().session("s").agent("a");
    let others = Facts::new().session("s2").agent("a2");
    for name in ["of session", "of agent"] {
        assert_eq!(
            decide(&policy, &facts, "fetch", name).await,
            Decision::Allow
        );
        assert_eq!(decide(&policy, &others, "fetch", name).await, Decision::Ask);
        let none = Facts::new();
        assert_eq!(decide(&policy, &none, "fetch", name).await, Decision::Ask);
    }
    assert_eq!(
        decide(&policy, &facts, "fetch", "of tool").await,
        Decision::Ask
    );
}

#[tokio::test]
async fn no_approval_beats_a_deny_or_a_sticky_ask() {
    let rules = [
        Rule::deny("fetch", "denied"),
        Rule::ask("fetch", "sticky").sticky(),
        Rule::ask("fetch", "asked"),
    ];
    let policy = gateway(&Arc::default(), rules);
    let all = Approval::new("*", "**", Scope::Project);
    policy.saved().grant([all], None).await.unwrap();
    let facts = Facts::new();
    assert_eq!(
        decide(&policy, &facts, "fetch", "denied").await,
        Decision::Deny
    );
    assert_eq!(
        decide(&policy, &facts, "fetch", "sticky").await,
        Decision::Ask
    );
    assert_eq!(
        decide(&policy, &facts, "fetch", "asked").await,
        Decision::Allow
    );
}

#[tokio::test]
async fn an_approval_ends_when_it_says() {
    let now = Arc::new(Mutex::new(UNIX_EPOCH + Duration::from_secs(1_000)));
    let clock = Arc::clone(&now);
    let approvals = Approvals::in_memory().with_clock(move || *clock.lock().unwrap());
    let policy = RulePolicy::new([]).approvals(approvals.clone());
    let approval = Approval::new("fetch", "a", Scope::Project);
    let minute = Duration::from_secs(60);
    approvals.grant([approval], Some(minute)).await.unwrap();
    let facts = Facts::new();
    *now.lock().unwrap() += minute - Duration::from_millis(1);
    assert_eq!(decide(&policy, &facts, "fetch", "a").await, Decision::Allow);
    *now.lock().unwrap() += Duration::from_millis(1);
    assert_eq!(decide(&policy, &facts, "fetch", "a").await, Decision::Ask);
    assert!(approvals.list().await.unwrap().is_empty());
}

#[tokio::test]
async fn state_that_cannot_be_read_allows_nothing_and_is_not_overwritten() {
    let state = Arc::new(Shared::default());
    let policy = gateway(&state, [Rule::allow("send", "*")]);
    let approval = || Approval::new("fetch", "a", Scope::Project);
    policy.saved().grant([approval()], None).await.unwrap();
    let facts = Facts::new();
    assert_eq!(decide(&policy, &facts, "fetch", "a").await, Decision::Allow);

    *state.broken.lock().unwrap() = true;
    assert_eq!(decide(&policy, &facts, "fetch", "a").await, Decision::Ask);
    assert_eq!(decide(&policy, &facts, "send", "a").await, Decision::Allow);
    *state.broken.lock().unwrap() = false;

    for text in [
        "{",
        r#"{"version":2,"approvals":[]}"#,
        r#"{"version":1,"more":1}"#,
    ] {
        let value = (9, text.as_bytes().to_vec());
        let key = "approvals/project".to_owned();
        state.values.lock().unwrap().insert(key, value.clone());
        assert_eq!(decide(&policy, &facts, "fetch", "a").await, Decision::Ask);
        let error = policy.saved().grant([approval()], None).await.unwrap_err();
        let understood = matches!(error, ApprovalsError::Form(_) | ApprovalsError::Version(2));
        assert!(understood, "{error:?}");
        assert_eq!(state.values.lock().unwrap()["approvals/project"], value);
        state.values.lock().unwrap().clear();
    }
}

#[tokio::test]
async fn an_ask_rule_decides_though_approvals_cannot_be_read() {
    let state = Arc::new(Shared::default());
    let policy = gateway(&state, [Rule::ask("fetch", "asked")]);
    *state.broken.lock().unwrap() = true;
    let facts = Facts::new();
    for (name, rule) in [("asked", Some("ask fetch asked (test)")), ("other", None)] {
        let request = Request::new(Action::new("fetch"), [Resource::from(name)], &facts);
        let ruling = policy.decide(&request).await.unwrap();
        assert_eq!(ruling.decision, Decision::Ask);
        assert_eq!(ruling.rule(), rule);
        assert!(
            ruling.because.ends_with("the disk is gone"),
            "{}",
            ruling.because
        );
    }
}

/// A call of a tool, with everything that an approval of it is bound to.
struct Call {
    tool: Identity,
    source: Source,
    definition: Digest,
    arguments: serde_json::Value,
    facts: Facts,
    action: &'static str,
}

impl Call {
    fn new() -> Self {
        let source = Source::Server(Namespace::new("db").unwrap());
        Self {
            tool: Identity::new(&source, ToolName::new("query").unwrap()),
            source,
            definition: Digest::of(b"definition"),
            arguments: json!({"to": "a", "cc": ["b"]}),
            facts: Facts::new().session("s").agent("a"),
            action: "call",
        }
    }

    fn with<T>(&self, then: impl FnOnce(&Request<'_>) -> T) -> T {
        let name = Resource::from(self.tool.to_string());
        let mut request = Request::new(Action::new(self.action), [name], &self.facts);
        request.tool = Some(&self.tool);
        request.source = Some(&self.source);
        request.definition = Some(&self.definition);
        request.set_arguments(Some(&self.arguments));
        then(&request)
    }

    async fn decide(&self, policy: &RulePolicy) -> Decision {
        let name = Resource::from(self.tool.to_string());
        let mut request = Request::new(Action::new(self.action), [name], &self.facts);
        request.tool = Some(&self.tool);
        request.source = Some(&self.source);
        request.definition = Some(&self.definition);
        request.set_arguments(Some(&self.arguments));
        policy.decide(&request).await.unwrap().decision
    }
}

#[tokio::test]
async fn an_approved_call_runs_once_with_exactly_what_was_approved() {
    let policy = gateway(&Arc::default(), []);
    let call = Call::new();
    let approval = call.with(Approval::of_call).unwrap();
    policy.saved().grant([approval], None).await.unwrap();

    type Change = fn(&mut Call);
    let changed: [(&str, Change); 5] = [
        ("arguments", |call| call.arguments["to"] = json!("b")),
        ("definition", |call| call.definition = Digest::of(b"other")),
        ("session", |call| {
            call.facts = Facts::new().session("t").agent("a")
        }),
        ("agent", |call| call.facts = Facts::new().session("s")),
        ("action", |call| call.action = "external_net"),
    ];
    for (what, change) in changed {
        let mut other = Call::new();
        change(&mut other);
        assert_eq!(other.decide(&policy).await, Decision::Ask, "{what}");
    }
    // The same arguments, written in another order.
    let mut same = Call::new();
    same.arguments = json!({"cc": ["b"], "to": "a"});
    assert_eq!(same.decide(&policy).await, Decision::Allow);
    assert_eq!(same.decide(&policy).await, Decision::Ask);
}

#[tokio::test]
async fn of_two_gateways_one_uses_an_approved_call() {
    let state = Arc::new(Shared::default());
    let gateways: Vec<_> = (0..8).map(|_| gateway(&state, [])).collect();
    let call = Call::new();
    let approval = call.with(Approval::of_call).unwrap();
    gateways[0].saved().grant([approval], None).await.unwrap();
    let mut tasks = tokio::task::JoinSet::new();
    for policy in gateways {
        tasks.spawn(async move { Call::new().decide(&policy).await });
    }
    let decided = tasks.join_all().await;
    let allowed = decided.iter().filter(|one| **one == Decision::Allow);
    assert_eq!(allowed.count(), 1);
}

#[tokio::test]
async fn an_approval_of_a_call_is_used_up_in_memory_too_and_lasts_an_hour_at_most() {
    let memory = RulePolicy::new([]);
    for policy in [memory, gateway(&Arc::default(), [])] {
        let call = Call::new();
        let approval = call.with(Approval::of_call).unwrap();
        let week = Duration::from_secs(7 * 24 * 3600);
        for lasts in [None, Some(week)] {
            let granted = policy.saved().grant([approval.clone()], lasts).await;
            let granted = &granted.unwrap()[0];
            let end = granted.created_ms + 3_600_000;
            assert_eq!(granted.expires_ms, Some(end));
        }
        assert_eq!(call.decide(&policy).await, Decision::Allow);
        assert_eq!(call.decide(&policy).await, Decision::Ask);
        assert!(policy.saved().list().await.unwrap().is_empty());
    }
}

#[tokio::test]
async fn an_approved_call_that_was_used_stays_used_where_an_older_state_comes_back() {
    let state = Arc::new(Shared::default());
    let policy = gateway(&state, []);
    let call = Call::new();
    let approval = call.with(Approval::of_call).unwrap();
    policy.saved().grant([approval], None).await.unwrap();
    let older = state.values.lock().unwrap().clone();
    assert_eq!(call.decide(&policy).await, Decision::Allow);
    *state.values.lock().unwrap() = older;
    let restarted = gateway(&state, []);
    assert_eq!(restarted.saved().list().await.unwrap().len(), 1);
    assert_eq!(call.decide(&restarted).await, Decision::Ask);
}

#[tokio::test]
async fn an_approval_of_a_tool_does_not_outlive_its_definition() {
    let policy = gateway(&Arc::default(), []);
    let call = Call::new();
    let approval =
        call.with(|request| Approval::new("call", "db/query", Scope::Project).for_tool_of(request));
    policy.saved().grant([approval], None).await.unwrap();
    assert_eq!(call.decide(&policy).await, Decision::Allow);
    let mut changed = Call::new();
    changed.definition = Digest::of(b"a new description");
    assert_eq!(changed.decide(&policy).await, Decision::Ask);
}

#[tokio::test]
async fn an_approval_that_can_never_hold_is_not_saved_nor_are_those_beside_it() {
    let approvals = Approvals::in_memory();
    for (action, resource) in [("two words", "a"), ("fetch", " "), ("write", "a/../b")] {
        let useless = Approval::new(action, resource, Scope::Project);
        let useful = Approval::new("fetch", "a", Scope::Project);
        let granted = approvals.grant([useful, useless], None).await;
        assert!(matches!(granted, Err(ApprovalsError::Useless(_))));
        assert!(approvals.list().await.unwrap().is_empty());
    }
}

#[tokio::test]
async fn gateways_that_grant_at_once_lose_none() {
    let state = Arc::new(Shared::default());
    let mut tasks = tokio::task::JoinSet::new();
    for at in 0..40 {
        let policy = gateway(&state, []);
        tasks.spawn(async move {
            let approval = Approval::new("fetch", format!("page{at}"), Scope::Project);
            policy.saved().grant([approval], None).await.map(drop)
        });
    }
    assert!(tasks.join_all().await.iter().all(Result::is_ok));
    let list = gateway(&state, []).saved().list().await.unwrap();
    assert_eq!(list.len(), 40);
}

proptest! {
    #[test]
    fn approvals_allow_the_same_in_whatever_order_they_arrive(
        (patterns, shuffled) in prop::collection::vec("[ab*]{1,3}", 0..6)
            .prop_flat_map(|all| (Just(all.clone()), Just(all).prop_shuffle())),
        denied in "[ab*]{1,2}",
        name in "[ab]{0,3}",
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let decisions = [patterns.clone(), shuffled].map(|patterns| {
            runtime.block_on(async {
                let policy = gateway(&Arc::default(), [Rule::deny("fetch", &denied)]);
                for pattern in patterns {
                    let approval = Approval::new("fetch", pattern, Scope::Project);
                    policy.saved().grant([approval], None).await.unwrap();
                }
                decide(&policy, &Facts::new(), "fetch", &name).await
            })
        });
        prop_assert_eq!(decisions[0], decisions[1]);
        let matches = |text: &String| tool_permission::Pattern::new(text).matches(&name);
        let expected = match (matches(&denied), patterns.iter().any(matches)) {
            (true, _) => Decision::Deny,
            (false, true) => Decision::Allow,
            (false, false) => Decision::Ask,
        };
        prop_assert_eq!(decisions[0], expected);
    }
}
