//! Law 14 at the gates of a call: what breaks, panics or comes to no end lets nothing through.

use std::time::Duration;

use tokio::time::Instant;
use tool_core::{
    BeforeHook, BoxFuture, Capability, Decision, Event, EventKind, Facts, HookError, Incoming,
    NobodyToAsk, Permission, Policy, PolicyError, Request, Ruling, Settlement,
};
use tool_registry::{Registry, RegistryBuilder};

use crate::ports::{Count, Log, Stuck, open, rule};
use crate::tools::{call, mirror, refusal};
use crate::waits::any;

/// How long a gate may take in these tests.
const LIMIT: Duration = Duration::from_secs(3);

/// The ways in which a gate can come to no answer.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    Errs,
    Panics,
    NeverEnds,
}

const WAYS: [Way; 3] = [Way::Errs, Way::Panics, Way::NeverEnds];

/// Allows everything but one action, on which it fails.
struct FailsOn(&'static str, Way);

impl Policy for FailsOn {
    fn decide<'a>(
        &'a self,
        request: &'a Request<'a>,
    ) -> BoxFuture<'a, Result<Ruling, PolicyError>> {
        if request.action.as_str() != self.0 {
            return Box::pin(async { rule(Decision::Allow) });
        }
        match self.1 {
            Way::Errs => Box::pin(async { Err(PolicyError::new("canary at 10.0.0.7")) }),
            Way::Panics => panic!("canary"),
            Way::NeverEnds => Box::pin(std::future::pending()),
        }
    }

    fn governs(&self, _: &Capability) -> bool {
        true
    }
}

struct Gate {
    settled: Settlement,
    runs: usize,
    told: Vec<String>,
    took: Duration,
}

/// Settles one call; `told` is why each ruling was made, as an operator is told.
async fn through(builder: RegistryBuilder) -> Gate {
    let (runs, log) = (Count::default(), Log::default());
    let seen = log.clone();
    let registry = builder
        .gate_timeout(LIMIT)
        .events(move |event: &Event<'_>| {
            if let EventKind::Ruled { ruling, .. } = event.kind {
                seen.write(ruling.because.clone());
            }
        })
        .build();
    let tool = mirror(any(), &runs).capabilities([Capability::UserData]);
    registry.register([("tool", tool)]).unwrap().keep();
    let began = Instant::now();
    let settled = call(&registry, "tool").await;
    let (runs, told, took) = (runs.get(), log.lines(), began.elapsed());
    Gate {
        settled,
        runs,
        told,
        took,
    }
}

#[tokio::test(start_paused = true)]
async fn law_14_a_policy_that_errs_panics_or_never_answers_runs_nothing() {
    for (action, named) in [("call", "tool"), ("user_data", "user_data")] {
        for way in WAYS {
            let permission = Permission::new(FailsOn(action, way), NobodyToAsk);
            let gate = through(Registry::builder().permission(permission)).await;
            assert_eq!(gate.runs, 0, "{action} {way:?}");
            assert!(!gate.settled.text().contains("canary"));
            let (because, took) = match way {
                Way::Panics => {
                    assert_eq!(gate.settled.outcome.as_str(), "defect");
                    continue;
                }
                Way::Errs => (
                    "policy could not decide: canary at 10.0.0.7",
                    Duration::ZERO,
                ),
                Way::NeverEnds => ("the policy took too long to decide", LIMIT),
            };
            // What the model reads is final and tells nothing of the outage.
            let text =
                format!("permission for {named} was denied; calling again will not change that");
            assert_eq!(gate.settled.text(), text);
            assert_eq!(gate.told.last().unwrap(), because);
            assert_eq!(gate.took, took);
            assert!(refusal(&gate.settled).operator().contains(because));
        }
    }
}

/// A hook that fails in each way.
struct Hook(Way);

impl BeforeHook for Hook {
    fn before<'a>(
        &'a self,
        incoming: &'a mut Incoming,
        facts: &'a Facts,
    ) -> BoxFuture<'a, Result<(), HookError>> {
        match self.0 {
            Way::Errs => Box::pin(async { Err(HookError::broken("canary at 10.0.0.7")) }),
            Way::Panics => panic!("canary"),
            Way::NeverEnds => {
                let stuck = Stuck::default();
                Box::pin(async move { stuck.before(incoming, facts).await })
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn law_14_a_hook_that_errs_panics_or_never_answers_runs_nothing() {
    for way in WAYS {
        let gate = through(open().before(Hook(way))).await;
        assert_eq!(gate.runs, 0, "{way:?}");
        assert!(!gate.settled.text().contains("canary"));
        let (operator, took) = match way {
            Way::Panics => {
                assert_eq!(gate.settled.outcome.as_str(), "defect");
                continue;
            }
            Way::Errs => ("canary at 10.0.0.7", Duration::ZERO),
            Way::NeverEnds => ("hook took too long", LIMIT),
        };
        assert_eq!(gate.took, took);
        assert!(refusal(&gate.settled).operator().contains(operator));
        assert!(gate.told.is_empty(), "policy was not reached");
    }
}

/// Writes down what it is asked; governs two words and leaves the others.
struct Governs(Log);

impl Policy for Governs {
    fn decide<'a>(
        &'a self,
        request: &'a Request<'a>,
    ) -> BoxFuture<'a, Result<Ruling, PolicyError>> {
        let resources: Vec<_> = request.resources.iter().map(ToString::to_string).collect();
        let (action, target) = (&request.action, resources.join(" "));
        self.0.write(format!("{action} {target}"));
        Box::pin(async { rule(Decision::Allow) })
    }

    fn governs(&self, capability: &Capability) -> bool {
        matches!(capability, Capability::ExternalNet | Capability::UserData)
    }
}

#[tokio::test]
async fn governed_capabilities_are_asked_in_their_order_behind_the_call_and_about_the_tool() {
    let (log, runs) = (Log::default(), Count::default());
    let permission = Permission::new(Governs(log.clone()), NobodyToAsk);
    let registry = Registry::builder().permission(permission).build();
    let tool = mirror(any(), &runs).capabilities([
        Capability::UserData,
        Capability::MemoryRead,
        Capability::ExternalNet,
    ]);
    registry.register([("tool", tool)]).unwrap().keep();
    assert!(!call(&registry, "tool").await.is_error());
    let asked = ["call tool", "user_data tool", "external_net tool"];
    assert_eq!(
        (log.lines(), runs.get()),
        (asked.map(str::to_owned).to_vec(), 1)
    );
}
