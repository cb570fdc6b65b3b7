//! Stage 9: the single executor.

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

/// A handler that came to its end.
pub(super) enum Executed<'e> {
    /// Its output is still to be encoded.
    Here(Pin<Box<dyn Running + 'e>>),
    /// Somebody else's, who has encoded it.
    Elsewhere(Box<Produced>),
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
    let _turn = match run.turnstile {
        Some(turnstile) => Some(Box::pin(turnstile.enter(entry, input.value())).await),
        None => None,
    };
    let wanted = redeemed.map(|redeemed| redeemed.wanted);
    run.host.state().grant(credential.map(|one| *one), wanted);
    // Dropped with this future: that is what cancels the call.
    let waiting = Waiting(run.host);

    let context = Context::of(Arc::clone(run.host) as Arc<dyn CallHost>);
    let running = Handling(Step::Prepared(prepared, context));
    let ended = match entry.tool().declarations().timeout {
        None => Ok(running.await),
        Some(after) => Box::pin(tokio::time::timeout(after, running))
            .await
            .map_err(|_| after),
    };
    let state = run.host.state();
    state.settle();
    if let Some(cleaning) = run.host.clean_up() {
        cleaning.await;
    }
    drop(waiting);

    if let Some(refusal) = state.refusal() {
        return Err(Outcome::Refused(refusal.clone()).into());
    }
    let outcome = match ended {
        Ok(Some(Ok(running))) => {
            if !entry.tool().declarations().asserts || state.asserted() {
                return Ok(Executed::Here(running));
            }
            Outcome::Defect(Defect::new(DefectKind::Unasserted))
        }
        Err(after) => Outcome::TimedOut { after },
        Ok(None) => Outcome::Defect(Defect::new(DefectKind::Panic)),
        Ok(Some(Err(error))) => match error.into_kind() {
            HandlerErrorKind::Failure(failure) => Outcome::Failed(failure),
            HandlerErrorKind::Refused(refusal) => Outcome::Refused(refusal),
            HandlerErrorKind::Defect(cause) => {
                Outcome::Defect(Defect::shared(DefectKind::Handler, cause))
            }
        },
    };
    Err(outcome.into())
}

/// A handler from its start to its end, guarded against its panics, also when it is given up.
struct Handling<'e>(Step<'e>);

enum Step<'e> {
    Prepared(Box<dyn Prepared + 'e>, Context),
    Running(Pin<Box<dyn Running + 'e>>),
    Over,
}

impl<'e> Future for Handling<'e> {
    /// `None` when it panicked.
    type Output = Option<Result<Pin<Box<dyn Running + 'e>>, HandlerError>>;

    fn poll(self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<Self::Output> {
        let step = &mut self.get_mut().0;
        let polled = contained(|| {
            if let Step::Prepared(..) = step
                && let Step::Prepared(prepared, context) = mem::replace(step, Step::Over)
            {
                // The handler's own code runs already when its future is made.
                *step = Step::Running(prepared.run(context));
            }
            match step {
                Step::Running(running) => running.as_mut().poll(cx).map(Some),
                _ => Poll::Ready(None),
            }
        });
        match polled {
            Some(Poll::Pending) => Poll::Pending,
            Some(Poll::Ready(Some(Ok(())))) => match mem::replace(step, Step::Over) {
                Step::Running(running) => Poll::Ready(Some(Ok(running))),
                _ => Poll::Ready(None),
            },
            Some(Poll::Ready(Some(Err(error)))) => Poll::Ready(Some(Err(error))),
            Some(Poll::Ready(None)) | None => Poll::Ready(None),
        }
    }
}

impl Drop for Handling<'_> {
    fn drop(&mut self) {
        if !matches!(self.0, Step::Over) {
            contained(|| self.0 = Step::Over);
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
            Some(Ok(produced)) => Ok(Executed::Elsewhere(Box::new(produced))),
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
