//! Kinds of JSON values, as a set.

use serde_json::Value;

/// Kinds of JSON values, as a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kinds(u8);

impl Kinds {
    pub(super) const NONE: Self = Self(0);
    pub(super) const NULL: Self = Self(1);
    pub(super) const BOOLEAN: Self = Self(1 << 1);
    /// Numbers without a fraction.
    pub(super) const INTEGER: Self = Self(1 << 2);
    /// Numbers with one.
    pub(super) const FRACTION: Self = Self(1 << 3);
    pub(super) const STRING: Self = Self(1 << 4);
    pub(super) const ARRAY: Self = Self(1 << 5);
    pub(super) const OBJECT: Self = Self(1 << 6);
    pub(super) const ALL: Self = Self((1 << 7) - 1);

    /// The kind of a value.
    pub(super) fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::NULL,
            Value::Bool(_) => Self::BOOLEAN,
            Value::Number(number) => match number.as_f64() {
                Some(held) if held.fract() != 0.0 => Self::FRACTION,
                _ => Self::INTEGER,
            },
            Value::String(_) => Self::STRING,
            Value::Array(_) => Self::ARRAY,
            Value::Object(_) => Self::OBJECT,
        }
    }

    /// The kinds that a `type` takes. All of them where it says nothing that is known.
    pub(super) fn of_type(kind: &Value) -> Self {
        match kind {
            Value::String(name) => Self::named(name),
            Value::Array(kinds) => kinds.iter().fold(Self::NONE, |all, kind| match kind {
                Value::String(name) => all.or(Self::named(name)),
                _ => Self::ALL,
            }),
            _ => Self::ALL,
        }
    }

    /// The kinds of values that are listed. A number may be listed with a fraction of zero.
    pub(super) fn of_values<'v>(values: impl IntoIterator<Item = &'v Value>) -> Self {
        values.into_iter().fold(Self::NONE, |all, value| {
            all.or(match value {
                Value::Number(number) if number.is_f64() => Self::INTEGER.or(Self::FRACTION),
                value => Self::of(value),
            })
        })
    }

    fn named(name: &str) -> Self {
        match name {
            "null" => Self::NULL,
            "boolean" => Self::BOOLEAN,
            "integer" => Self::INTEGER,
            "number" => Self::INTEGER.or(Self::FRACTION),
            "string" => Self::STRING,
            "array" => Self::ARRAY,
            "object" => Self::OBJECT,
            _ => Self::ALL,
        }
    }

    pub(super) const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(super) const fn has(self, kind: Self) -> bool {
        self.0 & kind.0 == kind.0
    }

    pub(super) const fn is_none(self) -> bool {
        self.0 == 0
    }
}
