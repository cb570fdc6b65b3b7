//! Stage 2: lookup in the captured snapshot.

use std::sync::Arc;

use tool_core::{Outcome, Refusal, Stage};

use super::{Ended, Run};
use crate::Entry;
use crate::nearest::nearest;

/// Finds the tool by the table that made the wire names, and nowhere else.
pub(super) fn resolve<'s>(run: &mut Run<'s>) -> Result<&'s Arc<Entry>, Ended> {
    run.stage(Stage::Resolve);
    let (catalog, name) = (&run.snapshot.catalog, run.name());
    let found = catalog.find(name);
    let Some((position, entry)) = found else {
        let name = name.to_owned();
        let refusal = if catalog.withdrawn().contains(&name) {
            Refusal::Unavailable { name }
        } else {
            let known = catalog.entries().iter();
            Refusal::Unknown {
                nearest: nearest(&name, known.map(|entry| entry.wire_name().as_str())),
                name,
            }
        };
        return Err(Outcome::Refused(refusal).into());
    };
    run.host.resolved(position);
    run.settlement.identity = Some(entry.identity().clone());
    run.settlement.failure_mode = entry.tool().declarations().failure_mode;
    Ok(entry)
}
