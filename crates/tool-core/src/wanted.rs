//! Arguments that name artifacts, typed.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::ToolFailure;

/// An argument that a model speaks as a reference and a handler reads as data.
///
/// Its schema is a string. The tool declares with `wants` which kind the argument takes; when the
/// handler runs, the reference was redeemed and [`data`](Self::data) is there. A predicate that
/// looks at the arguments before that finds the reference alone.
///
/// ```
/// use tool_core::{ArtifactKind, Context, Tool, Wanted};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Sum {
///     /// The rows to add up.
///     rows: Wanted<Vec<i64>>,
/// }
///
/// let sum = Tool::new("Adds rows up", |input: Sum, _cx: Context| async move {
///     Ok(input.rows.into_data()?.iter().sum::<i64>())
/// })
/// .wants("rows", ArtifactKind::new("rows").ok_or("blank")?);
/// # let _ = sum;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Wanted<T> {
    spoken: Option<String>,
    data: Option<T>,
}

impl<T> Wanted<T> {
    /// Data, as a redeemed reference gives it, for trying a handler on its own.
    pub fn redeemed(data: T) -> Self {
        Self {
            spoken: None,
            data: Some(data),
        }
    }

    /// The reference as it was spoken, before it was redeemed. A text that was redeemed looks the
    /// same, so this is for who sees arguments ahead of that.
    #[must_use]
    pub fn spoken(&self) -> Option<&str> {
        self.spoken.as_deref()
    }

    /// The data; `None` while the reference is not redeemed.
    #[must_use]
    pub fn data(&self) -> Option<&T> {
        self.data.as_ref()
    }

    /// The data.
    ///
    /// # Errors
    /// A failure for the model when the artifact holds a text that this type does not read.
    pub fn into_data(self) -> Result<T, ToolFailure> {
        self.data.ok_or_else(|| {
            ToolFailure::new("the artifact does not hold data of the form that this tool reads")
        })
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Wanted<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let data = T::deserialize(&value);
        match (value, data) {
            // A reference, or a text that was redeemed.
            (Value::String(text), data) => Ok(Self {
                spoken: Some(text),
                data: data.ok(),
            }),
            (_, Ok(data)) => Ok(Self::redeemed(data)),
            // The text of the cause may quote the data.
            (_, Err(_)) => Err(serde::de::Error::custom(
                "the artifact's data has another form",
            )),
        }
    }
}

impl<T> JsonSchema for Wanted<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "ArtifactReference".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        generator.subschema_for::<String>()
    }
}

/// Shows neither the reference nor the data.
impl<T> fmt::Debug for Wanted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.data.is_some() {
            "Wanted(data)"
        } else {
            "Wanted(reference)"
        })
    }
}
