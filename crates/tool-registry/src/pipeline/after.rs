//! Stage 14: hooks on the bounded settlement.

use tool_core::{Defect, DefectKind, Outcome, Settlement, Stage};

use super::Run;

/// Runs the hooks, the one added last first. One that fails makes the call a defect. Nothing is
/// bounded a second time, and whatever a hook changes, the settlement stays that of its call.
pub(super) async fn run(run: &Run<'_>, mut settlement: Settlement) -> Settlement {
    run.stage(Stage::After);
    // A call that was refused while it ran counts as one that did not run.
    if matches!(settlement.outcome, Outcome::Refused(_)) {
        return settlement;
    }
    for hook in &run.services.after {
        if let Err(cause) = hook.after(&mut settlement, run.facts).await {
            let defect = Defect::because(DefectKind::Hook, cause);
            let mut broken =
                Settlement::without_output(run.id.clone(), &run.name, Outcome::Defect(defect));
            broken.retained = settlement.retained;
            return broken;
        }
    }
    settlement.call.clone_from(&run.id);
    settlement
}
