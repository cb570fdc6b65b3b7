//! The one way of a call, from its arrival to its settlement.
//!
//! Each stage is a function in a file of its own; this file fixes their order. A stage takes what
//! the stage before it made, so that none can be left out.

mod after;
mod approval;
mod artifacts;
mod before;
mod bound;
mod component;
mod credentials;
mod encode;
mod execute;
mod guarded;
mod judge;
mod parse;
mod passage;
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

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::Either;
use tool_core::{Arguments, BoxFuture, Defect, DefectKind, EventKind, Outcome, Settlement, Spoken};

use self::guarded::Guarded;
use self::passage::passed;
use self::trace::Trace;
use self::unseen::Unseen;
use crate::host::{Host, Hosted};
use crate::{Approvals, Settling};

pub(crate) use run::Run;
pub(crate) use settle::announce;
pub(crate) use validate::misfit;

/// How a call ended before its last stage. Behind a pointer, so that a stage that lets a call pass
/// hands on next to nothing.
type Ended = Box<Outcome>;

/// Settles one call, alone or in a batch, fresh or resumed.
#[inline]
pub(crate) fn settle(settling: Settling) -> impl Future<Output = Settlement> + Send {
    let Settling {
        snapshot,
        call,
        facts,
        door,
        mut gating,
        progress,
        early,
        common,
        timeout,
    } = settling;
    let trace = Trace::of(&call, &facts, door);
    let (id, name, mut arguments) = call.into_parts();
    let host = Arc::new(Host::new(
        snapshot, facts, id, door, progress, early, common,
    ));
    let mut settlement = Settlement::completed(name);
    // A block, as an async function would hold all of this twice.
    async move {
        {
            let host = host;
            let hosted = Hosted(&host);
            let mut run = Run {
                snapshot: &host.snapshot,
                services: host.snapshot.services(),
                facts: &host.facts,
                delivered: None,
                door,
                gating: &mut gating,
                host: &host,
                unseen: Unseen::default(),
                settlement: &mut settlement,
            };
            let mut entered = Entering {
                run: &mut run,
                arguments: &mut arguments,
            };
            let entering = limited(timeout, enter(&mut entered));
            let passed = Guarded::new(entering, &trace).await;
            if let Some(cleaning) = host.clean_up(is_late(passed.as_ref())) {
                cleaning.await;
            }
            hosted.ended();
            match passed {
                Some(Ok(())) => run.unseen.seen(|| host.unread()),
                Some(Err(outcome)) => run.end(*outcome),
                None => run.end(Outcome::Defect(Defect::new(DefectKind::Panic))),
            }
            run.settlement.call.clone_from(&host.call);
            trace.settled(run.settlement);
            announce(run.services, run.facts, host.number, run.settlement);
        }
        // Whatever else there is of the call is gone before its settlement is moved, or that is moved
        // a second time, out of the way of what is still to be dropped.
        drop((arguments, gating, trace));
        settlement
    }
}

/// Whether a call has run out of time.
fn is_late(passed: Option<&Result<(), Ended>>) -> bool {
    let Some(Err(outcome)) = passed else {
        return false;
    };
    matches!(**outcome, Outcome::TimedOut { .. })
}

/// The stages, for so long at most.
fn limited<'a, F>(
    timeout: Option<Duration>,
    entering: F,
) -> Either<F, BoxFuture<'a, Result<(), Ended>>>
where
    F: Future<Output = Result<(), Ended>> + Send + 'a,
{
    match timeout {
        None => Either::Left(entering),
        Some(after) => Either::Right(Box::pin(async move {
            let entered = tokio::time::timeout(after, entering).await;
            entered.unwrap_or_else(|_| Err(Outcome::TimedOut { after }.into()))
        })),
    }
}

/// What enters the stages. One thing to point at, as two pointers that were just written are read
/// together, which a processor waits for.
struct Entering<'a, 'r> {
    run: &'a mut Run<'r>,
    arguments: &'a mut Arguments,
}

/// All stages. What ends a call before it executes comes back as its outcome.
async fn enter(entering: &mut Entering<'_, '_>) -> Result<(), Ended> {
    let Entering { run, arguments } = entering;
    passed!(resume::admit(run))?;
    if run.gating.approvals == Approvals::Suspend || !run.services.before.is_empty() {
        suspend::keep_delivered(run, arguments);
    }
    passed!(before::run(run, arguments))?;
    let entry = resolve::resolve(run)?;
    suspend::keep_for_outside(run, entry, arguments);
    let mut parsed = parse::parse(run, entry, arguments);
    run.tell(|| EventKind::Received {
        identity: entry.identity(),
        definition: entry.digest(),
        arguments: parsed.spoken.as_ref().ok().map(Spoken::value),
    });
    let open = passed!(policy::rule(run, entry, &parsed))?;
    let validate::Valid {
        input,
        mut prepared,
    } = validate::validate(run, entry, &mut parsed)?;
    passed!(approval::ask(run, entry, input, open))?;
    let redeemed = passed!(artifacts::redeem(run, entry, input, &mut prepared))?;
    let credential = passed!(credentials::acquire(run, entry, input))?;

    // From here on the call has run, and whatever it came to is shown to the after hooks.
    let ended = execute::execute(run, entry, input, prepared, redeemed, credential).await;
    let shown = match ended {
        Err(outcome) if matches!(*outcome, Outcome::Suspended(_)) => return Err(outcome),
        ended => ended.and_then(|executed| {
            let encoded = encode::encode(run, entry, executed)?;
            judge::judge(run, entry, &encoded)?;
            project::project(run, entry, input, encoded)
        }),
    };
    let shown = shown.unwrap_or_else(|outcome| project::fail(run, entry, *outcome));
    passed!(bound::bound(run, entry, shown));
    tell::of_repairs(run);
    passed!(after::run(run, entry, input));
    Ok(())
}
