//! JSON that was read from text and borrows from it.

mod decoding;
mod reader;

use std::borrow::Cow;

use serde::de::DeserializeOwned;
use serde_json::{Map, Number, Value};

/// JSON that was read from text and borrows what it can, so that reading a few arguments costs
/// next to nothing.
///
/// [`Plain::read`] gives only what has one reading: no key stands twice in an object, and a number
/// is an integer of 64 bits or has a fraction. What is made in another way is not checked.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "JSON has no further type")]
pub enum Plain<'t> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A string.
    Text(Cow<'t, str>),
    /// An array.
    Array(Vec<Plain<'t>>),
    /// An object, in the order of its text.
    Object(Vec<(Cow<'t, str>, Plain<'t>)>),
}

impl<'t> Plain<'t> {
    /// Reads text that holds one JSON value of the simple sort. `None` leaves the text to a reader
    /// that knows all sorts and says what is wrong: it may be JSON or not.
    ///
    /// Left are objects of more than 16 keys or with a key that stands twice, nesting of more than
    /// 16 levels, numbers beyond 64 bits, `-0`, and numbers spelled like a fraction that have none.
    #[must_use]
    pub fn read(text: &'t str) -> Option<Self> {
        reader::read(text)
    }

    /// The same as a value that borrows nothing.
    #[must_use]
    pub fn to_value(&self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Bool(value) => Value::Bool(*value),
            Self::Number(number) => Value::Number(number.clone()),
            Self::Text(text) => Value::String(text.clone().into_owned()),
            Self::Array(items) => Value::Array(items.iter().map(Self::to_value).collect()),
            Self::Object(members) => {
                let mut map = Map::with_capacity(members.len());
                for (key, value) in members {
                    map.insert(key.clone().into_owned(), value.to_value());
                }
                Value::Object(map)
            }
        }
    }

    /// Decodes it as the [value](Self::to_value) would be. `None` where that has to be asked:
    /// then nothing is known, neither that it fits nor that it does not.
    pub(crate) fn decode<T: DeserializeOwned>(&self) -> Option<T> {
        decoding::decode(self)
    }
}
