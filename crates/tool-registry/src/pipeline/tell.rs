//! What the runtime itself says to the model beside the result.

use tool_core::{Outcome, Settlement};

use super::Run;
use crate::repair::note;

/// Tells the model how to send what had to be put right, outside of what is bounded. Of a call
/// that was refused or broke there is more to be said than that.
#[inline]
pub(super) fn of_repairs(run: &mut Run<'_>) {
    if !run.settlement.repairs.is_empty() && run.services.repair_notes {
        add_note(run.settlement);
    }
}

#[cold]
fn add_note(settlement: &mut Settlement) {
    if matches!(settlement.outcome, Outcome::Completed | Outcome::Failed(_)) {
        settlement.content.extend(note(&settlement.repairs));
    }
}
