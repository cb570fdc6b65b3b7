//! What servers may ask of whoever uses them.

use serde_json::{Map, Value, json};
use tool_core::BoxFuture;

use crate::serve::{Ask, AskKind};

/// Answers what servers ask for in the middle of a call: a word of a person, of a model, or which
/// folders are open.
///
/// Without one, servers are told that nothing of it is there, and a call whose server asks all the
/// same is refused by name. [`CallerInputs`](crate::CallerInputs) passes questions on to the client
/// that made the call.
///
/// ```
/// use serde_json::Map;
/// use tool_core::BoxFuture;
/// use tool_mcp::{AskKind, InputAnswer, Inputs, WantedInput};
///
/// /// Takes every form as it is offered.
/// struct Agreeing;
///
/// impl Inputs for Agreeing {
///     fn kinds<'a>(&'a self, _server: &'a str) -> BoxFuture<'a, Vec<AskKind>> {
///         Box::pin(async { vec![AskKind::Form] })
///     }
///
///     fn provide<'a>(
///         &'a self,
///         wanted: &'a WantedInput,
///     ) -> BoxFuture<'a, Result<InputAnswer, String>> {
///         Box::pin(async move { Ok(wanted.accept(Map::new())) })
///     }
/// }
/// # let _ = Agreeing;
/// ```
pub trait Inputs: Send + Sync + 'static {
    /// What a server may ask for, which it is told. What is not among them is never asked for here.
    ///
    /// Called when a server is connected; one without a handshake is told anew with each request, so
    /// that it may depend on whose call it is, in the task that makes it.
    fn kinds<'a>(&'a self, server: &'a str) -> BoxFuture<'a, Vec<AskKind>>;

    /// What could be answered besides, if only the client whose call it is could do it: a server that
    /// needs it has that client told so.
    ///
    /// Override when it is the client that answers, as [`CallerInputs`](crate::CallerInputs) does. By
    /// default there is nothing of that sort.
    fn lacked<'a>(&'a self, server: &'a str) -> BoxFuture<'a, Vec<AskKind>> {
        let _ = server;
        Box::pin(async { Vec::new() })
    }

    /// How a question is put to the client whose call it is, for a server that does not wait for the
    /// answer and wants to be called again. `None` where it is not to be put.
    ///
    /// Override when it is the client that answers, as [`CallerInputs`](crate::CallerInputs) does. By
    /// default nothing is put to it.
    fn passed_on<'a>(&'a self, wanted: &'a WantedInput) -> BoxFuture<'a, Option<Ask>> {
        let _ = wanted;
        Box::pin(async { None })
    }

    /// Answers one question, which may well be that somebody declined. Several may be open at the
    /// same time. Called in the task that makes the call, where the question belongs to one.
    ///
    /// # Errors
    /// A clause that says why there is no answer. It is for the operator; the server learns only
    /// that there is none.
    ///
    /// # Cancel safety
    /// Dropped when the call ends otherwise or the server no longer waits.
    fn provide<'a>(&'a self, wanted: &'a WantedInput)
    -> BoxFuture<'a, Result<InputAnswer, String>>;
}

/// One thing that a server asks for.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct WantedInput {
    /// The configured name of the server, which nothing the server says can change.
    pub server: String,
    /// Tells it from other questions of the same call.
    pub key: String,
    /// What is asked, cleaned of what cannot be seen.
    pub ask: Ask,
}

/// What a server is given for what it asked.
#[derive(Clone, Debug, PartialEq)]
pub struct InputAnswer(Value);

impl WantedInput {
    /// A form that was filled in. What `content` leaves out is what the form offers as its default,
    /// where it offers one.
    ///
    /// Source: Model Context Protocol 2025-11-25, "Elicitation", default values; SEP-1034.
    #[must_use]
    pub fn accept(&self, mut content: Map<String, Value>) -> InputAnswer {
        let schema = self.ask.params().get("requestedSchema");
        let fields = schema.and_then(|schema| schema.get("properties"));
        for (name, field) in fields.and_then(Value::as_object).into_iter().flatten() {
            if let Some(default) = field.get("default")
                && !content.contains_key(name)
            {
                content.insert(name.clone(), default.clone());
            }
        }
        InputAnswer(json!({"action": "accept", "content": content}))
    }
}

impl InputAnswer {
    /// A page that was opened.
    #[must_use]
    pub fn opened() -> Self {
        Self(json!({"action": "accept"}))
    }

    /// A person who said no to a form or a page.
    #[must_use]
    pub fn decline() -> Self {
        Self(json!({"action": "decline"}))
    }

    /// A person who said nothing to a form or a page.
    #[must_use]
    pub fn cancel() -> Self {
        Self(json!({"action": "cancel"}))
    }

    /// Folders, by their `file://` URIs.
    #[must_use]
    pub fn roots<U: Into<String>>(uris: impl IntoIterator<Item = U>) -> Self {
        let roots = uris.into_iter().map(|uri| json!({"uri": uri.into()}));
        Self(json!({"roots": roots.collect::<Vec<_>>()}))
    }

    /// The result of the method as the protocol writes it: what a model answered, for one.
    #[must_use]
    pub fn result(result: Value) -> Self {
        Self(result)
    }

    /// The result of the method as the protocol writes it.
    #[must_use]
    pub fn into_result(self) -> Value {
        self.0
    }
}
