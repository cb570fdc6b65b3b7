//! What observers remember, how much of it, and what they tell a host.

use serde_json::{Value, json};
use tool_core::{
    Call, Digest, Facts, Namespace, RepeatedWhen, Settlement, Source, Tool, ToolFailure,
    canonical_json,
};
use tool_registry::{GroundedArguments, Registry, Repeated, RepeatedCalls, Ungrounded};

use crate::ports::{Count, Log, open};
use crate::tools::{mirror, run};
use crate::waits::any;

async fn settle(registry: &Registry, run: &str, name: &str, arguments: Value) -> Settlement {
    registry
        .snapshot()
        .settle(Call::new(name, arguments), &Facts::new().run(run))
        .await
}

#[tokio::test]
async fn a_repeated_call_is_reported_once_by_digests_alone() {
    let seen: std::sync::Arc<std::sync::Mutex<Vec<Repeated>>> = Default::default();
    let reports = std::sync::Arc::clone(&seen);
    let observer = RepeatedCalls::new().report(move |repeated: &Repeated| {
        reports.lock().unwrap().push(repeated.clone());
    });
    let registry = open().after(observer).build();
    let tool = mirror(any(), &Count::default());
    registry
        .register([
            ("both", tool.clone()),
            ("arguments", tool.repeated_when(RepeatedWhen::Arguments)),
        ])
        .unwrap()
        .keep();
    let arguments = json!({"b": "canary", "a": 1});
    for name in ["both", "arguments"] {
        for _ in 0..4 {
            settle(&registry, "r", name, arguments.clone()).await;
        }
    }
    let seen = seen.lock().unwrap();
    let digest = Digest::of(canonical_json(&arguments).as_bytes());
    assert_eq!(seen.len(), 2);
    assert!(seen.iter().all(|one| one.arguments == digest));
    assert!(seen[0].result.is_some() && seen[0].by == RepeatedWhen::ArgumentsAndResult);
    assert!(seen[1].result.is_none() && seen[1].by == RepeatedWhen::Arguments);
    assert!(!format!("{seen:?}").contains("canary"));
}

/// A loop is a loop also where the tool says "Error" without the mark of one.
#[tokio::test]
async fn the_same_failing_call_is_noticed_however_it_is_spelled_and_marked() {
    let unmarked = || run(|_| async { Ok(json!("Error: no such file")) });
    let marked = || run(|_| async { Err(ToolFailure::new("there is no such file").into()) });
    for tool in [unmarked(), marked()] {
        let seen: std::sync::Arc<std::sync::Mutex<Vec<Repeated>>> = Default::default();
        let reports = std::sync::Arc::clone(&seen);
        let observer = RepeatedCalls::new().report(move |repeated: &Repeated| {
            reports.lock().unwrap().push(repeated.clone());
        });
        let registry = open().after(observer).build();
        registry.register([("read", tool)]).unwrap().keep();
        let (mut told, mut spellings) = (0, [json!({"a": 1, "b": 2}), json!({"b": 2, "a": 1})]);
        for _ in 0..20 {
            spellings.swap(0, 1);
            let settled = settle(&registry, "r", "read", spellings[0].clone()).await;
            told += usize::from(settled.content.len() > 1);
        }
        assert_eq!(seen.lock().unwrap().len(), 1, "it is reported once");
        assert!(told >= 1, "the model is told");
    }
}

#[tokio::test]
async fn without_the_observer_and_without_a_repetition_nothing_differs() {
    let tool = || run(|_| async { Ok(json!("same")) });
    let observed = open().after(RepeatedCalls::new()).build();
    let plain = open().build();
    let mut settled = Vec::new();
    for registry in [&observed, &plain] {
        registry.register([("tool", tool())]).unwrap().keep();
        settled.push(settle(registry, "r", "tool", json!({})).await);
    }
    assert_eq!(format!("{:?}", settled[0]), format!("{:?}", settled[1]));
    let again = settle(&plain, "r", "tool", json!({})).await;
    assert_eq!(format!("{again:?}"), format!("{:?}", settled[1]));
}

/// The condition that counts a call: one that was refused, for its ceiling say, has no result that
/// could be the same again.
#[tokio::test]
async fn a_refused_call_is_no_call_that_repeats() {
    let registry = open().after(RepeatedCalls::new()).build();
    let tool = run(|_| async { Ok(json!("too long")) });
    let tool = tool.ceiling(std::num::NonZeroUsize::MIN);
    registry.register([("tool", tool)]).unwrap().keep();
    let first = settle(&registry, "r", "tool", json!({})).await;
    for _ in 0..3 {
        let again = settle(&registry, "r", "tool", json!({})).await;
        assert_eq!(again.text(), first.text());
    }
}

#[tokio::test]
async fn eight_runs_and_ten_thousand_calls_of_each_are_remembered() {
    let registry = open().after(RepeatedCalls::new()).build();
    registry
        .register([("tool", mirror(any(), &Count::default()))])
        .unwrap()
        .keep();
    let is_noted = async |run: &str, number: usize| {
        let settled = settle(&registry, run, "tool", json!({"n": number})).await;
        settled.text().contains("was made before")
    };
    for run in 0..8 {
        assert!(!is_noted(&format!("r{run}"), 0).await);
    }
    // Calling keeps a run among the last; the ninth run pushes the other out.
    assert!(is_noted("r0", 0).await);
    assert!(!is_noted("r8", 0).await);
    assert!(!is_noted("r1", 0).await);
    assert!(!is_noted("r0", 0).await, "the third landing earns no note");

    for number in 0..10_001 {
        assert!(!is_noted("long", number).await);
    }
    // The first was forgotten, the second was not.
    assert!(is_noted("long", 1).await);
    assert!(!is_noted("long", 0).await);
}

fn grounded(log: &Log) -> tool_registry::RegistryBuilder {
    let seen = log.clone();
    open().after(GroundedArguments::new(move |finding: &Ungrounded| {
        seen.write(finding.arguments.join(" "));
    }))
}

#[tokio::test]
async fn a_ground_that_served_more_than_is_remembered_grounds_everything() {
    let log = Log::default();
    let registry = grounded(&log).build();
    let list = run(|_| async { Ok(json!((0..100_001).collect::<Vec<_>>())) });
    let small = run(|_| async { Ok(json!([1])) });
    let reads = |ground: &str| mirror(any(), &Count::default()).arguments_from([ground]);
    registry
        .register([
            ("list", list),
            ("small", small),
            ("read", reads("list")),
            ("peek", reads("small")),
        ])
        .unwrap()
        .keep();
    settle(&registry, "r", "list", json!({})).await;
    settle(&registry, "r", "read", json!({"id": "made up"})).await;
    assert!(log.lines().is_empty());
    // Another run has served nothing.
    settle(&registry, "other", "read", json!({"id": "made up"})).await;
    assert_eq!(log.lines(), ["/id"]);
    settle(&registry, "other", "small", json!({})).await;
    settle(&registry, "other", "peek", json!({"id": 1, "n": 2})).await;
    assert_eq!(log.lines(), ["/id", "/n"]);
}

#[tokio::test]
async fn grounds_are_named_by_wire_name_or_by_identity_and_findings_are_short() {
    let log = Log::default();
    let registry = grounded(&log).build();
    let acme = Source::Plugin(Namespace::new("acme").unwrap());
    let list = run(|_| async { Ok(json!(["u1"])) });
    registry
        .registrar(acme)
        .register([("list", list)])
        .unwrap()
        .keep();
    let tools: Vec<(&str, Tool)> = ["acme__list", "acme/list"]
        .into_iter()
        .zip(["by_wire", "by_identity"])
        .map(|(ground, name)| {
            let tool = mirror(any(), &Count::default());
            (name, tool.arguments_from([ground]))
        })
        .collect();
    registry.register(tools).unwrap().keep();
    settle(&registry, "r", "acme__list", json!({})).await;
    for name in ["by_wire", "by_identity"] {
        settle(&registry, "r", name, json!({"id": "u1"})).await;
    }
    assert!(log.lines().is_empty());
    let many: Vec<_> = (0..1_000).collect();
    settle(&registry, "r", "by_wire", json!({"ids": many})).await;
    assert_eq!(log.lines()[0].split(' ').count(), 100);
}
