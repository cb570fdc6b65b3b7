//! Stage 3: from what was delivered to JSON.

use serde_json::Value;
use tool_core::{Arguments, EventKind, InvalidArguments, Issue, Stage, Validation};

use super::Run;
use crate::Entry;
use crate::repair::{Mended, Repairing};
use crate::strict_json::{self, Read};

/// Arguments as JSON, or why they are none. Policy sees the attempt either way.
pub(super) struct Parsed {
    pub(super) value: Result<Value, InvalidArguments>,
    /// Whether the schema takes the value, where that was seen.
    pub(super) fits: Option<bool>,
    /// What is wrong beyond what the schema says.
    pub(super) further: Vec<Issue>,
}

/// Parses the arguments. Text that is cut off is never completed.
///
/// What does not fit as it came is put right where only one reading is left, and put on record.
pub(super) fn parse(run: &mut Run<'_>, entry: &Entry, arguments: &mut Arguments) -> Parsed {
    run.stage(Stage::Parse);
    let enforced = entry.tool().validates() == Validation::Enforce;
    let read = read(arguments);
    let verdict = match &read {
        Ok(read) if enforced => entry.input.verdict(&read.value),
        _ => None,
    };
    let read = match read {
        Ok(Read {
            value,
            whole: false,
        }) if (!enforced && !value.is_null()) || verdict == Some(true) => {
            return Parsed {
                value: Ok(value),
                fits: verdict,
                further: Vec::new(),
            };
        }
        read => read,
    };
    let repairing = Repairing {
        schema: enforced.then_some(&*entry.input),
        rules: entry
            .tool()
            .declarations()
            .repairs
            .unwrap_or(run.services.repairs),
        injected: &run.services.injected_keys,
    };
    let Mended {
        value,
        repairs,
        fits,
        further,
    } = repairing.mend(text(arguments), read, verdict);
    for repair in &repairs {
        run.tell(|| EventKind::Repaired(repair));
    }
    run.settlement.repairs = repairs;
    Parsed {
        value,
        fits,
        further,
    }
}

/// Arguments as JSON. A value is taken out.
pub(crate) fn read(arguments: &mut Arguments) -> Result<Read, Issue> {
    match arguments {
        Arguments::Text(text) => strict_json::parse(text),
        Arguments::Value(value) => strict_json::hold(value.take()),
        _ => strict_json::hold(Value::Null),
    }
}

pub(super) fn text(arguments: &Arguments) -> Option<&str> {
    match arguments {
        Arguments::Text(text) => Some(text),
        _ => None,
    }
}
