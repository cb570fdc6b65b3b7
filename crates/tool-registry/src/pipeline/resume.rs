//! What is asked of a suspended call before it may go on.

use std::time::{Duration, UNIX_EPOCH};

use tool_core::{EventKind, Gate, Outcome, Refusal, ResumeFault, Suspension, Verdict};

use super::passage::Passage;
use super::{Ended, Run, suspend};
use crate::Resolution;
use crate::within::within;

/// Admits a resumed call: intact, not expired, the caller's own, and not decided before. A decline
/// is a decision too.
pub(super) fn admit<'a>(run: &'a mut Run<'_>) -> Passage<'a, Result<(), Ended>> {
    match run.gating.take_resolution() {
        None => Passage::At(Ok(())),
        Some(resolution) => Passage::after(move || claim(run, resolution)),
    }
}

async fn claim(run: &mut Run<'_>, resolution: Resolution) -> Result<(), Ended> {
    let Some(suspension) = run.gating.suspension() else {
        return Ok(());
    };
    if let Some(fault) = fault(run, suspension, &resolution) {
        return Err(refused(fault));
    }
    let until = UNIX_EPOCH.checked_add(Duration::from_millis(suspension.expires_at_ms));
    let Some(until) = until else {
        return Err(refused(ResumeFault::Expired));
    };
    let mut claim = run.services.state.claim(&suspension.id, until);
    let claimed = within(run.services.gate_timeout, claim.as_mut()).await;
    drop(claim);
    match claimed {
        Some(Ok(true)) => {}
        Some(Ok(false)) => return Err(refused(ResumeFault::Used)),
        Some(Err(_)) | None => return Err(refused(ResumeFault::Unknown)),
    }
    run.tell(|| EventKind::Answered {
        gate: &suspension.gate,
        approved: !matches!(resolution, Resolution::Verdict(Verdict::Decline { .. })),
        by: run.gating.by(),
    });
    match resolution {
        Resolution::Verdict(Verdict::Approve) => Ok(()),
        Resolution::Verdict(Verdict::Decline { note }) => {
            Err(Outcome::Refused(Refusal::Declined { note }).into())
        }
        Resolution::Result(result) => {
            run.gating.keep_outside(result);
            Ok(())
        }
    }
}

fn fault(run: &Run<'_>, suspension: &Suspension, resolution: &Resolution) -> Option<ResumeFault> {
    let intact = run
        .services
        .seal_key
        .as_ref()
        .is_some_and(|key| key.is_intact(suspension));
    if !intact {
        return Some(ResumeFault::Forged);
    }
    let now = (run.services.clock)()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    if now.as_millis() >= u128::from(suspension.expires_at_ms) {
        return Some(ResumeFault::Expired);
    }
    let (then, now) = (&suspension.facts, run.facts);
    let same_caller = then.session_id() == now.session_id()
        && then.agent_id() == now.agent_id()
        && then.identification() == now.identification();
    if !same_caller {
        return Some(ResumeFault::Foreign);
    }
    // A result settles what waits for one; approving such a call would run nothing.
    let fits = match resolution {
        Resolution::Result(_) => suspension.gate == Gate::External,
        Resolution::Verdict(Verdict::Approve) => suspension.gate != Gate::External,
        Resolution::Verdict(Verdict::Decline { .. }) => true,
    };
    (!fits).then_some(ResumeFault::Mismatch)
}

/// Whether the tool and the arguments are still those that were decided on.
pub(super) fn still_the_same(
    suspension: &Suspension,
    entry: &crate::Entry,
    input: &tool_core::Spoken<'_>,
) -> Result<(), Ended> {
    if suspension.tool != entry.wire_name().as_str()
        || suspension.definition != suspend::binding(entry)
    {
        return Err(refused(ResumeFault::Definition));
    }
    if tool_core::canonical_json(&suspension.arguments) != tool_core::canonical_json(input.value())
    {
        return Err(refused(ResumeFault::Arguments));
    }
    Ok(())
}

fn refused(fault: ResumeFault) -> Ended {
    Box::new(Outcome::Refused(Refusal::Resume { fault }))
}
