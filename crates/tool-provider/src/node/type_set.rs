//! The types of JSON Schema as a set.

use serde_json::Value;

/// A set of the seven types. `number` holds the integers too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TypeSet(u8);

impl TypeSet {
    pub(crate) const NONE: Self = Self(0);
    pub(crate) const ARRAY: Self = Self(1);
    pub(crate) const BOOLEAN: Self = Self(2);
    pub(crate) const INTEGER: Self = Self(4);
    pub(crate) const NULL: Self = Self(8);
    /// Numbers, integers among them.
    pub(crate) const NUMBER: Self = Self(16 | 4);
    pub(crate) const OBJECT: Self = Self(32);
    pub(crate) const STRING: Self = Self(64);
    pub(crate) const ALL: Self = Self(127);

    /// The single types, sorted by name.
    const EACH: [Self; 7] = [
        Self::ARRAY,
        Self::BOOLEAN,
        Self::INTEGER,
        Self::NULL,
        Self::NUMBER,
        Self::OBJECT,
        Self::STRING,
    ];

    /// The set that a `type` names. Unknown names are left out.
    pub(crate) fn of_keyword(keyword: &Value) -> Self {
        match keyword {
            Value::Array(names) => names
                .iter()
                .map(Self::of_keyword)
                .fold(Self::NONE, Self::with),
            Value::String(name) => match &**name {
                "array" => Self::ARRAY,
                "boolean" => Self::BOOLEAN,
                "integer" => Self::INTEGER,
                "null" => Self::NULL,
                "number" => Self::NUMBER,
                "object" => Self::OBJECT,
                "string" => Self::STRING,
                _ => Self::NONE,
            },
            _ => Self::NONE,
        }
    }

    /// The type of a value.
    pub(crate) fn of_value(value: &Value) -> Self {
        match value {
            Value::Null => Self::NULL,
            Value::Bool(_) => Self::BOOLEAN,
            Value::Number(number) if number.is_i64() || number.is_u64() => Self::INTEGER,
            // A number without a fraction is an integer, however it is written.
            Value::Number(number) if number.as_f64().is_some_and(|it| it.fract() == 0.0) => {
                Self::INTEGER
            }
            Value::Number(_) => Self::NUMBER,
            Value::String(_) => Self::STRING,
            Value::Array(_) => Self::ARRAY,
            Value::Object(_) => Self::OBJECT,
        }
    }

    #[must_use]
    pub(crate) fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    #[must_use]
    pub(crate) fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    #[must_use]
    pub(crate) fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Whether it holds all of the other.
    pub(crate) fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether it holds some of the other.
    pub(crate) fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The single types, sorted by name; integers only where all numbers are not in it.
    pub(crate) fn each(self) -> impl Iterator<Item = Self> {
        Self::EACH
            .into_iter()
            .filter(move |set| self.has(*set))
            .filter(move |set| *set != Self::INTEGER || !self.has(Self::NUMBER))
    }

    /// The name of a single type; numbers and their integers are one.
    pub(crate) fn name(self) -> Option<&'static str> {
        Some(match self {
            Self::ARRAY => "array",
            Self::BOOLEAN => "boolean",
            Self::INTEGER => "integer",
            Self::NULL => "null",
            Self::NUMBER => "number",
            Self::OBJECT => "object",
            Self::STRING => "string",
            _ => return None,
        })
    }

    pub(crate) fn names(self) -> Vec<&'static str> {
        self.each().filter_map(Self::name).collect()
    }

    /// How it is written in a schema.
    pub(crate) fn keyword(self) -> Value {
        match self.names().as_slice() {
            [name] => Value::from(*name),
            names => Value::from(names),
        }
    }
}
