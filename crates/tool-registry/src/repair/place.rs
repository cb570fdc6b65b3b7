//! What a schema says of one place of a value.

use serde_json::Value;

/// What a schema says of one place of a value: parts that hold together or in turn.
#[derive(Clone, Debug)]
pub(super) enum Place<'s> {
    /// Nothing, or nothing that is known for sure.
    Anything,
    /// What one schema says.
    Of(&'s Value),
    /// All of these hold.
    All(Vec<Place<'s>>),
    /// One of these holds, or several do.
    Either(Vec<Place<'s>>),
}

impl<'s> Place<'s> {
    /// The place of the value as a whole.
    pub(super) fn root(schema: &'s Value) -> Self {
        Self::Of(schema)
    }

    /// Parts that hold together. What says nothing is left out.
    pub(super) fn all(parts: Vec<Self>) -> Self {
        let mut parts: Vec<_> = parts
            .into_iter()
            .filter(|part| !part.is_anything())
            .collect();
        match (parts.pop(), parts.is_empty()) {
            (None, _) => Self::Anything,
            (Some(only), true) => only,
            (Some(last), false) => {
                parts.push(last);
                Self::All(parts)
            }
        }
    }

    /// Parts of which one holds. One that says nothing leaves nothing to say.
    pub(super) fn either(mut parts: Vec<Self>) -> Self {
        if parts.is_empty() || parts.iter().any(Self::is_anything) {
            return Self::Anything;
        }
        match (parts.pop(), parts.is_empty()) {
            (Some(only), true) => only,
            (Some(last), false) => {
                parts.push(last);
                Self::Either(parts)
            }
            (None, _) => Self::Anything,
        }
    }

    pub(super) fn is_anything(&self) -> bool {
        matches!(self, Self::Anything | Self::Of(Value::Bool(true)))
    }
}

/// One step down into a value.
#[derive(Clone, Copy, Debug)]
pub(super) enum Down<'k> {
    Key(&'k str),
    Index(usize),
}
