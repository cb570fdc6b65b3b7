//! What the runtime itself says to the model beside the result.

use tool_core::Outcome;

use super::Run;
use crate::repair::note;

/// Tells the model how to send what had to be put right, outside of what is bounded. Of a call
/// that was refused or broke there is more to be said than that.
pub(super) fn of_repairs(run: &mut Run<'_>) {
    let settlement = &mut run.settlement;
    let ran = matches!(settlement.outcome, Outcome::Completed | Outcome::Failed(_));
    if ran && run.services.repair_notes && !settlement.repairs.is_empty() {
        settlement.content.extend(note(&settlement.repairs));
    }
}
