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
mod repeated_media;
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
use std::sync::Arc;

use tool_core::{Arguments, Defect, DefectKind, EventKind, Outcome, Settlement, Spoken};
use tracing::Instrument as _;

use self::trace::Trace;
use self::unseen::Unseen;
use crate::contained::awaited;
use crate::host::{Host, Hosted};
use crate::{Approvals, Settling};

pub(crate) use run::Run;
pub(crate) use settle::announce;
pub(crate) use validate::misfit;

/// How a call ended before its last stage. Behind a pointer, so that a stage that lets a call pass
/// hands on next to nothing.
type Ended = Box<Outcome>;

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
    let host = Arc::new(Host::new(snapshot, facts, id, door, progress, early));
    // A block, as an async function would hold all of this twice.
    async move {
        let hosted = Hosted(&host);
        let mut run = Run {
            snapshot: &host.snapshot,
            services: &host.snapshot.services,
            facts: &host.facts,
            delivered: None,
            door,
            gating: &mut gating,
            turnstile: turnstile.as_ref(),
            host: &host,
            unseen: Unseen::default(),
            settlement: Settlement::without_output(None, name, Outcome::Completed),
        };
        let passed = {
            // Handlers and projections are guarded where they run; this guards hooks and ports, also
            // when what waits for them is given up.
            let passing = awaited(async {
                let entering = pin!(enter(&mut run, &mut arguments));
                match timeout {
                    None => entering.await,
                    Some(after) => Box::pin(tokio::time::timeout(after, entering))
                        .await
                        .unwrap_or_else(|_| Err(Box::new(Outcome::TimedOut { after }))),
                }
            });
            if trace.is_collected() {
                Box::pin(passing).instrument(trace.span()).await
            } else {
                passing.await
            }
        };
        host.clean_up().await;
        hosted.ended();
        match passed {
            Some(Ok(())) => run.unseen.seen(),
            Some(Err(outcome)) => run.end(*outcome),
            None => run.end(Outcome::Defect(Defect::new(DefectKind::Panic))),
        }
        run.settlement.call.clone_from(&host.call);
        trace.settled(&run.settlement);
        announce(run.services, run.facts, host.number, &run.settlement);
        run.settlement
    }
}

/// All stages. What ends a call before it executes comes back as its outcome.
async fn enter(run: &mut Run<'_>, arguments: &mut Arguments) -> Result<(), Ended> {
    resume::admit(run).await?;
    if run.gating.approvals == Approvals::Suspend || !run.services.before.is_empty() {
        suspend::keep_delivered(run, arguments);
    }
    before::run(run, arguments).await?;
    let entry = resolve::resolve(run)?;
    suspend::keep_for_outside(run, entry, arguments);
    let (mut valid, open) = {
        let parsed = parse::parse(run, entry, arguments);
        run.tell(|| EventKind::Received {
            definition: entry.digest(),
            arguments: parsed.spoken.as_ref().ok().map(Spoken::value),
        });
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
        if ended
            .as_ref()
            .is_err_and(|outcome| matches!(**outcome, Outcome::Suspended(_)))
        {
            return ended.map(drop);
        }
        let shown = ended.and_then(|executed| {
            let encoded = encode::encode(run, entry, executed)?;
            judge::judge(run, entry, &encoded)?;
            project::project(run, entry, input, encoded)
        });
        shown.unwrap_or_else(|outcome| project::fail(run, *outcome))
    };
    bound::bound(run, entry, shown).await;
    tell::of_repairs(run);
    after::run(run, entry, input).await;
    Ok(())
}
