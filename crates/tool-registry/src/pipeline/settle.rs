//! Stage 15: the settlement is given out.

use tool_core::{Event, EventKind, Facts, Settlement, Stage};

use crate::services::Services;

/// Tells the settlement to whoever receives events. A receiver that panics here takes neither this
/// settlement back nor its siblings along.
pub(crate) fn announce(
    services: &Services,
    facts: &Facts,
    number: Option<u64>,
    settlement: &Settlement,
) {
    if services.events.is_none() {
        return;
    }
    for kind in [
        EventKind::Stage(Stage::Settle),
        EventKind::Settled(settlement),
    ] {
        let call = settlement.call.as_ref();
        let event = Event::new(call, &settlement.tool, facts, kind);
        services.emit(&event.number(number));
    }
}
