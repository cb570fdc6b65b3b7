//! Stage 15: the settlement is given out.

use tool_core::{Event, EventKind, Facts, Settlement, Stage};

use crate::services::Services;

/// Tells the settlement to whoever receives events, and gives it out.
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
        emit(EventKind::Stage(Stage::Settle));
        emit(EventKind::Settled(&settlement));
    }
    settlement
}
