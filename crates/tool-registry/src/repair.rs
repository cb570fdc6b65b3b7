//! Putting arguments right that do not fit as they came, where only one reading is left.
//!
//! Nothing here runs for arguments that the schema takes as they are, but for holding a number as
//! an integer. The rules have an order, each is a file, and a result that does not validate is
//! given up as a whole.

mod closing_tag;
mod code_fence;
mod encoded_arguments;
mod encoded_value;
mod facts;
mod injected_key;
mod kinds;
mod note;
mod null_optional;
mod place;
mod walk;
mod whole_number;

use std::borrow::Cow;

use serde_json::{Map, Value};
use tool_core::{InvalidArguments, Issue, Plain, Repair, RepairRule, Repairs};

use self::walk::Walk;
use crate::strict_json::{self, Read};
use crate::validator::Validator;

pub(crate) use facts::Reading;
pub(crate) use note::note;

/// What arguments are put right for.
pub(crate) struct Repairing<'a> {
    /// The tool's schema; `None` where it is advertised only, and nothing is held against it.
    pub(crate) schema: Option<&'a Validator>,
    pub(crate) rules: Repairs,
    /// Keys that clients are known to add.
    pub(crate) injected: &'a [String],
}

/// What came of it.
pub(crate) struct Mended {
    pub(crate) value: Result<Value, InvalidArguments>,
    /// What was done; nothing where the value does not fit in the end.
    pub(crate) repairs: Vec<Repair>,
    /// Whether the schema takes the value, where that was seen.
    pub(crate) fits: Option<bool>,
    /// What is wrong beyond what the schema says of the value.
    pub(crate) further: Vec<Issue>,
}

impl Mended {
    fn refused(issue: Issue) -> Self {
        Self {
            value: Err(InvalidArguments::new([issue])),
            repairs: Vec::new(),
            fits: None,
            further: Vec::new(),
        }
    }

    fn taken(value: Value, repairs: Vec<Repair>, fits: Option<bool>) -> Self {
        Self {
            value: Ok(value),
            repairs,
            fits,
            further: Vec::new(),
        }
    }
}

impl Repairing<'_> {
    /// Whether arguments that the schema refuses stay as they were read, as nothing in them could be
    /// put right.
    pub(crate) fn leaves(&self, plain: &Plain<'_>) -> bool {
        let Plain::Object(members) = plain else {
            return false;
        };
        let is_injected = |key: &str| self.injected.iter().any(|one| one == key);
        !members.iter().any(|(key, _)| is_injected(key)) && !walk::finds_work(plain)
    }

    /// Puts right what was read, or could not be read, of a text or a value, of which the schema
    /// may have said already whether it takes it.
    pub(crate) fn mend(
        &self,
        text: Option<&str>,
        read: Result<Read, Issue>,
        seen: Option<bool>,
    ) -> Mended {
        let mut repairs = Vec::new();
        let read = match self.root(text, read, &mut repairs) {
            Ok(read) => read,
            Err(issue) => return Mended::refused(issue),
        };
        let Some(schema) = self.schema else {
            return Mended::taken(read.value, repairs, None);
        };
        let Read { mut value, whole } = read;
        if !value.is_object() {
            return Mended::taken(value, Vec::new(), None);
        }
        // What was seen is of the value as it came.
        let seen = seen.filter(|_| repairs.is_empty());
        let mut verdict = seen.or_else(|| schema.verdict(&value));
        if verdict == Some(false) && self.rules.contains(RepairRule::InjectedKey) {
            let removed = injected_key::remove(schema, self.injected, &mut value);
            if !removed.is_empty() {
                repairs.extend(removed);
                verdict = schema.verdict(&value);
            }
        }
        let walk = match verdict {
            Some(true) if !whole => return Mended::taken(value, repairs, verdict),
            Some(true) => Walk::of_valid(schema, self.rules),
            Some(false) => Walk::of_invalid(schema, self.rules),
            None => return Mended::taken(value, Vec::new(), None),
        };
        if verdict == Some(false) && !walk::finds_work(&value) {
            return Self::unmended(value, repairs, verdict);
        }
        let mut candidate = value.clone();
        let walked = walk.over(&mut candidate);
        if walked.repairs.is_empty() {
            let mut mended = Self::unmended(value, repairs, verdict);
            mended.further = walked.further;
            return mended;
        }
        if schema.verdict(&candidate) == Some(true) {
            repairs.extend(walked.repairs);
            return Mended::taken(candidate, repairs, Some(true));
        }
        let mut mended = Self::unmended(value, repairs, verdict);
        mended.further = walked.further;
        if verdict != Some(true) {
            let decoded = |path: &String| {
                walked
                    .repairs
                    .iter()
                    .any(|repair| repair.rule == RepairRule::EncodedValue && repair.path == *path)
            };
            let places = schema.ambiguous_places(&candidate).into_iter();
            let ambiguous = places.filter(decoded).map(|path| Issue::Ambiguous { path });
            mended.further.extend(ambiguous);
        }
        mended
    }

    /// What the walk changed nothing of. Repairs count only where the value fits.
    fn unmended(value: Value, repairs: Vec<Repair>, fits: Option<bool>) -> Mended {
        let repairs = if fits == Some(true) {
            repairs
        } else {
            Vec::new()
        };
        Mended::taken(value, repairs, fits)
    }

    /// The rules on the arguments as a whole.
    fn root(
        &self,
        text: Option<&str>,
        read: Result<Read, Issue>,
        repairs: &mut Vec<Repair>,
    ) -> Result<Read, Issue> {
        let blank = text.is_some_and(|text| text.trim().is_empty());
        let nothing = blank || matches!(&read, Ok(read) if read.value.is_null());
        if nothing && self.rules.contains(RepairRule::EmptyArguments) {
            repairs.push(Repair::new("", RepairRule::EmptyArguments));
            return Ok(Read {
                value: Value::Object(Map::new()),
                whole: false,
            });
        }
        let read = match (read, text) {
            (Err(_), Some(text)) if !blank => strict_json::parse(&self.unwrapped(text, repairs))?,
            (read, _) => read?,
        };
        if self.rules.contains(RepairRule::EncodedArguments)
            && let Value::String(encoded) = &read.value
            && let Some(decoded) = encoded_arguments::decode(encoded)?
        {
            repairs.push(Repair::new("", RepairRule::EncodedArguments));
            return Ok(decoded);
        }
        Ok(read)
    }

    /// Text without what is known to be wrapped around arguments. Blanks stand in its place, so
    /// that lines and columns stay.
    fn unwrapped<'t>(&self, text: &'t str, repairs: &mut Vec<Repair>) -> Cow<'t, str> {
        let mut inner = 0..text.len();
        loop {
            let rest = text.get(inner.clone()).unwrap_or_default();
            let (found, rule) = if self.rules.contains(RepairRule::ClosingTag)
                && let Some(found) = closing_tag::before(rest)
            {
                (found, RepairRule::ClosingTag)
            } else if self.rules.contains(RepairRule::CodeFence)
                && !repairs.iter().any(|one| one.rule == RepairRule::CodeFence)
                && let Some(found) = code_fence::inside(rest)
            {
                (found, RepairRule::CodeFence)
            } else {
                break;
            };
            inner = inner.start + found.start..inner.start + found.end;
            if !repairs.iter().any(|one| one.rule == rule) {
                repairs.push(Repair::new("", rule));
            }
        }
        if inner == (0..text.len()) {
            return Cow::Borrowed(text);
        }
        let blanked = text.char_indices().map(|(at, c)| {
            if inner.contains(&at) || c == '\n' {
                c
            } else {
                ' '
            }
        });
        Cow::Owned(blanked.collect())
    }
}
