//! Stage 5: validation against the tool's own schema, and decoding.

use serde_json::Value;
use tool_core::{
    Arguments, InvalidArguments, Outcome, Prepared, Refusal, RepairRule, Repairs, Stage, Validation,
};

use super::parse::{self, Parsed};
use super::{Ended, Run};
use crate::Entry;
use crate::repair::Repairing;

/// Arguments that the tool's schema accepts, decoded. The value validated is the value executed.
pub(super) struct Valid<'e> {
    pub(super) input: Value,
    pub(super) prepared: Box<dyn Prepared + 'e>,
}

/// Validates and decodes. Input that does not fit never reaches the tool.
pub(super) fn validate<'e>(
    run: &Run<'_>,
    entry: &'e Entry,
    parsed: Parsed,
) -> Result<Valid<'e>, Ended> {
    run.stage(Stage::Validate);
    let Parsed {
        value,
        fits,
        further,
    } = parsed;
    let valid = value.and_then(|input| {
        if fits != Some(true) && entry.tool().validates() == Validation::Enforce {
            let checked = match fits {
                Some(_) => Err(entry.input.why_not(&input)),
                None => entry.input.check(&input),
            };
            checked.map_err(|invalid| invalid.and(further))?;
        }
        let prepared = entry.tool().executor().prepare(&input)?;
        Ok(Valid { input, prepared })
    });
    valid.map_err(|invalid| Box::new(Outcome::Refused(Refusal::InvalidArguments(invalid))))
}

/// Why arguments do not fit a tool that somebody else runs.
pub(crate) fn misfit(entry: &Entry, arguments: &Arguments) -> Option<InvalidArguments> {
    let enforced = entry.tool().validates() == Validation::Enforce;
    let repairing = Repairing {
        schema: enforced.then_some(&*entry.input),
        // It ran with what was sent; nothing but nothing at all may stand for something else.
        rules: Repairs::NONE.with(RepairRule::EmptyArguments),
        injected: &[],
    };
    let read = parse::read(&mut arguments.clone());
    match repairing.mend(parse::text(arguments), read, None).value {
        Ok(input) => enforced.then(|| entry.input.check(&input).err()).flatten(),
        Err(invalid) => Some(invalid),
    }
}
