//! Calls that wait, and what resumes them.

use serde_json::{Value, json};
use tool_core::{
    Call, Decision, Facts, NobodyToAsk, Outcome, Permission, Refusal, ResumeFault, Settlement,
    Suspension, Verdict,
};
use tool_registry::{Approvals, Registry, RegistryBuilder};

use crate::ports::Always;
use crate::tools::refusal;

pub(crate) fn any() -> Value {
    json!({"type": "object"})
}

/// A registry that asks about every call.
pub(crate) fn asking() -> RegistryBuilder {
    Registry::builder().permission(Permission::new(Always(Decision::Ask), NobodyToAsk))
}

pub(crate) async fn suspend(registry: &Registry, arguments: &str) -> Suspension {
    suspend_as(registry, arguments, &Facts::new()).await
}

pub(crate) async fn suspend_as(registry: &Registry, arguments: &str, facts: &Facts) -> Suspension {
    let call = Call::new("tool", arguments).id("c1");
    let settled = registry
        .snapshot()
        .settle(call, facts)
        .approvals(Approvals::Suspend)
        .await;
    waiting(settled)
}

#[track_caller]
pub(crate) fn waiting(settled: Settlement) -> Suspension {
    assert!(!settled.is_error(), "{}", settled.text());
    match settled.outcome {
        Outcome::Suspended(suspension) => *suspension,
        other => panic!("expected a suspension, got {}", other.as_str()),
    }
}

#[track_caller]
pub(crate) fn fault(settled: &Settlement) -> ResumeFault {
    match refusal(settled) {
        Refusal::Resume { fault } => *fault,
        other => panic!("expected a fault of resuming, got {}", other.kind()),
    }
}

pub(crate) async fn resume(
    registry: &Registry,
    suspension: Suspension,
    verdict: Verdict,
) -> Settlement {
    registry
        .snapshot()
        .resume(suspension, verdict, &Facts::new())
        .await
}
