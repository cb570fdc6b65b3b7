//! The one way of a call, from its arrival to its settlement.
//!
//! Each stage is a function in a file of its own; this file fixes their order. A stage takes what
//! the stage before it made, so that none can be left out.

mod after;
mod approval;
mod artifacts;
mod before;
mod bound;
mod credentials;
mod encode;
mod execute;
mod judge;
mod parse;
mod policy;
mod project;
mod resolve;
mod resume;
mod run;
mod settle;
mod suspend;
mod trace;
mod unseen;
mod validate;

use tool_core::{Call, Defect, DefectKind, Outcome, Settlement};
use tracing::Instrument as _;

use self::unseen::Unseen;
use crate::contained::awaited;
use crate::host::Hosted;
use crate::{Approvals, Resolution, Settling};

pub(crate) use run::Run;
pub(crate) use settle::announce;
pub(crate) use validate::misfit;

/// Settles one call, alone or in a batch, fresh or resumed.
pub(crate) async fn settle(settling: Settling) -> Settlement {
    let Settling {
        snapshot,
        call,
        facts,
        door,
        gating,
        resolution,
        progress,
        early,
        turnstile,
        timeout,
    } = settling;
    let trace = trace::Trace::of(&call, &facts, door);
    let mut run = Run {
        snapshot: &snapshot,
        services: &snapshot.services,
        facts: &facts,
        id: call.call_id().cloned(),
        name: call.name().to_owned(),
        delivered: None,
        spoken: None,
        door,
        gating,
        progress,
        early,
        turnstile,
        hosted: Hosted::default(),
        unseen: Unseen::default(),
    };
    let mut repairs = Vec::new();
    // Handlers and projections are guarded where they run; this guards hooks and ports.
    let passed = awaited(async {
        let Some(after) = timeout else {
            return enter(&mut run, call, resolution, &mut repairs).await;
        };
        tokio::time::timeout(after, enter(&mut run, call, resolution, &mut repairs))
            .await
            .unwrap_or(Err(Outcome::TimedOut { after }))
    })
    .instrument(trace.span())
    .await;
    let ended = passed.unwrap_or_else(|| Err(Outcome::Defect(Defect::new(DefectKind::Panic))));
    run.hosted.clean_up().await;
    if ended.is_ok() {
        run.unseen.seen();
    }
    let settlement = ended.unwrap_or_else(|outcome| {
        let entry = snapshot.get(&run.name);
        let name = std::mem::take(&mut run.name);
        let mut settlement = Settlement::without_output(run.id.take(), name, outcome);
        settlement.repairs = repairs;
        settlement.identity = entry.map(|entry| entry.identity().clone());
        settlement.failure_mode = entry
            .map(|entry| entry.tool().declarations().failure_mode)
            .unwrap_or_default();
        settlement
    });
    trace.settled(&settlement);
    announce(&snapshot.services, &facts, settlement)
}

/// All stages. What ends a call before it executes comes back as its outcome.
async fn enter(
    run: &mut Run<'_>,
    call: Call,
    resolution: Option<Resolution>,
    repairs: &mut Vec<tool_core::Repair>,
) -> Result<Settlement, Outcome> {
    if let Some(resolution) = resolution {
        resume::admit(run, resolution).await?;
    }
    if run.gating.approvals == Approvals::Suspend || !run.services.before.is_empty() {
        suspend::keep_call(run, &call);
    }
    let snapshot = run.snapshot;
    let incoming = before::run(run, call).await?;
    let entry = resolve::resolve(run, &snapshot.catalog, &incoming)?;
    suspend::keep_delivered(run, entry, &incoming);
    let parsed = parse::parse(run, incoming.arguments, repairs);
    let rulings = policy::rule(run, entry, &parsed).await?;
    let valid = validate::validate(run, entry, parsed)?;
    approval::ask(run, entry, &valid.input, rulings).await?;
    let redeemed = artifacts::redeem(run, entry, valid).await?;
    let credential = credentials::acquire(run, entry, &redeemed.spoken).await?;

    if !run.services.after.is_empty() {
        run.spoken = Some(redeemed.spoken.clone());
    }
    // From here on the call has run, and whatever it came to is shown to the after hooks.
    let ended = execute::execute(run, entry, redeemed, credential).await;
    if let Err(Outcome::Suspended(suspension)) = ended {
        return Err(Outcome::Suspended(suspension));
    }
    let shown = ended
        .and_then(|executed| encode::encode(run, entry, executed))
        .and_then(|encoded| judge::judge(run, entry, encoded))
        .and_then(|judged| project::project(run, entry, judged));
    let mut bounded = bound::bound(run, entry, shown).await;
    bounded.repairs.clone_from(repairs);
    bounded.identity = Some(entry.identity().clone());
    bounded.failure_mode = entry.tool().declarations().failure_mode;
    Ok(after::run(run, entry, bounded).await)
}
