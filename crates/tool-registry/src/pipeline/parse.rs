//! Stage 3: from what was delivered to JSON.

use serde_json::Value;
use tool_core::{Arguments, EventKind, InvalidArguments, Issue, Plain, Spoken, Stage, Validation};

use super::Run;
use crate::Entry;
use crate::repair::{Mended, Repairing};
use crate::strict_json::{self, Read};

/// Arguments as JSON, or why they are none. Policy sees the attempt either way.
pub(super) struct Parsed<'t> {
    pub(super) spoken: Result<Spoken<'t>, InvalidArguments>,
    /// Whether the schema takes the value, where that was seen.
    pub(super) fits: Option<bool>,
    /// What is wrong beyond what the schema says.
    pub(super) further: Vec<Issue>,
}

impl<'t> Parsed<'t> {
    /// Arguments that are taken as they came.
    fn taken(spoken: Spoken<'t>, fits: Option<bool>) -> Self {
        Self {
            spoken: Ok(spoken),
            fits,
            further: Vec::new(),
        }
    }
}

/// Parses the arguments. Text that is cut off is never completed.
///
/// What does not fit as it came is put right where only one reading is left, and put on record.
pub(super) fn parse<'t>(
    run: &mut Run<'_>,
    entry: &Entry,
    arguments: &'t mut Arguments,
) -> Parsed<'t> {
    run.stage(Stage::Parse);
    let enforced = entry.tool().validates() == Validation::Enforce;
    let services = run.services;
    let repairing = || Repairing {
        schema: enforced.then_some(&*entry.input),
        rules: entry
            .tool()
            .declarations()
            .repairs
            .unwrap_or(services.repairs),
        injected: &services.injected_keys,
    };
    let mut delivered = Delivered::of(arguments);
    let (read, verdict) = match delivered.text().and_then(Plain::read) {
        Some(plain) => {
            let verdict = enforced.then(|| entry.input.verdict_on(&plain)).flatten();
            let stays = match verdict {
                Some(fits) => fits || repairing().leaves(&plain),
                None => !enforced && plain != Plain::Null,
            };
            if stays {
                return Parsed::taken(plain.into(), verdict);
            }
            let (value, whole) = (plain.to_value(), false);
            (Ok(Read { value, whole }), verdict)
        }
        None => (delivered.read(), None),
    };
    let verdict = verdict.or_else(|| match &read {
        Ok(read) if enforced => entry.input.verdict(&read.value),
        _ => None,
    });
    let read = match read {
        Ok(Read {
            value,
            whole: false,
        }) if (!enforced && !value.is_null()) || verdict == Some(true) => {
            return Parsed::taken(value.into(), verdict);
        }
        read => read,
    };
    let Mended {
        value,
        repairs,
        fits,
        further,
    } = repairing().mend(delivered.text(), read, verdict);
    for repair in &repairs {
        run.tell(|| EventKind::Repaired(repair));
    }
    run.settlement.repairs = repairs;
    Parsed {
        spoken: value.map(Spoken::from),
        fits,
        further,
    }
}

/// Arguments as they were delivered. A value is taken out of them.
pub(crate) struct Delivered<'t> {
    text: Option<&'t str>,
    value: Value,
}

impl<'t> Delivered<'t> {
    pub(crate) fn of(arguments: &'t mut Arguments) -> Self {
        let (text, value) = match arguments {
            Arguments::Text(text) => (Some(text.as_str()), Value::Null),
            Arguments::Value(value) => (None, value.take()),
            _ => (None, Value::Null),
        };
        Self { text, value }
    }

    pub(crate) fn text(&self) -> Option<&'t str> {
        self.text
    }

    /// Arguments as JSON, to be read once.
    pub(crate) fn read(&mut self) -> Result<Read, Issue> {
        match self.text {
            Some(text) => strict_json::parse(text),
            None => strict_json::hold(self.value.take()),
        }
    }
}
