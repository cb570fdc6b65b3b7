//! Dialects of JSON Schema.

use serde_json::Value;

/// The dialects that are read, oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Dialect {
    Draft4,
    Draft6,
    Draft7,
    Draft2019,
    Draft2020,
}

impl Dialect {
    /// The dialect that a schema names, else 2020-12; the address itself where it is unknown.
    pub(crate) fn of(schema: &Value) -> Result<Self, String> {
        // A schema has few keywords, so this is faster than to look one up in a table.
        let mut keywords = schema.as_object().into_iter().flatten();
        let named = keywords.find(|(key, _)| *key == "$schema");
        let Some(address) = named.and_then(|(_, value)| value.as_str()) else {
            return Ok(Self::Draft2020);
        };
        let bare = address.trim_end_matches('#').trim_end_matches('/');
        let bare = bare
            .strip_prefix("https://")
            .or_else(|| bare.strip_prefix("http://"))
            .unwrap_or(bare);
        match bare {
            "json-schema.org/draft-04/schema" => Ok(Self::Draft4),
            "json-schema.org/draft-06/schema" => Ok(Self::Draft6),
            "json-schema.org/draft-07/schema" => Ok(Self::Draft7),
            "json-schema.org/draft/2019-09/schema" => Ok(Self::Draft2019),
            // The address without a version means the newest.
            "json-schema.org/draft/2020-12/schema" | "json-schema.org/schema" => {
                Ok(Self::Draft2020)
            }
            _ => Err(address.to_owned()),
        }
    }

    /// Its name, for people.
    #[cfg(feature = "lint")]
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Draft4 => "draft 4",
            Self::Draft6 => "draft 6",
            Self::Draft7 => "draft 7",
            Self::Draft2019 => "2019-09",
            Self::Draft2020 => "2020-12",
        }
    }

    /// Whether what stands beside a reference counts.
    pub(crate) fn reads_beside_ref(self) -> bool {
        self >= Self::Draft2019
    }

    /// Whether a keyword means anything in it. One that does not was ignored by the author's own
    /// validator, and must not begin to constrain.
    pub(crate) fn knows(self, keyword: &str) -> bool {
        if self == Self::Draft2020 {
            return !matches!(keyword, "dependencies" | "additionalItems");
        }
        let since = match keyword {
            "const" | "contains" | "propertyNames" | "examples" => Self::Draft6,
            "if" | "then" | "else" => Self::Draft7,
            "dependentRequired"
            | "dependentSchemas"
            | "unevaluatedProperties"
            | "unevaluatedItems"
            | "maxContains"
            | "minContains" => Self::Draft2019,
            "prefixItems" => Self::Draft2020,
            // Gone since, and ignored where they are met.
            "dependencies" => return self < Self::Draft2019,
            "additionalItems" => return self < Self::Draft2020,
            _ => return true,
        };
        self >= since
    }
}
