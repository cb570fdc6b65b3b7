//! Stage 9: the single executor.

use std::sync::Arc;

use serde_json::Value;
use tool_core::{
    CallControl, Credential, Defect, DefectKind, Finished, Gate, HandlerErrorKind, Outcome,
    Prepared, Refusal, Stage, ToolKind,
};

use super::Run;
use super::artifacts::Redeemed;
use super::suspend::{self, Wait};
use crate::Entry;
use crate::contained::awaited;
use crate::host::Host;

/// A handler that came to its end.
pub(super) struct Executed(pub(super) Box<dyn Finished>);

/// Runs the handler. A refusal that it met while running stands, whatever it made of it.
pub(super) async fn execute(
    run: &mut Run<'_>,
    entry: &Arc<Entry>,
    input: &Value,
    prepared: Box<dyn Prepared>,
    redeemed: Option<Box<Redeemed>>,
    credential: Option<Credential>,
) -> Result<Executed, Outcome> {
    run.stage(Stage::Execute);
    if let Some(settled) = settled_elsewhere(run, entry, input) {
        return settled;
    }
    let _turn = match run.turnstile {
        Some(turnstile) => Some(Box::pin(turnstile.enter(entry, input)).await),
        None => None,
    };
    let host = Arc::new(Host::new(run, entry));
    run.hosted.by(Arc::clone(&host));
    // Dropped with this future: that is what cancels the call.
    let mut control = CallControl::of(host).credential(credential);
    if let Some(redeemed) = redeemed {
        control = control.wanted(redeemed.wanted);
    }
    let control = control.build();

    let context = control.context();
    // The handler's own code runs already when its future is made.
    let running = awaited(async move { prepared.run(context).await });
    let ended = match entry.tool().declarations().timeout {
        None => Ok(running.await),
        Some(after) => Box::pin(tokio::time::timeout(after, running))
            .await
            .map_err(|_| after),
    };
    control.settle();
    run.loss = control.loss();
    run.hosted.clean_up().await;

    if let Some(refusal) = control.refusal() {
        return Err(Outcome::Refused(refusal));
    }
    match ended {
        Err(after) => Err(Outcome::TimedOut { after }),
        Ok(None) => Err(Outcome::Defect(Defect::new(DefectKind::Panic))),
        Ok(Some(Err(error))) => Err(match error.into_kind() {
            HandlerErrorKind::Failure(failure) => Outcome::Failed(failure),
            HandlerErrorKind::Refused(refusal) => Outcome::Refused(refusal),
            HandlerErrorKind::Defect(cause) => {
                Outcome::Defect(Defect::shared(DefectKind::Handler, cause))
            }
        }),
        Ok(Some(Ok(_))) if entry.tool().declarations().asserts && !control.asserted() => {
            Err(Outcome::Defect(Defect::new(DefectKind::Unasserted)))
        }
        Ok(Some(Ok(finished))) => Ok(Executed(finished)),
    }
}

/// What becomes of a call that runs nothing here.
fn settled_elsewhere(
    run: &mut Run<'_>,
    entry: &Entry,
    input: &Value,
) -> Option<Result<Executed, Outcome>> {
    match entry.tool().kind() {
        ToolKind::External => Some(match run.gating.outside.take().map(|outside| *outside) {
            Some(Ok(produced)) => Ok(Executed(Box::new(produced))),
            Some(Err(failure)) => Err(Outcome::Failed(failure)),
            None => {
                let because = "the result comes from outside".to_owned();
                let wait = Wait {
                    gate: Gate::External,
                    because,
                    component: None,
                };
                Err(suspend::suspend(run, entry, input, wait))
            }
        }),
        ToolKind::Provider(defined) if !defined.handled_here => {
            Some(Err(Outcome::Refused(Refusal::Door {
                declaration: "execution by its provider",
            })))
        }
        _ => None,
    }
}
