//! A tool as it is advertised: plain data.

use serde::Serialize;
use serde_json::json;

use crate::{Annotations, Digest, Schema, WireName};

/// What a model or a client is told of a tool.
///
/// The same tool under the same name always gives the same bytes.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Definition {
    /// The name to call it by.
    pub name: WireName,
    /// What the tool does.
    pub description: String,
    /// The schema of its arguments.
    pub input: Schema,
    /// The schema of what programs are shown, where there is one.
    pub output: Option<Schema>,
    /// Hints about behaviour.
    pub annotations: Annotations,
}

impl Definition {
    /// A definition of these parts.
    pub fn new(
        name: WireName,
        description: impl Into<String>,
        input: Schema,
        output: Option<Schema>,
        annotations: Annotations,
    ) -> Self {
        Self {
            name,
            description: description.into(),
            input,
            output,
            annotations,
        }
    }

    /// The digest of everything that the definition says, for noticing a change.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest::of_json(&json!({
            "name": self.name.as_str(),
            "description": self.description,
            "inputSchema": self.input.as_value(),
            "outputSchema": self.output.as_ref().map(Schema::as_value),
            "annotations": self.annotations,
        }))
    }
}

impl Serialize for Definition {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        let fields = 4 + usize::from(self.output.is_some());
        let mut state = serializer.serialize_struct("Definition", fields)?;
        state.serialize_field("name", self.name.as_str())?;
        state.serialize_field("description", &self.description)?;
        state.serialize_field("inputSchema", self.input.as_value())?;
        if let Some(output) = &self.output {
            state.serialize_field("outputSchema", output.as_value())?;
        }
        state.serialize_field("annotations", &self.annotations)?;
        state.end()
    }
}
