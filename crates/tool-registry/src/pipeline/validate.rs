//! Stage 5: validation against the tool's own schema, and decoding.

use std::mem;

use tool_core::{
    Arguments, InvalidArguments, Outcome, Prepared, Refusal, RepairRule, Repairs, Spoken, Stage,
    Validation,
};

use super::parse::{Delivered, Parsed};
use super::{Ended, Run};
use crate::Entry;
use crate::repair::Repairing;

/// Arguments that the tool's schema accepts, decoded. The value validated is the value executed.
pub(super) struct Valid<'e, 'p, 't> {
    pub(super) input: &'p Spoken<'t>,
    pub(super) prepared: Box<dyn Prepared + 'e>,
}

/// Validates and decodes. Input that does not fit never reaches the tool.
///
/// What was parsed stays where it is, as moving it costs as much as decoding a few arguments.
pub(super) fn validate<'e, 'p, 't>(
    run: &Run<'_>,
    entry: &'e Entry,
    parsed: &'p mut Parsed<'t>,
) -> Result<Valid<'e, 'p, 't>, Ended> {
    run.stage(Stage::Validate);
    let Parsed {
        spoken,
        fits,
        further,
    } = parsed;
    let input = match spoken {
        Ok(input) => &*input,
        Err(invalid) => return Err(refused(mem::replace(invalid, InvalidArguments::new([])))),
    };
    if *fits != Some(true) && entry.tool().validates() == Validation::Enforce {
        let checked = match fits {
            Some(_) => Err(entry.input.why_not_as_read(input)),
            None => entry.input.check(input.value()),
        };
        checked.map_err(|invalid| refused(invalid.and(mem::take(further))))?;
    }
    let prepared = entry.tool().executor().prepare_spoken(input);
    let prepared = prepared.map_err(refused)?;
    Ok(Valid { input, prepared })
}

fn refused(invalid: InvalidArguments) -> Ended {
    Box::new(Outcome::Refused(Refusal::InvalidArguments(invalid)))
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
    let mut arguments = arguments.clone();
    let mut delivered = Delivered::of(&mut arguments);
    let read = delivered.read();
    match repairing.mend(delivered.text(), read, None).value {
        Ok(input) => enforced.then(|| entry.input.check(&input).err()).flatten(),
        Err(invalid) => Some(invalid),
    }
}
