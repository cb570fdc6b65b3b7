//! The output of one call, as its codec wrote it.

use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::{Plain, Spoken};

/// The output of one call, encoded. Few read it as a value, so that one is made for the first who
/// asks.
///
/// Two are equal when their values are. Printed and serialized it is what its value would be.
///
/// ```
/// use serde_json::json;
/// use tool_core::Output;
///
/// let output = Output::from(json!({"sum": 42}));
/// assert_eq!(output.value()["sum"], 42);
/// assert_eq!(output.to_string(), r#"{"sum":42}"#);
/// ```
#[derive(Clone, Debug)]
pub struct Output(Spoken<'static>);

impl Output {
    /// Encodes by `Serialize`, to what [`serde_json::to_value`] gives.
    ///
    /// It may serialize twice, as what turns out not to be of the simple sort is begun anew. What can
    /// be serialized only once, as an iterator in a cell, is to be collected before.
    ///
    /// # Errors
    /// What `to_value` fails with: the output has no JSON form.
    pub fn encode(output: &(impl Serialize + ?Sized)) -> Result<Self, serde_json::Error> {
        match Plain::encode(output) {
            Some(plain) => Ok(Self(plain.into())),
            // What is not of the simple sort is encoded a second time.
            None => serde_json::to_value(output).map(Self::from),
        }
    }

    /// The output as a value.
    #[inline]
    #[must_use]
    pub fn value(&self) -> &Value {
        self.0.value()
    }

    /// The output as a value, given away.
    #[inline]
    #[must_use]
    pub fn into_value(self) -> Value {
        self.0.into_value()
    }

    /// The output as it was encoded, where it is of the simple sort.
    #[inline]
    #[must_use]
    pub fn plain(&self) -> Option<&Plain<'static>> {
        self.0.plain()
    }

    /// The output, where it is a text.
    #[inline]
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self.plain() {
            Some(Plain::Text(text)) => Some(text),
            Some(_) => None,
            None => self.value().as_str(),
        }
    }

    /// Whether the output is `null`.
    #[inline]
    #[must_use]
    pub fn is_null(&self) -> bool {
        match self.plain() {
            Some(plain) => *plain == Plain::Null,
            None => self.value().is_null(),
        }
    }
}

impl From<Value> for Output {
    fn from(value: Value) -> Self {
        Self(value.into())
    }
}

impl From<Output> for Value {
    fn from(output: Output) -> Self {
        output.into_value()
    }
}

impl PartialEq for Output {
    fn eq(&self, other: &Self) -> bool {
        self.value() == other.value()
    }
}

impl PartialEq<Value> for Output {
    fn eq(&self, other: &Value) -> bool {
        self.value() == other
    }
}

impl Serialize for Output {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.plain() {
            Some(plain) => plain.serialize(serializer),
            None => self.value().serialize(serializer),
        }
    }
}

impl std::fmt::Display for Output {
    /// Compact JSON; indented by two spaces where the alternate form is asked for, as `{:#}` does.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = match f.alternate() {
            true => serde_json::to_string_pretty(self),
            false => serde_json::to_string(self),
        };
        f.write_str(&text.map_err(|_| std::fmt::Error)?)
    }
}
