//! Events of calls beside each other are told apart, and each call has a last one.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tool_core::{Call, Digest, Event, EventKind, Facts};
use tool_registry::Registry;

use crate::ports::{Count, open};
use crate::tools::{mirror, run};
use crate::waits::any;

type Told = Arc<Mutex<BTreeMap<Option<u64>, Vec<String>>>>;

/// Everything that is told, by call.
fn told() -> (Told, impl Fn(&Event<'_>) + Send + Sync) {
    let told = Told::default();
    let seen = Arc::clone(&told);
    let sink = move |event: &Event<'_>| {
        let word = match &event.kind {
            EventKind::Stage(_) | EventKind::Ruled { .. } => return,
            EventKind::Received {
                definition,
                arguments,
                ..
            } => format!("{} {} {definition}", event.tool, json!(arguments)),
            EventKind::Settled(settlement) => settlement.outcome.as_str().to_owned(),
            EventKind::Dropped => format!("{} dropped", event.tool),
            kind => format!("{kind:?}"),
        };
        let mut told = seen.lock().unwrap();
        told.entry(event.number).or_default().push(word);
    };
    (told, sink)
}

fn digest(registry: &Registry, tool: &str) -> Digest {
    registry.snapshot().get(tool).unwrap().digest()
}

#[tokio::test]
async fn calls_of_one_id_beside_each_other_are_told_apart_by_number() {
    let (told, sink) = told();
    let registry = open().events(sink).build();
    let tool = mirror(any(), &Count::default());
    registry.register([("tool", tool)]).unwrap().keep();
    let digest = digest(&registry, "tool");
    let calls = (0..3).map(|n| Call::new("tool", json!({"n": n})).id("same"));
    let snapshot = registry.snapshot();
    snapshot.settle_all(calls, &Facts::new()).await;
    let told = told.lock().unwrap();
    assert_eq!(
        told.keys().copied().collect::<Vec<_>>(),
        [Some(1), Some(2), Some(3)]
    );
    for (n, words) in told.values().enumerate() {
        let received = format!("tool {{\"n\":{n}}} {digest}");
        assert_eq!(words, &[received, "completed".to_owned()]);
    }
}

#[tokio::test]
async fn what_is_no_json_is_received_without_arguments_and_what_is_unknown_not_at_all() {
    let (told, sink) = told();
    let registry = open().events(sink).build();
    let tool = mirror(any(), &Count::default());
    registry.register([("tool", tool)]).unwrap().keep();
    let digest = digest(&registry, "tool");
    let snapshot = registry.snapshot();
    snapshot.settle(Call::new("tool", "{"), &Facts::new()).await;
    snapshot
        .settle(Call::new("other", "{}"), &Facts::new())
        .await;
    let told = told.lock().unwrap();
    let received = format!("tool null {digest}");
    assert_eq!(told[&Some(1)], [received, "refused".to_owned()]);
    assert_eq!(told[&Some(2)], ["refused".to_owned()]);
}

#[tokio::test]
async fn a_call_that_is_dropped_has_a_last_event_and_one_that_never_began_has_none() {
    let (told, sink) = told();
    let registry = open().events(sink).build();
    let tool = run(|_| async {
        std::future::pending::<()>().await;
        Ok(Value::Null)
    });
    registry.register([("tool", tool)]).unwrap().keep();
    let snapshot = registry.snapshot();
    let facts = Facts::new();
    drop(snapshot.settle(Call::new("tool", "{}"), &facts));
    let mut begun = Box::pin(
        snapshot
            .settle(Call::new("tool", "{}"), &facts)
            .into_future(),
    );
    assert!(futures_util::poll!(&mut begun).is_pending());
    drop(begun);
    let told = told.lock().unwrap();
    assert_eq!(told.len(), 1);
    let words = told.values().next().unwrap();
    assert_eq!(words.len(), 2);
    assert_eq!(words[1], "tool dropped");
}

#[tokio::test]
async fn everybody_who_listens_is_told_also_behind_one_that_panics() {
    let (first, one) = told();
    let (second, two) = told();
    let registry = open()
        .events(one)
        .events(|_: &Event<'_>| panic!("deaf"))
        .events(two)
        .build();
    registry
        .snapshot()
        .settle(Call::new("none", "{}"), &Facts::new())
        .await;
    let first = first.lock().unwrap();
    assert_eq!(*first, *second.lock().unwrap());
    assert_eq!(first[&Some(1)], ["refused"]);
}
