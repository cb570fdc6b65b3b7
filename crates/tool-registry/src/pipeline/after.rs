//! Stage 14: hooks on the bounded settlement.

use tool_core::{Defect, DefectKind, Outcome, SettledCall, Spoken, Stage};

use super::Run;
use super::passage::Passage;
use crate::Entry;
use crate::contained::awaited;

/// Runs the hooks, the one added last first. One that fails or panics makes the call a defect.
/// Nothing is bounded a second time, and whatever a hook changes, the settlement stays that of its
/// call.
pub(super) fn run<'a>(
    run: &'a mut Run<'_>,
    entry: &'a Entry,
    input: &'a Spoken<'_>,
) -> Passage<'a, ()> {
    run.stage(Stage::After);
    // A call that was refused while it ran counts as one that did not run.
    if run.services.after.is_empty() || matches!(run.settlement.outcome, Outcome::Refused(_)) {
        return Passage::At(());
    }
    Passage::after(move || look(run, entry, input))
}

async fn look(run: &mut Run<'_>, entry: &Entry, input: &Spoken<'_>) {
    let call = SettledCall::new(
        run.facts,
        entry.identity(),
        entry.tool().declarations(),
        Some(input.value()),
    )
    .placed(run.host.state.placed());
    // On a copy, so that a hook that breaks or never ends leaves what the call is known by.
    let mut settlement = (*run.settlement).clone();
    settlement.call = run.id().cloned();
    for hook in &run.services.after {
        let looked = awaited(async { hook.after(&mut settlement, &call).await }).await;
        let defect = match looked {
            Some(Ok(())) => continue,
            Some(Err(cause)) => Defect::because(DefectKind::Hook, cause),
            None => Defect::new(DefectKind::Panic),
        };
        run.end(Outcome::Defect(defect));
        run.settlement.retained = settlement.retained;
        // The ticket went with the content.
        run.unseen.take_back();
        return;
    }
    *run.settlement = settlement;
}
