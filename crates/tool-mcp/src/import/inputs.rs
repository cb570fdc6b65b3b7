//! What servers may ask of whoever uses them.

use serde_json::{Map, Value};
use tool_core::BoxFuture;

/// Answers what servers ask for in the middle of a call: input of a person (`elicitation/create`),
/// of a model (`sampling/createMessage`), or which folders are open (`roots/list`).
///
/// Without one, servers are told that nothing of it is there, and a call whose server asks all the
/// same is refused by name.
pub trait Inputs: Send + Sync + 'static {
    /// The `capabilities` that servers are told of, such as `{"elicitation": {}}`. What is not
    /// among them is never asked for here.
    fn capabilities(&self) -> Map<String, Value>;

    /// Answers with the result of the method, which may well be that somebody declined.
    ///
    /// # Errors
    /// A clause that says why there is no answer. It ends the call.
    ///
    /// # Cancel safety
    /// Dropped when the call ends otherwise.
    fn provide<'a>(&'a self, wanted: &'a WantedInput) -> BoxFuture<'a, Result<Value, String>>;
}

/// One thing that a server asks for.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct WantedInput {
    /// The configured name of the server, which nothing the server says can change.
    pub server: String,
    /// `elicitation/create`, `sampling/createMessage` or `roots/list`.
    pub method: String,
    /// Its parameters, cleaned of what cannot be seen.
    pub params: Value,
}

impl WantedInput {
    pub(crate) fn new(server: &str, method: &str, params: Value) -> Self {
        Self {
            server: server.to_owned(),
            method: method.to_owned(),
            params,
        }
    }

    /// The capability under which a client says that it answers this method.
    pub(crate) fn capability(method: &str) -> Option<&'static str> {
        match method {
            "elicitation/create" => Some("elicitation"),
            "sampling/createMessage" => Some("sampling"),
            "roots/list" => Some("roots"),
            _ => None,
        }
    }
}
