//! Stage 15: the settlement is given out.

use std::panic::{AssertUnwindSafe, catch_unwind};

use tool_core::{Event, EventKind, Facts, Settlement, Stage};

use crate::services::Services;

/// Tells the settlement to whoever receives events, and gives it out. A receiver that panics here
/// takes neither this settlement back nor its siblings along.
pub(super) fn announce(services: &Services, facts: &Facts, settlement: Settlement) -> Settlement {
    if let Some(events) = &services.events {
        let emit = |kind| {
            events.emit(&Event::new(
                settlement.call.as_ref(),
                &settlement.tool,
                facts,
                kind,
            ));
        };
        let _ = catch_unwind(AssertUnwindSafe(|| {
            emit(EventKind::Stage(Stage::Settle));
            emit(EventKind::Settled(&settlement));
        }));
    }
    settlement
}
