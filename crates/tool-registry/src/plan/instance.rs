//! What a plan reads: arguments as they were read, or a value.

use serde_json::{Map, Number, Value};
use tool_core::Plain;

/// A JSON value in one of its forms.
pub(crate) trait Instance: Sized {
    /// An object of that form.
    type Members;

    fn look(&self) -> Look<'_, Self>;

    fn members<'v>(object: &'v Self::Members) -> impl Iterator<Item = (&'v str, &'v Self)>
    where
        Self: 'v;
}

/// What a value is.
pub(crate) enum Look<'v, I: Instance> {
    Null,
    Bool,
    Number(&'v Number),
    Text(&'v str),
    Array(&'v [I]),
    Object(&'v I::Members),
}

impl<I: Instance> Look<'_, I> {
    /// The JSON Schema name of its type.
    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool => "boolean",
            Self::Number(number) if number.is_f64() => "number",
            Self::Number(_) => "integer",
            Self::Text(_) => "string",
            Self::Array(_) => "array",
            Self::Object(_) => "object",
        }
    }
}

impl Instance for Value {
    type Members = Map<String, Self>;

    fn look(&self) -> Look<'_, Self> {
        match self {
            Self::Null => Look::Null,
            Self::Bool(_) => Look::Bool,
            Self::Number(number) => Look::Number(number),
            Self::String(text) => Look::Text(text),
            Self::Array(items) => Look::Array(items),
            Self::Object(map) => Look::Object(map),
        }
    }

    fn members<'v>(object: &'v Self::Members) -> impl Iterator<Item = (&'v str, &'v Self)>
    where
        Self: 'v,
    {
        object.iter().map(|(key, value)| (key.as_str(), value))
    }
}

impl<'t> Instance for Plain<'t> {
    type Members = Vec<(std::borrow::Cow<'t, str>, Self)>;

    fn look(&self) -> Look<'_, Self> {
        match self {
            Self::Null => Look::Null,
            Self::Bool(_) => Look::Bool,
            Self::Number(number) => Look::Number(number),
            Self::Text(text) => Look::Text(text),
            Self::Array(items) => Look::Array(items),
            Self::Object(members) => Look::Object(members),
        }
    }

    fn members<'v>(object: &'v Self::Members) -> impl Iterator<Item = (&'v str, &'v Self)>
    where
        Self: 'v,
    {
        object.iter().map(|(key, value)| (key.as_ref(), value))
    }
}
