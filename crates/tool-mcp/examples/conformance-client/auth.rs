//! Servers that want to know who calls.

use crate::scenario::Scenario;

pub(crate) const SCENARIOS: &[Scenario] = &[];
