//! Dropping a call after every possible number of polls, for every kind of tool: nothing is left
//! of it.

use std::sync::Arc;
use std::task::Poll;

use serde_json::{Map, Value, json};
use tool_core::{
    ArtifactKind, Bound, BoxFuture, Call, CheckIn, Concurrency, Context, CredentialNeed, Decision,
    Facts, NeedsApproval, NobodyToAsk, Outcome, Permission, Produced, Suspension, TeardownScope,
    Tool, ToolFailure, Verdict,
};
use tool_registry::{Approvals, Registry, Snapshot};

use crate::ports::{Always, Count};
use crate::slow::{Alive, Slow, finish, poll};

/// A registry whose every part takes its time, with a tool of every kind.
pub(crate) struct World {
    pub(crate) slow: Slow,
    registry: Registry,
    pub(crate) runs: Count,
    pub(crate) cleaned: Count,
}

pub(crate) const TOOLS: [&str; 9] = [
    "plain",
    "demanding",
    "alone",
    "keyed",
    "handled",
    "outer",
    "failing",
    "typed",
    "placed",
];

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Anything {
    #[serde(rename = "ref")]
    _reference: Option<String>,
}

impl World {
    pub(crate) fn new(asks: bool) -> Self {
        let slow = Slow {
            asks,
            ..Slow::default()
        };
        let registry = Registry::builder()
            .permission(Permission::new(slow.clone(), slow.clone()))
            .artifacts(slow.clone())
            .place_above(40.try_into().unwrap())
            .credentials(slow.clone())
            .before(slow.clone())
            .after(slow.clone())
            .state(slow.clone())
            .outputs(Arc::new(slow.clone()))
            .bound(Bound::new(8, 1).unwrap())
            .build();
        let (runs, cleaned) = (Count::default(), Count::default());
        let handler = || busy(&slow.alive, &runs, &cleaned);
        let alive = slow.alive.clone();
        let approval = NeedsApproval::when(move |_: Value, _| {
            let alive = alive.clone();
            async move {
                alive.take_time().await;
                Ok(true)
            }
        });
        let demanding = handler()
            .wants("ref", ArtifactKind::new("report").unwrap())
            .needs(CredentialNeed::new("mail"))
            .needs_approval(approval)
            .check_in(CheckIn::always());
        let typed = {
            let alive = slow.alive.clone();
            Tool::new("Takes its time", move |_: Anything, _: Context| {
                let alive = alive.clone();
                async move {
                    alive.take_time().await;
                    Ok("longer than the bound")
                }
            })
        };
        let placed = {
            let alive = slow.alive.clone();
            crate::tools::run(move |_| {
                let alive = alive.clone();
                async move {
                    alive.take_time().await;
                    Ok(json!("longer than what is shown, so that it is placed"))
                }
            })
        };
        let handled = handler().handles_provider_tool("acme.shell", "shell_1", Map::new());
        let failing = {
            let alive = slow.alive.clone();
            crate::tools::run(move |_| {
                let alive = alive.clone();
                async move {
                    alive.take_time().await;
                    Err(ToolFailure::new("longer than the bound").into())
                }
            })
        };
        let tools: Vec<(&str, Tool)> = vec![
            ("plain", handler()),
            ("demanding", demanding),
            ("alone", handler().concurrency(Concurrency::Exclusive)),
            (
                "keyed",
                handler().concurrency(Concurrency::ByKey("/ref".to_owned())),
            ),
            ("handled", handled),
            ("outer", outer(&slow.alive)),
            ("failing", failing),
            ("typed", typed.into()),
            ("placed", placed),
            ("outside", Tool::external("Asks the crowd", any())),
        ];
        registry.register(tools).unwrap().keep();
        Self {
            slow,
            registry,
            runs,
            cleaned,
        }
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        self.registry.snapshot()
    }

    /// What must hold when everybody who waited for the calls is gone.
    #[track_caller]
    pub(crate) fn is_quiet(&self, polls: usize, seen: usize) {
        assert_eq!(self.slow.alive.count(), 0, "alive after {polls} polls");
        let outputs = self.slow.outputs.lock().unwrap().len();
        assert_eq!(outputs, seen, "outputs left after {polls} polls");
        // What dropped handlers left runs with the next end, and then nothing is left at all.
        finish(self.registry.clean_up());
        assert!(finish(self.registry.shut_down()).is_empty());
        // And whoever calls next is not held up.
        let call = self.snapshot().settle(call("plain"), &Facts::new());
        assert_eq!(finish(call.into_future()).outcome.as_str(), "completed");
        assert_eq!(self.slow.alive.count(), 0);
    }
}

fn any() -> Value {
    json!({"type": "object", "properties": {"ref": {"type": "string"}}})
}

pub(crate) fn call(name: &str) -> Call {
    Call::new(name, r#"{"ref":"a1"}"#).id(name)
}

/// Does everything that a handler can do, and takes its time over it.
fn busy(alive: &Alive, runs: &Count, cleaned: &Count) -> Tool {
    let (alive, runs, cleaned) = (alive.clone(), runs.clone(), cleaned.clone());
    Tool::dynamic("Takes its time", any(), move |_: Value, cx: Context| {
        let (alive, runs, cleaned) = (alive.clone(), runs.clone(), cleaned.clone());
        async move {
            let life = alive.begin();
            runs.add();
            let (time, cleaned) = (alive.clone(), cleaned.clone());
            cx.on_teardown(TeardownScope::Call, "k", move || async move {
                time.take_time().await;
                cleaned.add();
            })?;
            cx.progress("half way");
            for number in 0..3 {
                cx.preliminary(&number).await?;
            }
            alive.take_time().await;
            drop(life);
            Ok(json!("longer than the bound"))
        }
    })
}

/// Calls another tool while it runs.
fn outer(alive: &Alive) -> Tool {
    let alive = alive.clone();
    crate::tools::run(move |cx: Context| {
        let alive = alive.clone();
        async move {
            let life = alive.begin();
            let inner = cx.dispatch().map(|tools| {
                let arguments = json!({"ref": "a1"});
                tools.call("plain".to_owned(), arguments)
            });
            let inner = inner
                .ok_or("no dispatch")
                .map_err(tool_core::HandlerError::defect)?;
            let inner = inner.await;
            drop(life);
            Ok(json!(inner.text()))
        }
    })
}

/// Drops what `start` begins after each possible number of polls, until it comes to its end.
/// `start` says how many outputs and artifacts the settlements that were seen have.
pub(crate) fn drop_everywhere(
    asks: bool,
    start: impl Fn(&World) -> BoxFuture<'static, usize>,
) -> usize {
    for polls in 0..5_000 {
        let world = World::new(asks);
        let mut future = start(&world);
        let mut done = None;
        for _ in 0..polls {
            if let Poll::Ready(seen) = poll(future.as_mut()) {
                done = Some(seen);
                break;
            }
        }
        drop(future);
        world.is_quiet(polls, done.unwrap_or_default());
        if done.is_some() {
            return polls;
        }
    }
    panic!("the call never ends");
}

pub(crate) fn outputs<'s>(settled: impl IntoIterator<Item = &'s tool_core::Settlement>) -> usize {
    settled.into_iter().map(kept).sum()
}

/// How much of a settlement is kept in stores.
pub(crate) fn kept(settlement: &tool_core::Settlement) -> usize {
    let is_placed = settlement.text().contains(r#""placed":true"#);
    settlement.retained.len() + usize::from(is_placed)
}

#[test]
fn a_call_of_any_tool_leaves_nothing_wherever_it_is_dropped() {
    for asks in [false, true] {
        for name in TOOLS {
            let polls = drop_everywhere(asks, |world| {
                let settling = world.snapshot().settle(call(name), &Facts::new());
                Box::pin(async move {
                    let settled = settling.await;
                    let ends = settled.outcome.as_str();
                    assert!(["completed", "failed"].contains(&ends), "{name}: {ends}");
                    outputs([&settled])
                })
            });
            assert!(polls >= 8, "{name} was dropped in {polls} places only");
        }
    }
}

#[test]
fn a_call_that_suspends_leaves_nothing_wherever_it_is_dropped() {
    for name in ["demanding", "outside"] {
        drop_everywhere(true, |world| {
            let settling = world.snapshot().settle(call(name), &Facts::new());
            Box::pin(async move {
                let settled = settling.approvals(Approvals::Suspend).await;
                assert_eq!(settled.outcome.as_str(), "suspended");
                0
            })
        });
    }
}

/// What a call of a tool comes to when it is suspended.
fn suspended(world: &World, name: &str) -> Suspension {
    let settling = world.snapshot().settle(call(name), &Facts::new());
    let settled = finish(settling.approvals(Approvals::Suspend).into_future());
    match settled.outcome {
        Outcome::Suspended(suspension) => *suspension,
        other => panic!("expected a suspension, got {}", other.as_str()),
    }
}

#[test]
fn a_call_that_goes_on_leaves_nothing_wherever_it_is_dropped_and_never_runs_twice() {
    for polls in 0.. {
        let world = World::new(true);
        let suspension = suspended(&world, "plain");
        let resume = || {
            let snapshot = world.snapshot();
            let resumed = snapshot.resume(suspension.clone(), Verdict::Approve, &Facts::new());
            resumed.into_future()
        };
        let mut first = resume();
        let done = (0..polls).any(|_| poll(first.as_mut()).is_ready());
        drop(first);
        assert_eq!(world.slow.alive.count(), 0, "after {polls} polls");
        // Whoever decides again either decides first, or is told that it was decided.
        let second = finish(resume());
        assert!(
            ["completed", "refused"].contains(&second.outcome.as_str()),
            "{}",
            second.text()
        );
        assert!(world.runs.get() <= 1, "ran twice after {polls} polls");
        if done {
            assert_eq!(second.outcome.as_str(), "refused");
            break;
        }
    }
}

#[test]
fn a_result_from_outside_leaves_nothing_wherever_it_is_dropped() {
    drop_everywhere(false, |world| {
        let suspension = suspended(world, "outside");
        let result: Result<Produced, ToolFailure> = Ok(Produced::value("longer than the bound"));
        let resumed = world.snapshot().resume(suspension, result, &Facts::new());
        Box::pin(async move { outputs([&resumed.await]) })
    });
}

#[test]
fn a_refused_call_leaves_nothing_wherever_it_is_dropped() {
    for polls in 0..200 {
        let slow = Slow::default();
        let registry = Registry::builder()
            .permission(Permission::new(Always(Decision::Deny), NobodyToAsk))
            .before(slow.clone())
            .build();
        registry
            .register([(
                "plain",
                busy(&slow.alive, &Count::default(), &Count::default()),
            )])
            .unwrap()
            .keep();
        let settling = registry.snapshot().settle(call("plain"), &Facts::new());
        let mut settling = settling.into_future();
        let done = (0..polls).any(|_| poll(settling.as_mut()).is_ready());
        drop(settling);
        assert_eq!(slow.alive.count(), 0);
        if done {
            return;
        }
    }
    panic!("the call never ends");
}
