//! Stage 9: the single executor.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use futures_util::FutureExt as _;
use serde_json::Value;
use tool_core::{
    CallControl, Credential, Defect, DefectKind, Dispatch, Event, EventKind, Finished, Gate,
    HandlerErrorKind, Outcome, Progress, ProgressSink, Refusal, Stage, ToolKind,
};

use super::Run;
use super::artifacts::Redeemed;
use super::suspend::{self, Wait};
use crate::Entry;
use crate::inner::InnerDispatch;
use crate::settling::preliminary_sink;
use crate::teardowns::{CallTeardown, Scope};

/// A handler that came to its end.
pub(super) struct Executed {
    pub(super) spoken: Value,
    pub(super) finished: Box<dyn Finished>,
}

/// Runs the handler. A refusal that it met while running stands, whatever it made of it.
pub(super) async fn execute(
    run: &mut Run<'_>,
    entry: &Arc<Entry>,
    redeemed: Redeemed,
    credential: Option<Credential>,
) -> Result<Executed, Outcome> {
    run.stage(Stage::Execute);
    if let Some(settled) = settled_elsewhere(run, entry, &redeemed.spoken) {
        return settled;
    }
    let Redeemed {
        spoken,
        prepared,
        wanted,
    } = redeemed;
    let _turn = match &run.turnstile {
        Some(turnstile) => Some(turnstile.enter(entry, &spoken).await),
        None => None,
    };
    let number = run.services.calls.fetch_add(1, Ordering::Relaxed);
    // Dropped with this future: that is what cancels the call.
    let control = CallControl::builder(
        run.facts.clone(),
        run.id.clone(),
        entry.identity().clone(),
        entry.source().clone(),
    )
    .progress(progress(run))
    .preliminary(preliminary_sink(run.early.as_ref(), entry))
    .dispatch(dispatch(run))
    .teardown(Some(Arc::new(CallTeardown {
        teardowns: Arc::clone(&run.services.teardowns),
        honoured: run.door.teardown_scopes(),
        call: number,
        tool: run.name.clone(),
        facts: run.facts.clone(),
    })))
    .credential(credential)
    .wanted(wanted)
    .build();

    let context = control.context();
    // The handler's own code runs already when its future is made.
    let running = AssertUnwindSafe(async move { prepared.run(context).await }).catch_unwind();
    let ended = match entry.tool().declarations().timeout {
        None => Ok(running.await),
        Some(after) => tokio::time::timeout(after, running)
            .await
            .map_err(|_| after),
    };
    control.settle();
    let scope = Scope::Call(number);
    if !run.services.teardowns.is_empty(&scope) {
        run.services.teardowns.run(&scope).await;
    }

    if let Some(refusal) = control.refusal() {
        return Err(Outcome::Refused(refusal));
    }
    match ended {
        Err(after) => Err(Outcome::TimedOut { after }),
        Ok(Err(_)) => Err(Outcome::Defect(Defect::new(DefectKind::Panic))),
        Ok(Ok(Err(error))) => Err(match error.into_kind() {
            HandlerErrorKind::Failure(failure) => Outcome::Failed(failure),
            HandlerErrorKind::Refused(refusal) => Outcome::Refused(refusal),
            HandlerErrorKind::Defect(cause) => {
                Outcome::Defect(Defect::shared(DefectKind::Handler, cause))
            }
        }),
        Ok(Ok(Ok(_))) if entry.tool().declarations().asserts && !control.asserted() => {
            Err(Outcome::Defect(Defect::new(DefectKind::Unasserted)))
        }
        Ok(Ok(Ok(finished))) => Ok(Executed { spoken, finished }),
    }
}

/// What becomes of a call that runs nothing here.
fn settled_elsewhere(
    run: &mut Run<'_>,
    entry: &Entry,
    spoken: &Value,
) -> Option<Result<Executed, Outcome>> {
    match entry.tool().kind() {
        ToolKind::External => Some(match run.gating.outside.take().map(|outside| *outside) {
            Some(Ok(produced)) => Ok(Executed {
                spoken: spoken.clone(),
                finished: Box::new(produced),
            }),
            Some(Err(failure)) => Err(Outcome::Failed(failure)),
            None => {
                let because = "the result comes from outside".to_owned();
                let wait = Wait {
                    gate: Gate::External,
                    because,
                    component: None,
                };
                Err(suspend::suspend(run, entry, spoken, wait))
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

/// How the handler calls other tools, where the door allows it.
fn dispatch(run: &Run<'_>) -> Option<Arc<dyn Dispatch>> {
    if !run.door.dispatches() {
        return None;
    }
    let (snapshot, facts) = (run.snapshot.clone(), run.facts.clone());
    Some(Arc::new(InnerDispatch::new(
        snapshot,
        facts,
        run.id.clone(),
    )))
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
