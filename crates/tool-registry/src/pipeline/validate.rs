//! Stage 5: validation against the tool's own schema, and decoding.

use serde_json::{Map, Value};
use tool_core::{Arguments, InvalidArguments, Outcome, Prepared, Refusal, Stage, Validation};

use super::Run;
use super::parse::{self, Parsed};
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

/// Why arguments do not fit a tool that somebody else runs.
pub(crate) fn misfit(entry: &Entry, arguments: &Arguments) -> Option<InvalidArguments> {
    let input = match parse::read(&mut arguments.clone()) {
        Ok(Value::Null) => Value::Object(Map::new()),
        Ok(input) => input,
        Err(issue) => return Some(InvalidArguments::new([issue])),
    };
    let enforced = entry.tool().validates() == Validation::Enforce;
    enforced.then(|| entry.input.check(&input).err()).flatten()
}
