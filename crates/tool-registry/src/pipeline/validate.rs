//! Stage 5: validation against the tool's own schema, and decoding.

use serde_json::Value;
use tool_core::{Outcome, Prepared, Refusal, Stage, Validation};

use super::Run;
use super::parse::Parsed;
use crate::Entry;

/// Arguments that the tool's schema accepts, decoded. The value validated is the value executed.
pub(super) struct Valid {
    pub(super) input: Value,
    pub(super) prepared: Box<dyn Prepared>,
}

/// Validates and decodes. Input that does not fit never reaches the tool.
pub(super) fn validate(run: &Run<'_>, entry: &Entry, parsed: Parsed) -> Result<Valid, Outcome> {
    run.stage(Stage::Validate);
    let valid = parsed.0.and_then(|input| {
        if entry.tool().validates() == Validation::Enforce {
            entry.input.check(&input)?;
        }
        let prepared = entry.tool().executor().prepare(&input)?;
        Ok(Valid { input, prepared })
    });
    valid.map_err(|invalid| Outcome::Refused(Refusal::InvalidArguments(invalid)))
}
