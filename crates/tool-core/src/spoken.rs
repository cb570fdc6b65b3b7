//! The arguments of one call, as a tool reads them.

use std::sync::OnceLock;

use serde_json::Value;

use crate::Plain;

/// The arguments of one call, read. Few read them as a value, so that one is made for the first
/// who asks.
///
/// ```
/// use tool_core::{Plain, Spoken};
///
/// let spoken = Spoken::from(Plain::read(r#"{"pattern":"main"}"#).unwrap());
/// assert_eq!(spoken.value()["pattern"], "main");
/// ```
#[derive(Clone, Debug)]
pub struct Spoken<'t> {
    plain: Option<Plain<'t>>,
    value: OnceLock<Box<Value>>,
}

impl Spoken<'_> {
    /// The arguments as a value.
    #[inline]
    #[must_use]
    pub fn value(&self) -> &Value {
        self.value.get_or_init(|| Box::new(self.made()))
    }

    /// The arguments as a value, given away.
    #[must_use]
    pub fn into_value(mut self) -> Value {
        match self.value.take() {
            Some(value) => *value,
            None => self.plain.map_or(Value::Null, Plain::into_value),
        }
    }

    fn made(&self) -> Value {
        self.plain.as_ref().map_or(Value::Null, Plain::to_value)
    }
}

impl<'t> Spoken<'t> {
    /// The arguments as they were read, where they are of the simple sort.
    #[inline]
    #[must_use]
    pub fn plain(&self) -> Option<&Plain<'t>> {
        self.plain.as_ref()
    }
}

impl<'t> From<Plain<'t>> for Spoken<'t> {
    #[inline]
    fn from(plain: Plain<'t>) -> Self {
        Self {
            plain: Some(plain),
            value: OnceLock::new(),
        }
    }
}

impl From<Value> for Spoken<'_> {
    #[inline]
    fn from(value: Value) -> Self {
        Self {
            plain: None,
            value: OnceLock::from(Box::new(value)),
        }
    }
}

/// Arguments that a question names, whichever way they are held.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Named<'a> {
    Spoken(&'a Spoken<'a>),
    Value(&'a Value),
}

impl<'a> Named<'a> {
    #[inline]
    pub(crate) fn value(self) -> &'a Value {
        match self {
            Self::Spoken(spoken) => spoken.value(),
            Self::Value(value) => value,
        }
    }
}
