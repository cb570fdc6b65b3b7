//! Stage 14: hooks on the bounded settlement.

use tool_core::{Defect, DefectKind, Outcome, SettledCall, Settlement, Stage};

use super::Run;
use crate::Entry;
use crate::contained::awaited;

/// Runs the hooks, the one added last first. One that fails or panics makes the call a defect.
/// Nothing is bounded a second time, and whatever a hook changes, the settlement stays that of its
/// call.
pub(super) async fn run(run: &Run<'_>, entry: &Entry, mut settlement: Settlement) -> Settlement {
    run.stage(Stage::After);
    // A call that was refused while it ran counts as one that did not run.
    if matches!(settlement.outcome, Outcome::Refused(_)) {
        return settlement;
    }
    let call = SettledCall::new(
        run.facts,
        entry.identity(),
        entry.tool().declarations(),
        run.spoken.as_ref(),
    );
    for hook in &run.services.after {
        let looked = awaited(async { hook.after(&mut settlement, &call).await }).await;
        let defect = match looked {
            Some(Ok(())) => continue,
            Some(Err(cause)) => Defect::because(DefectKind::Hook, cause),
            None => Defect::new(DefectKind::Panic),
        };
        let mut broken =
            Settlement::without_output(run.id.clone(), &run.name, Outcome::Defect(defect));
        broken.retained = settlement.retained;
        broken.repairs = settlement.repairs;
        broken.identity = settlement.identity;
        broken.failure_mode = settlement.failure_mode;
        return broken;
    }
    settlement.call.clone_from(&run.id);
    settlement
}
