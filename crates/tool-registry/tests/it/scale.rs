//! What does not grow with the number of registered tools.

use std::ptr;

use serde_json::json;
use tool_core::{Call, Context, Facts, Tool};
use tool_registry::Registry;

use crate::ports::open;
use crate::tools::fixed;

fn registry_of(tools: usize) -> (Registry, tool_registry::Registration) {
    let registry = open().build();
    let tool = fixed("said");
    let tools = (0..tools).map(|n| (format!("tool_{n:05}"), tool.clone()));
    let registration = registry.register(tools).unwrap();
    (registry, registration)
}

#[test]
fn two_snapshots_without_a_change_between_share_one_picture() {
    let (registry, _tools) = registry_of(100);
    let (one, two) = (registry.snapshot(), registry.snapshot());
    let same = one.entries().zip(two.entries()).all(|(a, b)| ptr::eq(a, b));
    assert!(same && one.entries().len() == 100);
    // The list of definitions itself is one and the same, not a copy of equal parts.
    let first =
        |snapshot: &tool_registry::Snapshot| ptr::from_ref(snapshot.entries().next().unwrap());
    assert_eq!(first(&one), first(&two));
}

#[test]
fn a_change_makes_a_new_picture_that_shares_every_entry_that_stayed() {
    let (registry, _tools) = registry_of(100);
    let before = registry.snapshot();
    let _more = registry.register([("another", fixed("x"))]).unwrap();
    let after = registry.snapshot();
    assert_eq!((before.entries().len(), after.entries().len()), (100, 101));
    for entry in before.entries() {
        let name = entry.wire_name().as_str();
        assert!(ptr::eq(entry, after.get(name).unwrap()), "{name}");
    }
}

/// What settling one call allocates in a registry of so many tools.
fn allocated(tools: usize) -> (u64, u64) {
    let (registry, _tools) = registry_of(tools);
    allocated_in(&registry, &Facts::new().session("s1"))
}

/// What settling one call allocates.
fn allocated_in(registry: &Registry, facts: &Facts) -> (u64, u64) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let settle = || {
        let call = Call::new("tool_00003", json!({"a": 1})).id("c1");
        let settled = runtime.block_on(async { registry.snapshot().settle(call, facts).await });
        assert_eq!(settled.text(), "said");
    };
    // The first snapshot after a change makes the picture; what comes behind it must not.
    settle();
    let measured = allocation_counter::measure(settle);
    (measured.count_total, measured.bytes_total)
}

#[test]
fn a_call_among_ten_thousand_tools_allocates_what_a_call_among_ten_does() {
    assert_eq!(allocated(10_000), allocated(10));
}

#[test]
fn telling_who_calls_and_who_is_told_of_it_allocates_nothing_for_a_call() {
    let told = open().events(|_: &tool_core::Event<'_>| {}).build();
    let silent = open().build();
    for registry in [&told, &silent] {
        let tool = fixed("said");
        registry.register([("tool_00003", tool)]).unwrap().keep();
    }
    let somebody = Facts::new()
        .session("s1")
        .identity(tool_core::Identification::principal("ada").tenant("acme"));
    let least = allocated_in(&silent, &Facts::new().session("s1"));
    assert_eq!(allocated_in(&told, &somebody), least);
    // One host serves progress, inner calls, cleanups and credentials.
    assert!(least.0 <= 20, "{least:?}");
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Many {
    one: i64,
    two: Option<bool>,
    three: &'static str,
    four: [u8; 2],
}

#[tokio::test]
async fn output_is_checked_and_shown_and_becomes_a_value_only_for_the_first_who_asks() {
    let registry = open().build();
    let tool = Tool::new("Counts", |_: Nothing, _: Context| async {
        Ok(Many {
            one: 1,
            two: None,
            three: "three",
            four: [4, 4],
        })
    });
    registry.register([("many", tool)]).unwrap().keep();
    let call = Call::new("many", "{}");
    let settled = registry.snapshot().settle(call, &Facts::new()).await;
    let expected = json!({"one": 1, "two": null, "three": "three", "four": [4, 4]});
    assert_eq!(settled.text(), expected.to_string());

    let read = || {
        let measured = allocation_counter::measure(|| assert!(settled.output().is_some()));
        measured.count_total
    };
    // A key each, and a text.
    assert!(read() > 4, "nobody has asked before");
    assert_eq!(read(), 0);
    assert_eq!(settled.output(), Some(&expected));
    assert_eq!(settled.structured(), Some(&expected));
}

#[test]
fn every_one_of_ten_thousand_tools_is_found_under_its_name() {
    let (registry, tools) = registry_of(10_000);
    let snapshot = registry.snapshot();
    assert_eq!(snapshot.entries().len(), 10_000);
    for (identity, wire) in tools.entries() {
        let entry = snapshot.get(wire.as_str()).unwrap();
        assert_eq!(entry.identity(), identity);
    }
    assert!(snapshot.definitions().is_sorted_by(|a, b| a.name < b.name));
}
