//! JSON text that has one reading only.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::map::Entry;
use serde_json::{Map, Number, Value};
use tool_core::{Issue, Unrepresentable};

use crate::nesting::{self, MAX_DEPTH};
use crate::pointer;
use crate::spelled_number::whole_numbers_are_exact;
use crate::spelling::unheld;

const TOO_DEEP: Issue = Issue::Unrepresentable {
    path: String::new(),
    what: Unrepresentable::Depth,
};

/// What was read.
pub(crate) struct Read {
    pub(crate) value: Value,
    /// Whether a number without a fraction is held as one that could have one, and none such has
    /// lost a digit.
    pub(crate) whole: bool,
}

/// Parses text that holds one JSON value and nothing else.
///
/// A key that stands twice is refused, as policy and tool could otherwise see different values.
/// Text that ends too early is refused as such and never completed. A number is kept exactly or
/// refused, never rounded to another integer.
pub(crate) fn parse(text: &str) -> Result<Read, Issue> {
    parse_below(text, 0)
}

/// Parses text that stands inside a value, so many levels down.
pub(crate) fn parse_below(text: &str, depth: usize) -> Result<Read, Issue> {
    let mut notes = Notes::default();
    let mut deserializer = serde_json::Deserializer::from_str(text);
    // Our own limit holds, one level above what would otherwise be reported as bad syntax.
    deserializer.disable_recursion_limit();
    let parsed = Strict {
        depth,
        notes: &mut notes,
    }
    .deserialize(&mut deserializer)
    .and_then(|value| deserializer.end().map(|()| value));
    let Notes {
        found,
        trail,
        vast,
        whole,
    } = notes;
    match parsed {
        // The parser gives an integer that it cannot hold as a rounded number.
        Ok(value) => {
            if vast && let Some(unheld) = unheld(text) {
                return Err(Issue::Unrepresentable {
                    path: pointer::at_byte(text, unheld.at),
                    what: unheld.what,
                });
            }
            let whole = whole && whole_numbers_are_exact(text);
            Ok(Read { value, whole })
        }
        Err(error) => {
            let mut issue = found.unwrap_or_else(|| syntax(text, &error));
            if let Issue::DuplicateKey { path, .. }
            | Issue::Unrepresentable {
                path,
                what: Unrepresentable::Number | Unrepresentable::Surrogate,
            } = &mut issue
            {
                for step in trail.iter().rev() {
                    match step {
                        Place::Key(key) => pointer::push_key(path, key),
                        Place::Index(index) => pointer::push_index(path, *index),
                    }
                }
            }
            Err(issue)
        }
    }
}

/// The issue for text that the parser refused. The parser counts as bad syntax what is spelled
/// well and cannot be held.
fn syntax(text: &str, error: &serde_json::Error) -> Issue {
    let (line, column) = (error.line(), error.column());
    if !error.is_eof() {
        let before: usize = text
            .split_inclusive('\n')
            .take(line.saturating_sub(1))
            .map(str::len)
            .sum();
        if let Some(unheld) = unheld(text)
            && unheld.at < before + column
        {
            return Issue::Unrepresentable {
                path: String::new(),
                what: unheld.what,
            };
        }
    }
    Issue::Syntax {
        line,
        column,
        truncated: error.is_eof(),
    }
}

/// Refuses a value that is nested too deeply, as one that was built in code can be.
pub(crate) fn hold(value: Value) -> Result<Read, Issue> {
    let mut whole = false;
    if nesting::is_shallow_and(&value, &mut |number| whole |= is_whole(number)) {
        return Ok(Read { value, whole });
    }
    nesting::dismantle(value);
    Err(TOO_DEEP)
}

fn is_whole(number: &Number) -> bool {
    number.is_f64() && number.as_f64().is_some_and(|number| number.fract() == 0.0)
}

/// Where a refusal happened, from the inside out.
enum Place {
    Key(String),
    Index(usize),
}

/// What is noticed on the way.
#[derive(Default)]
struct Notes {
    /// Why a refusal of our own happened: a parser's error carries only text.
    found: Option<Issue>,
    /// Where it happened.
    trail: Vec<Place>,
    /// A number was met that may be a rounded integer.
    vast: bool,
    /// A number without a fraction was met that is no integer to the parser.
    whole: bool,
}

struct Strict<'a> {
    depth: usize,
    notes: &'a mut Notes,
}

/// Every integer that is given as a rounded number is at least that large: 2 to the power of 63.
const VAST: f64 = 9_223_372_036_854_775_808.0;

impl Strict<'_> {
    /// For what is one level below.
    fn below(&mut self) -> Strict<'_> {
        Strict {
            depth: self.depth + 1,
            notes: &mut *self.notes,
        }
    }

    fn refuse<E: serde::de::Error>(self, issue: Issue) -> E {
        self.notes.found = Some(issue);
        E::custom("refused")
    }
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        self.notes.vast |= value.abs() >= VAST;
        self.notes.whole |= value.fract() == 0.0;
        match Number::from_f64(value) {
            Some(number) => Ok(Value::Number(number)),
            None => Err(self.refuse(Issue::Unrepresentable {
                path: String::new(),
                what: Unrepresentable::Number,
            })),
        }
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut access: A) -> Result<Value, A::Error> {
        if self.depth >= MAX_DEPTH {
            return Err(self.refuse(TOO_DEEP));
        }
        let mut items = Vec::new();
        loop {
            match access.next_element_seed(self.below()) {
                Ok(Some(item)) => items.push(item),
                Ok(None) => return Ok(Value::Array(items)),
                Err(error) => {
                    self.notes.trail.push(Place::Index(items.len()));
                    return Err(error);
                }
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut access: A) -> Result<Value, A::Error> {
        if self.depth >= MAX_DEPTH {
            return Err(self.refuse(TOO_DEEP));
        }
        let mut map = Map::new();
        while let Some(key) = access.next_key::<String>()? {
            let place = match map.entry(key) {
                Entry::Vacant(place) => place,
                Entry::Occupied(taken) => {
                    return Err(self.refuse(Issue::DuplicateKey {
                        path: String::new(),
                        key: taken.key().clone(),
                    }));
                }
            };
            match access.next_value_seed(self.below()) {
                Ok(value) => {
                    place.insert(value);
                }
                Err(error) => {
                    self.notes.trail.push(Place::Key(place.key().clone()));
                    return Err(error);
                }
            }
        }
        Ok(Value::Object(map))
    }
}
