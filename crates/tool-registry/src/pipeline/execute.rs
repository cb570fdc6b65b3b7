//! Stage 9: the single executor.

use std::pin::Pin;
use std::sync::Arc;

use tool_core::{
    CallHost, Context, Credential, Defect, DefectKind, Gate, HandlerErrorKind, Outcome, Prepared,
    Produced, Refusal, Running, Spoken, Stage, ToolKind,
};

use super::artifacts::Redeemed;
use super::suspend::{self, Wait};
use super::{Ended, Run};
use crate::Entry;
use crate::contained::awaited;
use crate::host::Host;

/// A handler that came to its end.
pub(super) enum Executed<'e> {
    /// Its output is still to be encoded.
    Here(Pin<Box<dyn Running + 'e>>),
    /// Somebody else's, who has encoded it.
    Elsewhere(Produced),
}

/// Runs the handler. A refusal that it met while running stands, whatever it made of it.
pub(super) async fn execute<'e>(
    run: &mut Run<'_>,
    entry: &Arc<Entry>,
    input: &Spoken<'_>,
    prepared: Box<dyn Prepared + 'e>,
    redeemed: Option<Box<Redeemed>>,
    credential: Option<Credential>,
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
    run.host.state().grant(credential, wanted);
    // Dropped with this future: that is what cancels the call.
    let waiting = Waiting(run.host);

    let context = Context::of(Arc::clone(run.host) as Arc<dyn CallHost>);
    // The handler's own code runs already when its future is made.
    let running = awaited(async move {
        let mut running = prepared.run(context);
        running.as_mut().await.map(|()| running)
    });
    let ended = match entry.tool().declarations().timeout {
        None => Ok(running.await),
        Some(after) => Box::pin(tokio::time::timeout(after, running))
            .await
            .map_err(|_| after),
    };
    let state = run.host.state();
    state.settle();
    run.host.clean_up().await;
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
        ToolKind::External => Some(match run.gating.outside.take().map(|outside| *outside) {
            Some(Ok(produced)) => Ok(Executed::Elsewhere(produced)),
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
