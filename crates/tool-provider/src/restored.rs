//! Calls as the tools take them.

use std::collections::BTreeSet;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use tool_core::Arguments;

use crate::{IncomingCall, ToolList};

/// Up to here every whole number is a double of its own (IEEE 754-2019, binary64: 53 bits).
const EXACT: f64 = 9_007_199_254_740_992.0;

impl ToolList {
    /// A call as the tool takes it: with the arguments of a tool that this list sent restored by
    /// its [`Inverse`](crate::Inverse).
    ///
    /// Arguments that come as text and are no JSON, say a key twice, or hold a number so large
    /// that a value would keep another whole number stay as they came: whoever validates them has
    /// to see what was sent. A fraction is read as the nearest double. Arguments that come as a
    /// value, as those of Anthropic's whole responses, Gemini and MCP do, were read before, and
    /// nothing of this can be seen in them. For a tool whose arguments are sent as it takes them,
    /// or that the list does not know, everything stays as it came.
    #[must_use]
    pub fn restore(&self, mut call: IncomingCall) -> IncomingCall {
        let sent = self.get(&call.name).map(crate::Projection::inverse);
        let Some(inverse) = sent.filter(|it| !it.is_identity()) else {
            return call;
        };
        call.arguments = match call.arguments {
            Arguments::Value(value) => Arguments::from(inverse.restore(*value)),
            Arguments::Text(text) => match read(&text) {
                Some(value) => Arguments::from(inverse.restore(value)),
                None => Arguments::Text(text),
            },
            other => other,
        };
        call
    }
}

/// The value that a text is, if a value can hold it.
fn read(text: &str) -> Option<Value> {
    let Distinct = serde_json::from_str(text).ok()?;
    let value: Value = serde_json::from_str(text).ok()?;
    is_exact(&value).then_some(value)
}

fn is_exact(value: &Value) -> bool {
    match value {
        Value::Number(number) => {
            !number.is_f64() || number.as_f64().is_some_and(|it| it.abs() < EXACT)
        }
        Value::Array(items) => items.iter().all(is_exact),
        Value::Object(map) => map.values().all(is_exact),
        _ => true,
    }
}

/// Any JSON without a key that stands twice.
struct Distinct;

impl<'de> Deserialize<'de> for Distinct {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Self)
    }
}

impl<'de> Visitor<'de> for Distinct {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON without a key that stands twice")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self, A::Error> {
        let mut seen = BTreeSet::new();
        while let Some(key) = map.next_key::<String>()? {
            if !seen.insert(key) {
                return Err(A::Error::custom("a key stands twice"));
            }
            let Self = map.next_value()?;
        }
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self, A::Error> {
        while let Some(Self) = items.next_element()? {}
        Ok(self)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }
}
