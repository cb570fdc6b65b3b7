//! JSON text that has one reading only.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::map::Entry;
use serde_json::{Map, Number, Value};
use tool_core::Issue;

use crate::nesting::{self, MAX_DEPTH};
use crate::spelling::unheld;

const TOO_DEEP: Issue = Issue::Unrepresentable {
    what: "the arguments are nested deeper than 128 levels",
};

/// Parses text that holds one JSON value and nothing else.
///
/// A key that stands twice is refused, as policy and tool could otherwise see different values.
/// Text that ends too early is refused as such and never completed. A number is kept exactly or
/// refused, never rounded to another integer.
pub(crate) fn parse(text: &str) -> Result<Value, Issue> {
    let (mut found, mut vast) = (None, false);
    let mut deserializer = serde_json::Deserializer::from_str(text);
    // Our own limit holds, one level above what would otherwise be reported as bad syntax.
    deserializer.disable_recursion_limit();
    let parsed = Strict {
        depth: 0,
        found: &mut found,
        vast: &mut vast,
    }
    .deserialize(&mut deserializer)
    .and_then(|value| deserializer.end().map(|()| value));
    match parsed {
        // The parser gives an integer that it cannot hold as a rounded number.
        Ok(value) if vast => match unheld(text) {
            Some(unheld) => Err(Issue::Unrepresentable { what: unheld.what }),
            None => Ok(value),
        },
        Ok(value) => Ok(value),
        Err(error) => Err(found.unwrap_or_else(|| syntax(text, &error))),
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
            return Issue::Unrepresentable { what: unheld.what };
        }
    }
    Issue::Syntax {
        line,
        column,
        truncated: error.is_eof(),
    }
}

/// Refuses a value that is nested too deeply, as one that was built in code can be.
pub(crate) fn hold(value: Value) -> Result<Value, Issue> {
    if nesting::is_shallow(&value) {
        return Ok(value);
    }
    nesting::dismantle(value);
    Err(TOO_DEEP)
}

struct Strict<'a> {
    depth: usize,
    /// Why a refusal of our own happened: a parser's error carries only text.
    found: &'a mut Option<Issue>,
    /// A number was met that may be a rounded integer.
    vast: &'a mut bool,
}

/// Every integer that is given as a rounded number is at least that large: 2 to the power of 63.
const VAST: f64 = 9_223_372_036_854_775_808.0;

impl Strict<'_> {
    fn refuse<E: serde::de::Error>(self, issue: Issue) -> E {
        *self.found = Some(issue);
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
        *self.vast |= value.abs() >= VAST;
        match Number::from_f64(value) {
            Some(number) => Ok(Value::Number(number)),
            None => Err(self.refuse(Issue::Unrepresentable {
                what: "a number is out of range",
            })),
        }
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        if self.depth >= MAX_DEPTH {
            return Err(self.refuse(TOO_DEEP));
        }
        let mut items = Vec::new();
        while let Some(item) = access.next_element_seed(Strict {
            depth: self.depth + 1,
            found: &mut *self.found,
            vast: &mut *self.vast,
        })? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        if self.depth >= MAX_DEPTH {
            return Err(self.refuse(TOO_DEEP));
        }
        let mut map = Map::new();
        while let Some(key) = access.next_key::<String>()? {
            let place = match map.entry(key) {
                Entry::Vacant(place) => place,
                Entry::Occupied(taken) => {
                    let key = taken.key().clone();
                    return Err(self.refuse(Issue::DuplicateKey { key }));
                }
            };
            place.insert(access.next_value_seed(Strict {
                depth: self.depth + 1,
                found: &mut *self.found,
                vast: &mut *self.vast,
            })?);
        }
        Ok(Value::Object(map))
    }
}
