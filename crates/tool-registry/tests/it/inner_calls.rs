//! Calls that a handler makes of other tools.

use std::num::NonZeroUsize;

use futures_util::{StreamExt as _, stream};
use serde_json::json;
use tool_core::{Answer, Call, CheckIn, Context, Decision, Facts, Outcome, Permission, Stage};
use tool_registry::{Door, Part, Registry, SettlementEvent, TurnEvent};

use crate::ports::{Answers, Count, Gone, Log, Rules, open, rule};
use crate::tools::{call, fixed, mirror, output, run};

#[tokio::test]
async fn an_inner_call_goes_through_every_stage_and_has_an_id_of_its_own() {
    let log = Log::default();
    let events = log.clone();
    let registry = open()
        .events(move |event: &tool_core::Event<'_>| {
            if let tool_core::EventKind::Stage(stage) = event.kind {
                let id = event.call.map_or("none", |id| id.as_str()).to_owned();
                events.write(format!("{id} {} {stage}", event.tool));
            }
        })
        .build();
    let outer = run(|cx: Context| async move {
        let dispatch = cx.dispatch().unwrap();
        assert!(dispatch.has("inner") && !dispatch.has("missing"));
        let first = dispatch.call("inner".to_owned(), json!({"n": 1})).await;
        let second = dispatch.call("inner".to_owned(), json!({"n": 2})).await;
        Ok(json!([first.output(), second.output()]))
    });
    let inner = mirror(
        json!({"type": "object", "required": ["n"]}),
        &Count::default(),
    );
    let _tools = registry
        .register([("outer", outer), ("inner", inner)])
        .unwrap();
    let call = Call::new("outer", "{}").id("c1");
    let settled = registry.snapshot().settle(call, &Facts::new()).await;
    assert_eq!(output(&settled), &json!([{"n": 1}, {"n": 2}]));
    for number in [1, 2] {
        let prefix = format!("c1#inner-{number} inner ");
        let stages = log
            .lines()
            .iter()
            .filter(|line| line.starts_with(&prefix))
            .count();
        assert_eq!(stages, 15, "{prefix}");
    }
    assert!(log.lines().contains(&format!("c1 outer {}", Stage::Settle)));
}

#[tokio::test]
async fn an_inner_call_cannot_call_further() {
    let registry = open().build();
    let outer = run(|cx: Context| async move {
        let inner = cx
            .dispatch()
            .unwrap()
            .call("inner".to_owned(), json!({}))
            .await;
        Ok(json!(inner.text()))
    });
    let inner = run(|cx: Context| async move {
        let there = if cx.dispatch().is_some() {
            "there"
        } else {
            "absent"
        };
        Ok(json!(there))
    });
    let _tools = registry
        .register([("outer", outer), ("inner", inner)])
        .unwrap();
    assert_eq!(call(&registry, "outer").await.text(), "absent");
}

#[tokio::test]
async fn what_policy_denies_is_denied_inside_too_and_a_check_in_asks_inline() {
    let policy = Rules(|request: &tool_core::Request<'_>| {
        let inner = request
            .tool
            .is_some_and(|tool| tool.name().as_str() == "inner");
        rule(if inner {
            Decision::Deny
        } else {
            Decision::Allow
        })
    });
    let runs = Count::default();
    let registry = Registry::builder()
        .permission(Permission::new(policy, tool_core::NobodyToAsk))
        .build();
    let outer = |name: &'static str| {
        run(move |cx: Context| async move {
            let inner = cx
                .dispatch()
                .unwrap()
                .call(name.to_owned(), json!({}))
                .await;
            Ok(json!([inner.outcome.as_str(), inner.text()]))
        })
    };
    let any = json!({"type": "object"});
    let _tools = registry
        .register([
            ("outer", outer("inner")),
            ("asking", outer("careful")),
            ("inner", mirror(any.clone(), &runs)),
            ("careful", mirror(any, &runs).check_in(CheckIn::always())),
        ])
        .unwrap();
    for name in ["outer", "asking"] {
        let settled = call(&registry, name).await;
        assert_eq!(output(&settled)[0], json!("refused"), "{name}");
    }
    assert_eq!(runs.get(), 0);
}

#[tokio::test]
async fn dropping_the_outer_call_drops_the_inner_one() {
    let gone = Gone::default();
    let registry = open().build();
    let outer = run(|cx: Context| async move {
        let inner = cx
            .dispatch()
            .unwrap()
            .call("inner".to_owned(), json!({}))
            .await;
        Ok(json!(inner.text()))
    });
    let guard = gone.clone();
    let inner = run(move |_| {
        let held = guard.hold();
        async move {
            std::future::pending::<()>().await;
            drop(held);
            Ok(json!(null))
        }
    });
    let _tools = registry
        .register([("outer", outer), ("inner", inner)])
        .unwrap();
    let snapshot = registry.snapshot();
    let mut settling = snapshot
        .settle(Call::new("outer", "{}"), &Facts::new())
        .into_future();
    assert!(futures_util::poll!(&mut settling).is_pending());
    assert!(!gone.is_gone());
    drop(settling);
    assert!(gone.is_gone());
}

#[tokio::test]
async fn inner_calls_see_the_snapshot_of_the_outer_call() {
    let registry = open().build();
    let late = registry.clone();
    let outer = run(move |cx: Context| {
        let late = late.clone();
        async move {
            late.register([("newcomer", fixed("new"))]).unwrap().keep();
            let inner = cx
                .dispatch()
                .unwrap()
                .call("newcomer".to_owned(), json!({}))
                .await;
            Ok(json!(inner.outcome.as_str()))
        }
    });
    let _outer = registry.register([("outer", outer)]).unwrap();
    let settled = registry
        .snapshot()
        .settle(Call::new("outer", "{}"), &Facts::new())
        .door(Door::Model)
        .await;
    assert_eq!(settled.text(), "refused");
    assert!(matches!(settled.outcome, Outcome::Completed));
    assert_eq!(call(&registry, "newcomer").await.text(), "new");
}

/// Calls `delete` from `outer`, and has a person asked about each `delete`.
fn asked_within(deletes: &Count) -> Registry {
    let policy = Rules(|request: &tool_core::Request<'_>| {
        let is_delete = request
            .tool
            .is_some_and(|tool| tool.name().as_str() == "delete");
        rule(if is_delete {
            Decision::Ask
        } else {
            Decision::Allow
        })
    });
    let stops = Answers(Answer::Stopped { note: None }, Count::default());
    let registry = Registry::builder()
        .permission(Permission::new(policy, stops))
        .build();
    let outer = run(|cx: Context| async move {
        let tools = cx.dispatch().ok_or("no dispatch");
        let tools = tools.map_err(tool_core::HandlerError::defect)?;
        let inner = tools.call("delete".to_owned(), json!({})).await;
        Ok(json!(inner.text()))
    });
    let delete = mirror(json!({"type": "object"}), deletes);
    let tools = [("outer", outer), ("delete", delete), ("other", fixed("x"))];
    registry.register(tools).unwrap().keep();
    registry
}

#[tokio::test]
async fn a_person_who_stops_an_inner_call_stops_what_the_outer_one_belongs_to() {
    let deletes = Count::default();
    let registry = asked_within(&deletes);
    let calls = || [("outer", "c1"), ("delete", "c2"), ("other", "c3")];
    let calls = || calls().map(|(name, id)| Call::new(name, "{}").id(id));
    let one = NonZeroUsize::MIN;
    let batch = || registry.snapshot().batch(calls(), &Facts::new());
    let whole = batch().concurrency(one).settle().await;
    let mut streamed = Vec::new();
    let mut events = batch().concurrency(one).stream();
    while let Some((_, event)) = events.next().await {
        if let SettlementEvent::Settled(settled) = event {
            streamed.push(*settled);
        }
    }
    let parts: Vec<_> = calls().map(Part::Call).into_iter().collect();
    let parts = parts.into_iter().map(Ok::<_, std::io::Error>);
    let turn = registry.snapshot().turn(&Facts::new()).concurrency(one);
    let mut turn = turn.run(stream::iter(parts));
    let mut in_turn = Vec::new();
    while let Some(event) = turn.next().await {
        if let TurnEvent::Settled { settlement, .. } = event {
            in_turn.push(*settlement);
        }
    }
    for settled in [whole, streamed, in_turn] {
        let ends: Vec<_> = settled.iter().map(|one| one.outcome.as_str()).collect();
        assert_eq!(ends, ["completed", "not_dispatched", "not_dispatched"]);
        assert_eq!(settled[0].text(), "the user declined this call and stopped");
        for left_out in &settled[1..] {
            let Outcome::NotDispatched { stopped_by } = &left_out.outcome else {
                panic!("it began")
            };
            assert_eq!(stopped_by.as_ref().map(|id| id.as_str()), Some("c1"));
        }
    }
    assert_eq!(deletes.get(), 0);
    // Alone it belongs to nothing, and the next is begun.
    for _ in 0..2 {
        assert!(!call(&registry, "outer").await.is_error());
    }
}
