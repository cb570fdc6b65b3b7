//! Random batches of calls that end in every way, taken in every way: one settlement each.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use proptest::prelude::*;
use serde_json::{Value, json};
use tool_core::{
    Call, Concurrency, Context, Decision, Facts, NobodyToAsk, Permission, Request, Settlement,
    Tool, ToolFailure,
};
use tool_registry::{Approvals, Part, Registry, SettlementEvent, TurnEvent};

use crate::ports::{Rules, rule};
use crate::tools::{echo, run};

/// Names of tools, and how calls of them end.
const ENDS: [(&str, &str); 12] = [
    ("good", "completed"),
    ("slow", "completed"),
    ("alone", "completed"),
    ("keyed", "completed"),
    ("fails", "failed"),
    ("breaks", "defect"),
    ("panics", "defect"),
    ("late", "timed_out"),
    ("denied", "refused"),
    ("misfit", "refused"),
    ("careful", "suspended"),
    ("outside", "suspended"),
];

/// Who runs now, to see that nobody runs beside whom it must not.
#[derive(Clone, Default)]
struct Running(Arc<Mutex<HashMap<&'static str, usize>>>);

impl Running {
    /// A handler of a class, with a few awaits.
    fn handler(&self, class: &'static str, reports: usize) -> Tool {
        let running = self.clone();
        run(move |cx: Context| {
            let running = running.clone();
            async move {
                running.change(class, 1);
                for number in 0..reports {
                    cx.progress(format!("{number}"));
                    tokio::task::yield_now().await;
                    cx.preliminary(&number).await?;
                    running.check();
                }
                running.change(class, -1);
                Ok(json!("done"))
            }
        })
    }

    fn change(&self, class: &'static str, by: isize) {
        let mut running = self.0.lock().unwrap();
        let count = running.entry(class).or_default();
        *count = count.checked_add_signed(by).unwrap();
    }

    fn check(&self) {
        let running = self.0.lock().unwrap();
        let all: usize = running.values().sum();
        let alone = running.get("alone").copied().unwrap_or_default();
        assert!(alone == 0 || all == 1, "{running:?}");
        assert!(running.get("keyed").copied().unwrap_or_default() <= 1);
    }
}

fn registry(running: &Running) -> Registry {
    let policy = Rules(|request: &Request<'_>| {
        let tool = request.tool.unwrap().name().as_str();
        rule(if tool == "denied" {
            Decision::Deny
        } else {
            Decision::Allow
        })
    });
    let registry = Registry::builder()
        .permission(Permission::new(policy, NobodyToAsk))
        .build();
    let tools: Vec<(&str, Tool)> = vec![
        ("good", running.handler("beside", 0)),
        ("slow", running.handler("beside", 3)),
        (
            "alone",
            running
                .handler("alone", 2)
                .concurrency(Concurrency::Exclusive),
        ),
        (
            "keyed",
            running
                .handler("keyed", 2)
                .concurrency(Concurrency::ByKey("/k".to_owned())),
        ),
        (
            "fails",
            run(|_| async { Err(ToolFailure::new("expected").into()) }),
        ),
        (
            "breaks",
            run(|_| async { Err(std::io::Error::other("broken").into()) }),
        ),
        (
            "panics",
            run(|_| async {
                tokio::task::yield_now().await;
                panic!("boom")
            }),
        ),
        (
            "late",
            run(|_| std::future::pending()).timeout(Duration::from_secs(1)),
        ),
        ("denied", running.handler("beside", 0)),
        ("misfit", echo().into()),
        ("careful", running.handler("beside", 0).needs_approval(true)),
        ("outside", Tool::external("Asks", json!({"type": "object"}))),
    ];
    registry.register(tools).unwrap().keep();
    registry
}

fn call(name: &str, id: Option<&'static str>) -> Call {
    let call = Call::new(name, json!({"k": 1}));
    match id {
        Some(id) => call.id(id),
        None => call,
    }
}

/// What came of each position, from settlements that come in any order.
fn by_position(
    calls: usize,
    settled: impl IntoIterator<Item = (usize, Settlement)>,
) -> Vec<Vec<Settlement>> {
    let mut positions = vec![Vec::new(); calls];
    for (position, settlement) in settled {
        positions[position].push(settlement);
    }
    positions
}

type Made = Vec<((&'static str, &'static str), Option<&'static str>)>;

fn made() -> impl Strategy<Value = Made> {
    let ids = prop::sample::select(vec![None, Some("a"), Some("b")]);
    let ends = prop::sample::select(ENDS.to_vec());
    prop::collection::vec((ends, ids), 0..16)
}

async fn settled(made: &Made, limit: usize, way: usize) -> Vec<Vec<Settlement>> {
    let running = Running::default();
    let registry = registry(&running);
    let limit = limit.try_into().unwrap();
    let calls: Vec<_> = made.iter().map(|((name, _), id)| call(name, *id)).collect();
    let snapshot = registry.snapshot();
    let batch = || {
        let batch = snapshot.batch(calls.clone(), &Facts::new());
        batch.concurrency(limit).approvals(Approvals::Suspend)
    };
    match way {
        0 => {
            let settled = batch().settle().await;
            by_position(made.len(), settled.into_iter().enumerate())
        }
        1 => {
            let events: Vec<_> = batch().stream().collect().await;
            let settled = events
                .into_iter()
                .filter_map(|(position, event)| match event {
                    SettlementEvent::Settled(settlement) => Some((position, *settlement)),
                    _ => None,
                });
            by_position(made.len(), settled)
        }
        _ => {
            let parts = calls
                .into_iter()
                .map(|call| Ok::<_, Value>(Part::Call(call)));
            let turn = snapshot.turn(&Facts::new());
            let turn = turn.concurrency(limit).approvals(Approvals::Suspend);
            let events: Vec<_> = turn.run(stream::iter(parts)).collect().await;
            assert!(matches!(events.last(), Some(TurnEvent::Finish(_))));
            let settled = events.into_iter().filter_map(|event| match event {
                TurnEvent::Settled {
                    position,
                    settlement,
                } => Some((position, *settlement)),
                _ => None,
            });
            by_position(made.len(), settled)
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn law_07_good_bad_slow_panicking_and_waiting_calls_are_settled_once_each_in_every_way(
        made in made(),
        limit in 1_usize..6,
        way in 0_usize..3,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        let positions = runtime.block_on(settled(&made, limit, way));
        for (((name, ends), id), settled) in made.iter().zip(&positions) {
            prop_assert_eq!(settled.len(), 1, "{}", name);
            prop_assert_eq!(settled[0].outcome.as_str(), *ends, "{}", name);
            prop_assert_eq!(&settled[0].tool, name);
            // A turn gives a repeated id another; a batch keeps what came.
            if way < 2 {
                prop_assert_eq!(settled[0].call.as_ref().map(|id| id.as_str()), *id);
            }
        }
    }
}
