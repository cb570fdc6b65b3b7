//! Observers that a host may attach: repeated calls, made-up arguments, classed results.

use std::sync::Arc;

use serde_json::{Value, json};
use tool_core::{AfterHook, Call, Facts, RepeatedWhen, ResultClass, Settlement, Tool, ToolFailure};
use tool_registry::{GroundedArguments, Registry, RepeatedCalls, ResultClasses};

use crate::ports::{Count, Log, open};
use crate::tools::{mirror, run};

fn watched(hook: impl AfterHook + 'static, tools: Vec<(&'static str, Tool)>) -> Registry {
    let registry = open().after(hook).build();
    registry.register(tools).unwrap().keep();
    registry
}

async fn settle(registry: &Registry, run: &str, name: &str, arguments: Value) -> Settlement {
    let facts = if run.is_empty() {
        Facts::new()
    } else {
        Facts::new().run(run)
    };
    registry
        .snapshot()
        .settle(Call::new(name, arguments), &facts)
        .await
}

fn noted(settled: &Settlement) -> bool {
    settled.text().contains("was made before")
}

#[tokio::test]
async fn the_second_landing_of_a_call_earns_one_note_and_no_other_does() {
    let any = json!({"type": "object"});
    let fails = run(|_| async { Err(ToolFailure::new("no such file").into()) });
    let registry = watched(
        RepeatedCalls::new(),
        vec![("tool", mirror(any, &Count::default())), ("fails", fails)],
    );
    let (one, turned) = (json!({"a": 1, "b": [1, 2]}), json!({"b": [1, 2], "a": 1}));
    let mut notes = Vec::new();
    for arguments in [
        one.clone(),
        turned,
        one.clone(),
        json!({"a": 1, "b": [2, 1]}),
    ] {
        notes.push(noted(&settle(&registry, "r", "tool", arguments).await));
    }
    assert_eq!(notes, [false, true, false, false]);
    // Per run, and only for calls of a run.
    assert!(!noted(
        &settle(&registry, "other", "tool", one.clone()).await
    ));
    for _ in 0..3 {
        assert!(!noted(&settle(&registry, "", "tool", one.clone()).await));
    }
    // A failure that repeats counts as well.
    assert!(!noted(&settle(&registry, "r", "fails", json!({})).await));
    let again = settle(&registry, "r", "fails", json!({})).await;
    assert!(noted(&again) && again.outcome.as_str() == "failed");
    assert!(again.text().contains("the same result"));
}

#[tokio::test]
async fn a_tool_may_count_by_arguments_alone_and_the_note_claims_no_equal_result() {
    let count = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let changing = run(move |_| {
        let next = count.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        async move { Ok(json!(next)) }
    });
    let by_arguments = changing.clone().repeated_when(RepeatedWhen::Arguments);
    let registry = watched(
        RepeatedCalls::new(),
        vec![("both", changing), ("arguments", by_arguments)],
    );
    for _ in 0..3 {
        assert!(!noted(&settle(&registry, "r", "both", json!({})).await));
    }
    assert!(!noted(
        &settle(&registry, "r", "arguments", json!({})).await
    ));
    let second = settle(&registry, "r", "arguments", json!({})).await;
    assert!(noted(&second) && !second.text().contains("the same result"));
}

#[tokio::test]
async fn arguments_that_no_ground_served_are_reported_without_their_values() {
    let log = Log::default();
    let seen = log.clone();
    let observer = GroundedArguments::new(move |finding: &tool_registry::Ungrounded| {
        let paths = finding.arguments.join(" ");
        seen.write(format!(
            "{} {paths} {}",
            finding.tool, finding.ground_called
        ));
    });
    let any = json!({"type": "object"});
    let list = run(|_| async { Ok(json!([{"id": "u1", "size": 5}])) });
    let open_one = mirror(any, &Count::default()).arguments_from(["list"]);
    let registry = watched(observer, vec![("list", list), ("open", open_one)]);
    settle(
        &registry,
        "r",
        "open",
        json!({"id": "u9", "deep": {"flag": true}}),
    )
    .await;
    settle(&registry, "r", "list", json!({})).await;
    settle(&registry, "r", "open", json!({"id": "u1", "n": 5})).await;
    settle(
        &registry,
        "r",
        "open",
        json!({"id": "u1", "also": ["canary"]}),
    )
    .await;
    settle(&registry, "other", "open", json!({"id": "u1"})).await;
    assert_eq!(
        log.lines(),
        ["open /id false", "open /also/0 true", "open /id false"]
    );
}

#[tokio::test]
async fn a_classed_result_without_its_coverage_is_reported() {
    let log = Log::default();
    let seen = log.clone();
    let observer = ResultClasses::new(move |finding: &tool_registry::Uncovered| {
        seen.write(format!("{} {:?}", finding.tool, finding.class));
    });
    let any = json!({"type": "object"});
    let classed = mirror(any.clone(), &Count::default()).result_class(ResultClass::Inventory);
    let registry = watched(
        observer,
        vec![
            ("classed", classed),
            ("plain", mirror(any, &Count::default())),
        ],
    );
    let covered = json!({"coverage": {"seen": 3, "total": 9}});
    let settled = settle(&registry, "", "classed", covered).await;
    assert!(!settled.is_error());
    settle(&registry, "", "plain", json!({})).await;
    assert!(log.lines().is_empty());
    settle(&registry, "", "classed", json!({"coverage": "all"})).await;
    assert_eq!(log.lines(), ["classed Inventory"]);
}
