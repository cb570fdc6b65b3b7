//! What a handler produced, encoded.

use serde_json::{Map, Value};

use crate::{Content, Output};

/// The encoded output of one call.
///
/// Typed tools make it from their output type. A dynamic tool builds it itself: a value, blocks
/// for the model, or both.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Produced {
    /// The machine value. `None` where the tool has only blocks to show.
    pub output: Option<Output>,
    /// What the model is shown. `None` leaves it to the model projection, else to the output.
    pub content: Option<Vec<Content>>,
    /// Data for programs that is no part of the output.
    pub meta: Option<Box<Map<String, Value>>>,
}

impl Produced {
    /// A machine value; what the model is shown is made from it.
    pub fn value(output: impl Into<Value>) -> Self {
        Self::from(Output::from(output.into()))
    }

    /// Blocks for the model, without a machine value.
    pub fn content(content: impl IntoIterator<Item = Content>) -> Self {
        Self {
            content: Some(content.into_iter().collect()),
            ..Self::default()
        }
    }

    /// Adds blocks for the model.
    #[must_use]
    pub fn with_content(mut self, content: impl IntoIterator<Item = Content>) -> Self {
        self.content = Some(content.into_iter().collect());
        self
    }

    /// Adds data for programs.
    #[must_use]
    pub fn with_meta(mut self, meta: Map<String, Value>) -> Self {
        self.meta = Some(Box::new(meta));
        self
    }
}

impl From<Value> for Produced {
    fn from(output: Value) -> Self {
        Self::value(output)
    }
}

impl From<Output> for Produced {
    #[inline]
    fn from(output: Output) -> Self {
        Self {
            output: Some(output),
            ..Self::default()
        }
    }
}
