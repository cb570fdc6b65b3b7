//! Stage 9: the single executor.

use std::error::Error;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll};

use tool_core::{
    CallHost, Context, Credential, Defect, DefectKind, Gate, HandlerError, HandlerErrorKind,
    Outcome, Prepared, Produced, Refusal, Running, Spoken, Stage, ToolKind,
};

use super::artifacts::Redeemed;
use super::suspend::{self, Wait};
use super::{Ended, Run};
use crate::Entry;
use crate::contained::contained;
use crate::host::Host;

/// A handler that came to its end, whose output is still to be encoded.
pub(super) struct Executed<'e>(pub(super) Pin<Box<dyn Running + 'e>>);

/// Somebody else's, who has encoded it.
struct Elsewhere(Produced);

impl Future for Elsewhere {
    type Output = Result<(), HandlerError>;

    fn poll(self: Pin<&mut Self>, _: &mut TaskContext<'_>) -> Poll<Self::Output> {
        Poll::Ready(Ok(()))
    }
}

impl Running for Elsewhere {
    fn encode(self: Pin<&mut Self>) -> Result<Produced, Box<dyn Error + Send + Sync>> {
        Ok(mem::take(&mut self.get_mut().0))
    }
}

/// Runs the handler. A refusal that it met while running stands, whatever it made of it.
pub(super) async fn execute<'e>(
    run: &mut Run<'_>,
    entry: &Arc<Entry>,
    input: &Spoken<'_>,
    prepared: Box<dyn Prepared + 'e>,
    redeemed: Option<Box<Redeemed>>,
    credential: Option<Box<Credential>>,
) -> Result<Executed<'e>, Ended> {
    run.stage(Stage::Execute);
    if let Some(settled) = settled_elsewhere(run, entry, input) {
        return settled;
    }
    let _turn = match &run.host.common {
        Some(common) => Some(Box::pin(common.turnstile.enter(entry, input.value())).await),
        None => None,
    };
    let wanted = redeemed.map(|redeemed| redeemed.wanted);
    run.host.state().grant(credential.map(|one| *one), wanted);
    // Dropped with this future: that is what cancels the call.
    let waiting = Waiting(run.host);

    let context = Context::of(Arc::clone(run.host) as Arc<dyn CallHost>);
    let running = Handling {
        prepared: Some((prepared, context)),
        running: None,
    };
    let ended = match entry.tool().declarations().timeout {
        None => Ok(running.await),
        Some(after) => Box::pin(tokio::time::timeout(after, running))
            .await
            .map_err(|_| after),
    };
    let state = run.host.state();
    state.settle();
    if let Some(cleaning) = run.host.clean_up(ended.is_err()) {
        cleaning.await;
    }
    drop(waiting);

    if let Some(refusal) = state.refusal() {
        return Err(Outcome::Refused(refusal.clone()).into());
    }
    let outcome = match ended {
        Ok(Some(Ok(running))) => {
            if !entry.tool().declarations().asserts || state.asserted() {
                return Ok(Executed(running));
            }
            Outcome::Defect(Defect::new(DefectKind::Unasserted))
        }
        Err(after) => Outcome::TimedOut { after },
        Ok(None) => Outcome::Defect(Defect::new(DefectKind::Panic)),
        Ok(Some(Err(error))) => match error.into_kind() {
            HandlerErrorKind::Failure(failure) => Outcome::Failed(failure),
            HandlerErrorKind::Refused(refusal) => Outcome::Refused(refusal),
            HandlerErrorKind::Unencoded(cause) => {
                Outcome::Defect(Defect::shared(DefectKind::Output, cause))
            }
            HandlerErrorKind::Defect(cause) => {
                Outcome::Defect(Defect::shared(DefectKind::Handler, cause))
            }
        },
    };
    Err(outcome.into())
}

/// A handler that runs, guarded against its panics, also when it is given up.
struct Handling<'e> {
    /// Until it is first polled: its own code runs already when its future is made.
    prepared: Option<(Box<dyn Prepared + 'e>, Context)>,
    running: Option<Pin<Box<dyn Running + 'e>>>,
}

impl<'e> Future for Handling<'e> {
    /// `None` when it panicked.
    type Output = Option<Result<Pin<Box<dyn Running + 'e>>, HandlerError>>;

    fn poll(self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<Self::Output> {
        let Self { prepared, running } = self.get_mut();
        let polled = contained(|| {
            if let Some((prepared, context)) = prepared.take() {
                *running = Some(prepared.run(context));
            }
            running.as_mut().map(|running| running.as_mut().poll(cx))
        });
        Poll::Ready(match polled.flatten() {
            Some(Poll::Pending) => return Poll::Pending,
            Some(Poll::Ready(Ok(()))) => running.take().map(Ok),
            Some(Poll::Ready(Err(error))) => Some(Err(error)),
            None => None,
        })
    }
}

impl Drop for Handling<'_> {
    fn drop(&mut self) {
        if self.prepared.is_some() {
            contained(|| self.prepared = None);
        }
        if self.running.is_some() {
            contained(|| self.running = None);
        }
    }
}

/// A handler that is waited for.
struct Waiting<'h>(&'h Arc<Host>);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.release();
    }
}

/// What becomes of a call that runs nothing here.
fn settled_elsewhere(
    run: &mut Run<'_>,
    entry: &Entry,
    input: &Spoken<'_>,
) -> Option<Result<Executed<'static>, Ended>> {
    match entry.tool().kind() {
        ToolKind::External => Some(match run.gating.take_outside().map(|outside| *outside) {
            Some(Ok(produced)) => Ok(Executed(Box::pin(Elsewhere(produced)))),
            Some(Err(failure)) => Err(Outcome::Failed(failure).into()),
            None => {
                let because = "the result comes from outside".to_owned();
                let wait = Wait {
                    gate: Gate::External,
                    because,
                    component: None,
                };
                Err(suspend::suspend(run, entry, input, wait).into())
            }
        }),
        ToolKind::Provider(defined) if !defined.handled_here => {
            Some(Err(Outcome::Refused(Refusal::Door {
                declaration: "execution by its provider",
            })
            .into()))
        }
        _ => None,
    }
}
