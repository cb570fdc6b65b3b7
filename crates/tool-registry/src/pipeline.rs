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
mod place;
mod policy;
mod project;
mod resolve;
mod resume;
mod run;
mod settle;
mod suspend;
mod tell;
mod trace;
mod unseen;
mod validate;

use std::pin::pin;

use tool_core::{Arguments, Defect, DefectKind, Outcome, Settlement};
use tracing::Instrument as _;

use self::trace::Trace;
use self::unseen::Unseen;
use crate::contained::awaited;
use crate::host::Hosted;
use crate::{Approvals, Settling};

pub(crate) use run::Run;
pub(crate) use settle::announce;
pub(crate) use validate::misfit;

/// Settles one call, alone or in a batch, fresh or resumed.
pub(crate) fn settle(settling: Settling) -> impl Future<Output = Settlement> + Send {
    let Settling {
        snapshot,
        call,
        facts,
        door,
        mut gating,
        progress,
        early,
        turnstile,
        timeout,
    } = settling;
    let trace = Trace::of(&call, &facts, door);
    let (id, name, mut arguments) = call.into_parts();
    // On the heap, so that it is filled where it lies and not moved from stage to stage.
    let settlement = Box::new(Settlement::without_output(id, name, Outcome::Completed));
    // A block, as an async function would hold all of this twice.
    async move {
        let mut run = Run {
            snapshot: &snapshot,
            services: &snapshot.services,
            facts: &facts,
            delivered: None,
            door,
            gating: &mut gating,
            progress: progress.as_ref(),
            early: early.as_ref(),
            turnstile: turnstile.as_ref(),
            hosted: Hosted::default(),
            unseen: Unseen::default(),
            loss: None,
            settlement,
        };
        let passed = {
            let entering = pin!(enter(&mut run, &mut arguments));
            // Handlers and projections are guarded where they run; this guards hooks and ports.
            let passing = awaited(async {
                match timeout {
                    None => entering.await,
                    Some(after) => Box::pin(tokio::time::timeout(after, entering))
                        .await
                        .unwrap_or(Err(Outcome::TimedOut { after })),
                }
            });
            if trace.is_collected() {
                Box::pin(passing).instrument(trace.span()).await
            } else {
                passing.await
            }
        };
        run.hosted.clean_up().await;
        match passed {
            Some(Ok(())) => run.unseen.seen(),
            Some(Err(outcome)) => run.end(outcome),
            None => run.end(Outcome::Defect(Defect::new(DefectKind::Panic))),
        }
        trace.settled(&run.settlement);
        announce(run.services, run.facts, &run.settlement);
        *run.settlement
    }
}

/// All stages. What ends a call before it executes comes back as its outcome.
async fn enter(run: &mut Run<'_>, arguments: &mut Arguments) -> Result<(), Outcome> {
    resume::admit(run).await?;
    if run.gating.approvals == Approvals::Suspend || !run.services.before.is_empty() {
        suspend::keep_delivered(run, arguments);
    }
    before::run(run, arguments).await?;
    let entry = resolve::resolve(run)?;
    suspend::keep_for_outside(run, entry, arguments);
    let (mut valid, open) = {
        let parsed = parse::parse(run, entry, arguments);
        let open = policy::rule(run, entry, &parsed).await?;
        (validate::validate(run, entry, parsed)?, open)
    };
    let input = &valid.input;
    approval::ask(run, entry, input, open).await?;
    let redeemed = artifacts::redeem(run, entry, input, &mut valid.prepared).await?;
    let credential = credentials::acquire(run, entry, input).await?;

    // From here on the call has run, and whatever it came to is shown to the after hooks.
    let shown = {
        let ended = execute::execute(run, entry, input, valid.prepared, redeemed, credential).await;
        if let Err(Outcome::Suspended(suspension)) = ended {
            return Err(Outcome::Suspended(suspension));
        }
        let shown = ended.and_then(|executed| {
            let encoded = encode::encode(run, entry, executed)?;
            judge::judge(run, entry, &encoded)?;
            project::project(run, entry, input, encoded)
        });
        shown.unwrap_or_else(|outcome| project::fail(run, outcome))
    };
    bound::bound(run, entry, shown).await;
    tell::of_repairs(run);
    after::run(run, entry, input).await;
    Ok(())
}
