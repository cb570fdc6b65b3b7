//! Values of keywords that are no schemas.

use std::ops::Deref;

use serde_json::Value;

/// A value as the schema gives it, or one that a pass made.
#[derive(Clone, Debug)]
pub(crate) enum Plain<'a> {
    Given(&'a Value),
    Made(Box<Value>),
}

impl Deref for Plain<'_> {
    type Target = Value;

    fn deref(&self) -> &Value {
        match self {
            Self::Given(value) => value,
            Self::Made(value) => value,
        }
    }
}
