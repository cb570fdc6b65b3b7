//! JSON of the simple sort, which borrows what it can.

mod decoding;
mod encoding;
mod reader;
mod writing;

use std::borrow::Cow;

use serde::de::DeserializeOwned;
use serde::ser::{Serialize, SerializeMap as _, Serializer};
use serde_json::{Map, Number, Value};

/// JSON that was read from text or encoded from a type and borrows what it can, so that a few
/// arguments and a small result cost next to nothing.
///
/// [`Plain::read`] gives only what has one reading: no key stands twice in an object, and a number
/// is an integer of 64 bits or has a fraction. What is made in another way is not checked.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "JSON has no further type")]
#[repr(u64)]
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

/// One member of an object.
type Member<'t> = (Cow<'t, str>, Plain<'t>);

impl Plain<'static> {
    /// Encodes output to what its value would be. `None` where that has to be made: it is large,
    /// of a sort that is not known here, or has no JSON form.
    pub(crate) fn encode(output: &(impl Serialize + ?Sized)) -> Option<Self> {
        encoding::encode(output)
    }
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

    /// The same as text: the compact JSON of its [value](Self::to_value), its members in the order in
    /// which they stand here.
    ///
    /// ```
    /// use tool_core::Plain;
    ///
    /// let plain = Plain::read(r#"{ "b": [1, 0.5], "a": "x" }"#).expect("it is of the simple sort");
    /// assert_eq!(plain.to_json(), r#"{"b":[1,0.5],"a":"x"}"#);
    /// ```
    #[must_use]
    pub fn to_json(&self) -> String {
        writing::text_of(self)
    }

    /// The same, given away.
    #[must_use]
    pub fn into_value(self) -> Value {
        match self {
            Self::Text(text) => Value::String(text.into_owned()),
            Self::Array(items) => Value::Array(items.into_iter().map(Self::into_value).collect()),
            Self::Object(members) => {
                let members = members.into_iter();
                let members = members.map(|(key, value)| (key.into_owned(), value.into_value()));
                Value::Object(members.collect())
            }
            Self::Number(number) => Value::Number(number),
            Self::Bool(value) => Value::Bool(value),
            Self::Null => Value::Null,
        }
    }

    /// Decodes it as the [value](Self::to_value) would be. `None` where that has to be asked:
    /// then nothing is known, neither that it fits nor that it does not.
    pub(crate) fn decode<T: DeserializeOwned>(&self) -> Option<T> {
        decoding::decode(self)
    }
}

impl Serialize for Plain<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Number(number) => number.serialize(serializer),
            Self::Text(text) => serializer.serialize_str(text),
            Self::Array(items) => serializer.collect_seq(items),
            Self::Object(members) => {
                let mut map = serializer.serialize_map(Some(members.len()))?;
                for (key, value) in members {
                    map.serialize_entry(&**key, value)?;
                }
                map.end()
            }
        }
    }
}
