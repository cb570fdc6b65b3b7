//! A failure that a tool means to report.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::Content;

/// An expected failure: the model reads it and goes on.
///
/// It is always deliberate. An error that merely passed through `?` becomes a
/// [`Defect`](crate::Defect) instead, whose text no model reads.
///
/// ```
/// use tool_core::ToolFailure;
///
/// let failure = ToolFailure::new("no file of that name; list the folder first");
/// assert_eq!(failure.to_string(), "no file of that name; list the folder first");
/// ```
#[derive(Clone, Debug)]
pub struct ToolFailure(Box<Told>);

/// Behind a pointer: every outcome has room for a failure, and few are one.
#[derive(Clone, Debug)]
struct Told {
    message: String,
    content: Option<Vec<Content>>,
    structured: Option<Value>,
    meta: Option<Map<String, Value>>,
    source: Option<Arc<dyn Error + Send + Sync>>,
}

impl ToolFailure {
    /// A failure with the text that the model reads.
    pub fn new(message: impl Into<String>) -> Self {
        Self(Box::new(Told {
            message: message.into(),
            content: None,
            structured: None,
            meta: None,
            source: None,
        }))
    }

    /// Shows the model these blocks in place of the message.
    #[must_use]
    pub fn content(mut self, content: impl IntoIterator<Item = Content>) -> Self {
        self.0.content = Some(content.into_iter().collect());
        self
    }

    /// Adds data for programs.
    #[must_use]
    pub fn structured(mut self, structured: Value) -> Self {
        self.0.structured = Some(structured);
        self
    }

    /// Adds data for programs that is no part of the failure itself.
    #[must_use]
    pub fn meta(mut self, meta: Map<String, Value>) -> Self {
        self.0.meta = Some(meta);
        self
    }

    /// Adds the cause. Operators read it; the model never does.
    #[must_use]
    pub fn because(mut self, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.0.source = Some(Arc::from(cause.into()));
        self
    }

    /// The text that the model reads.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Takes out what the model is shown: the given blocks, else the message as one block. Never
    /// empty: no blocks at all count as none given.
    #[must_use]
    pub fn take_content(&mut self) -> Vec<Content> {
        self.0
            .content
            .take()
            .filter(|content| !content.is_empty())
            .unwrap_or_else(|| vec![Content::text(self.0.message.clone())])
    }

    /// Takes out the data for programs.
    #[must_use]
    pub fn take_structured(&mut self) -> Option<Value> {
        self.0.structured.take()
    }

    /// Takes out the data for programs that is no part of the failure itself.
    #[must_use]
    pub fn take_meta(&mut self) -> Option<Map<String, Value>> {
        self.0.meta.take()
    }
}

impl fmt::Display for ToolFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl Error for ToolFailure {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0
            .source
            .as_deref()
            .map(|source| source as &(dyn Error + 'static))
    }
}
