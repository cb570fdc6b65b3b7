//! One call as it arrives.

use crate::{CallId, CallName};

/// A call that a model, a client or code makes: an optional id, a wire name and arguments.
///
/// ```
/// use tool_core::Call;
///
/// let call = Call::new("grep", r#"{"pattern":"fn main"}"#).id("call_1");
/// assert_eq!(call.name(), "grep");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    id: Option<CallId>,
    name: CallName,
    arguments: Arguments,
}

/// Arguments as they were delivered.
///
/// A chat API delivers text that still has to be parsed, an MCP client a value. Printing them
/// shows their size only.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum Arguments {
    /// Text, exactly as the model wrote it. Not yet known to be JSON.
    Text(String),
    /// A JSON value, behind a pointer as most come as text, and both are moved about.
    Value(Box<serde_json::Value>),
}

impl Call {
    /// A call without an id.
    #[inline]
    pub fn new(name: impl Into<CallName>, arguments: impl Into<Arguments>) -> Self {
        Self {
            id: None,
            name: name.into(),
            arguments: arguments.into(),
        }
    }

    /// Sets the id under which the caller expects the settlement.
    #[inline]
    #[must_use]
    pub fn id(mut self, id: impl Into<CallId>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// The id, if the caller gave one.
    #[must_use]
    pub fn call_id(&self) -> Option<&CallId> {
        self.id.as_ref()
    }

    /// The name as the caller spelled it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The arguments as they were delivered.
    #[must_use]
    pub fn arguments(&self) -> &Arguments {
        &self.arguments
    }

    /// Appends to arguments that stream in as text. Arguments that are a value become text.
    pub fn push_arguments(&mut self, more: &str) {
        match &mut self.arguments {
            Arguments::Text(text) => text.push_str(more),
            Arguments::Value(value) => self.arguments = Arguments::Text(format!("{value}{more}")),
        }
    }

    /// Takes the call apart: id, name, arguments.
    #[inline]
    #[must_use]
    pub fn into_parts(self) -> (Option<CallId>, CallName, Arguments) {
        (self.id, self.name, self.arguments)
    }
}

impl From<&str> for Arguments {
    #[inline]
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Arguments {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<serde_json::Value> for Arguments {
    fn from(value: serde_json::Value) -> Self {
        Self::Value(Box::new(value))
    }
}

impl std::fmt::Debug for Arguments {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Text(text) => write!(f, "Text({} bytes)", text.len()),
            Self::Value(_) => f.write_str("Value(..)"),
        }
    }
}
