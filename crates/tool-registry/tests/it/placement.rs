//! Long results as artifacts: what comes before it, what it leads to, and who sees the ticket.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::StreamExt as _;
use serde_json::{Value, json};
use tool_core::{
    AfterHook, Artifact, ArtifactDraft, ArtifactError, ArtifactKind, ArtifactStore, Bound,
    BoxFuture, Call, Context, Facts, HookError, Kept, Outcome, Payload, RefusalKind, SettledCall,
    Settlement, Tool, ToolFailure, Validation,
};
use tool_registry::{Registry, RegistryBuilder, SettlementEvent};

use crate::passing::Pantry;
use crate::ports::{After, Count, Drawer, Log, Stuck, open};
use crate::tools::{refusal, run};

/// A store that counts what is put into it.
#[derive(Clone, Default)]
struct Counting(Pantry, Count);

impl ArtifactStore for Counting {
    fn get<'a>(
        &'a self,
        facts: &'a Facts,
        reference: &'a str,
    ) -> BoxFuture<'a, Result<Option<Artifact>, ArtifactError>> {
        self.0.get(facts, reference)
    }

    fn put<'a>(
        &'a self,
        facts: &'a Facts,
        draft: ArtifactDraft,
        payload: Payload,
    ) -> BoxFuture<'a, Result<Kept, ArtifactError>> {
        self.1.add();
        self.0.put(facts, draft, payload)
    }
}

fn size(number: usize) -> NonZeroUsize {
    NonZeroUsize::new(number).unwrap()
}

fn says(text: String) -> Tool {
    run(move |_| {
        let text = text.clone();
        async move { Ok(json!(text)) }
    })
}

fn kind(word: &str) -> ArtifactKind {
    ArtifactKind::new(word).unwrap()
}

async fn settle(builder: RegistryBuilder, tool: Tool) -> Settlement {
    let registry = builder.build();
    registry.register([("tool", tool)]).unwrap().keep();
    let call = Call::new("tool", "{}").id("c1");
    registry.snapshot().settle(call, &Facts::new()).await
}

/// What is placed under a settlement, if it shows a ticket.
fn ticket(settlement: &Settlement) -> Option<Value> {
    let shown: Value = serde_json::from_str(&settlement.text()).ok()?;
    (shown.get("placed") == Some(&json!(true))).then_some(shown)
}

#[tokio::test]
async fn a_ceiling_comes_before_a_ticket_and_a_ticket_before_a_cut() {
    // Every way of dealing with a result of 100 characters, switched on and off.
    for number in 0..8 {
        let [ceiling, placed, cut] = [1, 2, 4].map(|bit| number & bit != 0);
        let (store, drawer) = (Counting::default(), Drawer::default());
        let mut builder = open().artifacts(store.clone());
        if placed {
            builder = builder.place_above(size(40));
        }
        if cut {
            builder = builder
                .outputs(Arc::new(drawer.clone()))
                .bound(Bound::new(16, 2).unwrap());
        }
        let mut tool = says("x".repeat(100));
        if ceiling {
            tool = tool.ceiling(size(99));
        }
        let settled = settle(builder, tool).await;
        let case = format!("ceiling {ceiling}, placed {placed}, cut {cut}");
        let kept = drawer.kept.lock().unwrap().len();
        if ceiling {
            assert_eq!(refusal(&settled).kind(), RefusalKind::Ceiling, "{case}");
            assert_eq!((store.1.get(), kept, &settled.output), (0, 0, &None));
        } else if placed {
            assert!(matches!(settled.outcome, Outcome::Completed), "{case}");
            let ticket = ticket(&settled).unwrap_or_else(|| panic!("{case}: no ticket"));
            assert_eq!(ticket["bytes"], 100);
            // The ticket is what is shown, longer than the bound as it is.
            assert_eq!((store.1.get(), kept, settled.retained.len()), (1, 0, 0));
        } else if cut {
            assert_eq!((store.1.get(), kept, settled.retained.len()), (0, 1, 1));
        } else {
            assert_eq!(settled.text(), "x".repeat(100), "{case}");
            assert_eq!((store.1.get(), kept), (0, 0));
        }
    }
}

#[tokio::test]
async fn what_is_placed_is_spent_by_whoever_wants_the_declared_kind_and_no_other() {
    let rows = || says("a row of it".repeat(10));
    let taken = Log::default();
    let log = taken.clone();
    let schema = json!({
        "type": "object", "properties": {"rows": {"type": "string"}}, "required": ["rows"]
    });
    let spends = Tool::dynamic("Spends", schema, move |input: Value, _: Context| {
        log.write(input["rows"].as_str().unwrap_or_default());
        async { Ok(json!("spent")) }
    })
    .wants("rows", kind("sales/rows"));
    let registry = open()
        .artifacts(Pantry::default())
        .place_above(size(40))
        .build();
    let tools = [
        ("declared", rows().result_kind(kind("sales/rows"))),
        ("segment", rows().result_kind(kind("sales/rows/2"))),
        ("silent", rows()),
        ("spends", spends),
    ];
    registry.register(tools).unwrap().keep();
    let settle = async |name: &str, arguments: Value| {
        let call = Call::new(name, arguments);
        registry.snapshot().settle(call, &Facts::new()).await
    };
    let mut tickets = Vec::new();
    for (name, mismatch) in [
        ("declared", None),
        ("segment", Some("sales/rows/2")),
        ("silent", Some("tool-result/silent")),
    ] {
        let mut ticket = ticket(&settle(name, json!({})).await).unwrap();
        let spent = settle("spends", json!({"rows": ticket["ref"]})).await;
        match mismatch {
            None => assert_eq!(spent.text(), "spent"),
            Some(other) => {
                assert_eq!(refusal(&spent).kind(), RefusalKind::Artifact);
                let text = format!("rows must be sales/rows, got {other}; there are art_0");
                assert!(spent.text().starts_with(&text), "{}", spent.text());
            }
        }
        // Beside the reference and the kind, in both of its places, they say the same.
        let kind = ticket["kind"].as_str().unwrap().to_owned();
        ticket["reason"] = json!(ticket["reason"].as_str().unwrap().replace(&kind, "?"));
        ticket["ref"] = json!("?");
        ticket["kind"] = json!("?");
        tickets.push(ticket);
    }
    assert_eq!(taken.lines(), ["a row of it".repeat(10)]);
    assert_eq!(tickets[0], tickets[1]);
    assert_eq!(tickets[0], tickets[2]);
}

#[tokio::test]
async fn nothing_but_a_result_is_placed_and_nothing_without_being_asked_for() {
    let long = || "y".repeat(400);
    let failing = run(move |_| async move { Err(ToolFailure::new("y".repeat(400)).into()) });
    let panics = run(|cx: Context| async move {
        assert!(cx.call_id().is_none(), "on purpose");
        Ok(json!(1))
    });
    let checked = says(long()).input_schema(json!({
        "type": "object", "required": [long()]
    }));
    for tool in [failing, panics, checked] {
        let store = Counting::default();
        let builder = open().artifacts(store.clone()).place_above(size(10));
        let settled = settle(builder, tool).await;
        assert!(settled.is_error() && ticket(&settled).is_none());
        assert_eq!(store.1.get(), 0, "{}", settled.text());
    }
    // A store alone places nothing.
    let store = Counting::default();
    let settled = settle(open().artifacts(store.clone()), says(long())).await;
    assert_eq!((settled.text(), store.1.get()), (long(), 0));
    // Where there is no store a long result is bounded, or shown.
    let settled = settle(open().place_above(size(10)), says(long())).await;
    assert_eq!(settled.text(), long());
    let drawer = Drawer::default();
    let bounded = open()
        .outputs(Arc::new(drawer.clone()))
        .bound(Bound::new(16, 2).unwrap());
    let settled = settle(bounded.place_above(size(10)), says(long())).await;
    assert_eq!(settled.retained.len(), 1);
}

/// Counts the warnings of the builder.
#[derive(Clone, Default)]
struct Warned(Count);

impl tracing::Subscriber for Warned {
    fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }

    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}

    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        if event.metadata().target() == "tool_registry::builder" {
            self.0.add();
        }
    }

    fn enter(&self, _: &tracing::span::Id) {}

    fn exit(&self, _: &tracing::span::Id) {}
}

#[test]
fn a_dial_without_a_store_is_told_when_the_registry_is_built() {
    let warned = Warned::default();
    // As long as one alone collects, the thread that comes to a place first is asked for all.
    let _another = tracing::Dispatch::new(Warned::default());
    tracing::subscriber::with_default(warned.clone(), || {
        let _sound = open()
            .place_above(size(10))
            .artifacts(Pantry::default())
            .build();
        let _without = open().artifacts(Pantry::default()).build();
        assert_eq!(warned.0.get(), 0);
        let _misset = open().place_above(size(10)).build();
        assert_eq!(warned.0.get(), 1);
    });
}

/// Sends results on by what they say.
struct Routes(Log);

impl AfterHook for Routes {
    fn after<'a>(
        &'a self,
        settlement: &'a mut Settlement,
        _: &'a SettledCall<'a>,
    ) -> BoxFuture<'a, Result<(), HookError>> {
        let text = settlement.text();
        let route = match (text.contains("needle"), text.contains("\"placed\":true")) {
            (true, false) => "by the text",
            (false, true) => "by the ticket",
            _ => "by both or neither",
        };
        self.0.write(route);
        Box::pin(async { Ok(()) })
    }
}

#[tokio::test]
async fn whoever_goes_by_the_text_of_a_result_sees_the_ticket_once_results_are_placed() {
    let routes = Log::default();
    let long = || says(format!("{}needle", "hay".repeat(20)));
    let builder = || {
        let hook = Routes(routes.clone());
        open().artifacts(Pantry::default()).after(hook)
    };
    settle(builder(), long()).await;
    let placed = settle(builder().place_above(size(40)), long()).await;
    assert_eq!(routes.lines(), ["by the text", "by the ticket"]);
    // Programs still have the output itself.
    let output = placed.output().and_then(Value::as_str);
    assert!(output.is_some_and(|output| output.ends_with("needle")));
}

/// What hooks that come before the ticket is seen do to it.
#[tokio::test(start_paused = true)]
async fn what_is_placed_goes_when_the_ticket_is_shown_to_nobody() {
    let registry = |store: &Pantry, builder: RegistryBuilder| {
        let builder = builder.artifacts(store.clone()).place_above(size(40));
        let registry = builder.build();
        let tool = [("tool", says("x".repeat(100)))];
        registry.register(tool).unwrap().keep();
        registry.snapshot()
    };
    let call = || Call::new("tool", "{}");
    let facts = Facts::new().session("s1");

    let (store, stuck) = (Pantry::default(), Stuck::default());
    let snapshot = registry(&store, open().after(stuck.clone()));
    let mut dropped = snapshot.settle(call(), &facts).into_future();
    assert!(futures_util::poll!(dropped.as_mut()).is_pending());
    assert_eq!((stuck.reached.get(), store.count()), (1, 1));
    drop(dropped);
    assert_eq!(store.count(), 0, "dropped");

    let late = snapshot.settle(call(), &facts);
    let late = late.timeout(Duration::from_secs(1)).await;
    assert_eq!(late.outcome.as_str(), "timed_out");
    assert_eq!((stuck.reached.get(), store.count()), (2, 0));

    let broken = After(|settlement: &mut Settlement, _: &Facts| {
        assert!(ticket(settlement).is_some());
        Err(HookError::broken("the hook is out of order"))
    });
    let store = Pantry::default();
    let settled = registry(&store, open().after(broken)).settle(call(), &facts);
    assert_eq!(settled.await.outcome.as_str(), "defect");
    assert_eq!(store.count(), 0, "broken");

    // One that is seen stays.
    let store = Pantry::default();
    let settled = registry(&store, open()).settle(call(), &facts).await;
    assert!(ticket(&settled).is_some());
    assert_eq!(store.count(), 1);
}

/// Of calls that have settled, while whoever waits for them waits for something else as well.
#[tokio::test]
async fn what_is_placed_goes_with_a_settlement_that_was_not_given_out() {
    let contexts: Arc<Mutex<Vec<Context>>> = Arc::default();
    let keeps = Arc::clone(&contexts);
    let long = run(move |cx: Context| {
        // A task that outlives the call may have its context for long.
        keeps.lock().unwrap().push(cx.clone());
        cx.progress("done");
        async { Ok(json!("x".repeat(100))) }
    });
    let store = Pantry::default();
    let registry = open()
        .artifacts(store.clone())
        .place_above(size(40))
        .build();
    let endless = run(|_| std::future::pending());
    let tools = [("long", long), ("endless", endless)];
    registry.register(tools).unwrap().keep();
    let snapshot = registry.snapshot();
    let facts = Facts::new();

    let calls = ["long", "endless"].map(|name| Call::new(name, "{}"));
    let mut batch = Box::pin(snapshot.batch(calls, &facts).settle());
    assert!(futures_util::poll!(batch.as_mut()).is_pending());
    assert_eq!(store.count(), 1);
    drop(batch);
    assert_eq!(store.count(), 0, "batch");

    let mut events = snapshot.settle(Call::new("long", "{}"), &facts).stream();
    assert!(matches!(
        events.next().await,
        Some(SettlementEvent::Progress(_))
    ));
    assert_eq!(store.count(), 1);
    drop(events);
    assert_eq!(store.count(), 0, "stream");

    // Those that were given out stay.
    let calls = ["long", "long"].map(|name| Call::new(name, "{}"));
    assert_eq!(snapshot.batch(calls, &facts).settle().await.len(), 2);
    let events = snapshot.settle(Call::new("long", "{}"), &facts).stream();
    assert_eq!(events.count().await, 2);
    contexts.lock().unwrap().clear();
    assert_eq!(store.count(), 3);
}

#[tokio::test]
async fn a_tool_may_be_called_as_a_host_likes_with_a_store_and_without() {
    for builder in [open(), open().artifacts(Pantry::default())] {
        let registry: Registry = builder.build();
        let tool = says("shown".to_owned()).validation(Validation::Advertise);
        let registered = registry.register([("present", tool)]).unwrap();
        assert_eq!(registered.refused(), []);
        assert_eq!(registered.entries().len(), 1);
    }
}
