//! Stage 2: lookup in the captured snapshot.

use std::sync::Arc;

use tool_core::{Incoming, Outcome, Refusal, Stage};

use super::Run;
use crate::Entry;
use crate::catalog::Catalog;
use crate::nearest::nearest;

/// Finds the tool by the table that made the wire names, and nowhere else.
pub(super) fn resolve<'c>(
    run: &mut Run<'_>,
    catalog: &'c Catalog,
    incoming: &Incoming,
) -> Result<&'c Arc<Entry>, Outcome> {
    run.stage(Stage::Resolve);
    catalog.get(&incoming.name).ok_or_else(|| {
        if catalog.withdrawn().contains(&incoming.name) {
            return Outcome::Refused(Refusal::Unavailable {
                name: incoming.name.clone(),
            });
        }
        let known = catalog
            .entries()
            .iter()
            .map(|entry| entry.wire_name().as_str());
        Outcome::Refused(Refusal::Unknown {
            nearest: nearest(&incoming.name, known),
            name: incoming.name.clone(),
        })
    })
}
