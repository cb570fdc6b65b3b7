//! Stage 9: the single executor.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt as _;
use serde_json::Value;
use tool_core::{
    CallControl, Credential, Defect, DefectKind, Event, EventKind, Finished, HandlerErrorKind,
    Outcome, Progress, ProgressSink, Stage,
};

use super::Run;
use super::artifacts::Redeemed;
use crate::Entry;

/// A handler that came to its end.
pub(super) struct Executed {
    pub(super) spoken: Value,
    pub(super) finished: Box<dyn Finished>,
}

/// Runs the handler. A refusal that it met while running stands, whatever it made of it.
pub(super) async fn execute(
    run: &Run<'_>,
    entry: &Entry,
    redeemed: Redeemed,
    credential: Option<Credential>,
) -> Result<Executed, Outcome> {
    run.stage(Stage::Execute);
    let Redeemed {
        spoken,
        prepared,
        wanted,
    } = redeemed;
    let _turn = match run.turnstile {
        Some(turnstile) => Some(turnstile.enter(entry, &spoken).await),
        None => None,
    };
    // Dropped with this future: that is what cancels the call.
    let control = CallControl::builder(
        run.facts.clone(),
        run.id.clone(),
        entry.identity().clone(),
        entry.source().clone(),
    )
    .progress(progress(run))
    .credential(credential)
    .wanted(wanted)
    .build();

    let context = control.context();
    // The handler's own code runs already when its future is made.
    let running = AssertUnwindSafe(async move { prepared.run(context).await }).catch_unwind();
    let ended = match entry.tool().declarations().timeout {
        None => running.await,
        Some(after) => match tokio::time::timeout(after, running).await {
            Ok(ended) => ended,
            Err(_) => return Err(Outcome::TimedOut { after }),
        },
    };
    control.settle();

    if let Some(refusal) = control.refusal() {
        return Err(Outcome::Refused(refusal));
    }
    match ended {
        Err(_) => Err(Outcome::Defect(Defect::new(DefectKind::Panic))),
        Ok(Err(error)) => Err(match error.into_kind() {
            HandlerErrorKind::Failure(failure) => Outcome::Failed(failure),
            HandlerErrorKind::Refused(refusal) => Outcome::Refused(refusal),
            HandlerErrorKind::Defect(cause) => {
                Outcome::Defect(Defect::shared(DefectKind::Handler, cause))
            }
        }),
        Ok(Ok(_)) if entry.tool().declarations().asserts && !control.asserted() => {
            Err(Outcome::Defect(Defect::new(DefectKind::Unasserted)))
        }
        Ok(Ok(finished)) => Ok(Executed { spoken, finished }),
    }
}

/// Where the handler's progress goes: to the caller, and to whoever receives events.
fn progress(run: &Run<'_>) -> Option<Arc<dyn ProgressSink>> {
    let Some(events) = run.services.events.clone() else {
        return run.progress.clone();
    };
    let caller = run.progress.clone();
    let (id, name, facts) = (run.id.clone(), run.name.clone(), run.facts.clone());
    Some(Arc::new(move |progress: Progress| {
        events.emit(&Event::new(
            id.as_ref(),
            &name,
            &facts,
            EventKind::Progress(&progress),
        ));
        if let Some(caller) = &caller {
            caller.report(progress);
        }
    }))
}
