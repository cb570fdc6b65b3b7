//! What a server offers besides tools.

use serde_json::{Map, Value};
use tool_core::{BoxFuture, Facts};

use super::{OfferChanges, OfferError};

/// Resources, prompts and completions that a server offers besides the tools of its registry.
///
/// Every entry and every result is an object as the protocol has it, so that what comes from
/// elsewhere passes whole. A method is asked for every client; the facts say for which. Lists are
/// put in the order of their names by the server, which also cuts them into pages; of two entries
/// with one name the first stays.
///
/// An implementation may take its time: the request is dropped when its client cancels it. One
/// that panics is answered for with an error, and the server goes on.
///
/// ```
/// use serde_json::{Value, json};
/// use tool_core::{BoxFuture, Facts};
/// use tool_mcp::{OfferError, Offered, Offers, Server};
/// use tool_registry::Registry;
///
/// struct Motto;
///
/// impl Offers for Motto {
///     fn offered(&self) -> Offered {
///         Offered::default().resources()
///     }
///
///     fn resources<'a>(&'a self, _: &'a Facts) -> BoxFuture<'a, Result<Vec<Value>, OfferError>> {
///         let list = vec![json!({"uri": "motto://today", "name": "motto"})];
///         Box::pin(async move { Ok(list) })
///     }
///
///     fn read<'a>(
///         &'a self,
///         uri: &'a str,
///         _: &'a Facts,
///     ) -> BoxFuture<'a, Result<Option<Value>, OfferError>> {
///         let contents = json!({"contents": [{"uri": uri, "text": "Less is more."}]});
///         Box::pin(async move { Ok((uri == "motto://today").then_some(contents)) })
///     }
/// }
///
/// let server = Server::new(Registry::default()).offers(Motto);
/// # let _ = server;
/// ```
#[diagnostic::on_unimplemented(message = "`{Self}` offers nothing to MCP clients")]
pub trait Offers: Send + Sync {
    /// Which sorts there are. Clients are told of these and can use no others.
    fn offered(&self) -> Offered;

    /// Takes where to tell of changes; called once, ahead of everything else.
    fn tell_changes_to(&self, changes: OfferChanges) {
        let _ = changes;
    }

    /// The resources, each with `uri` and `name`.
    fn resources<'a>(
        &'a self,
        caller: &'a Facts,
    ) -> BoxFuture<'a, Result<Vec<Value>, OfferError>> {
        let _ = caller;
        Box::pin(async { Ok(Vec::new()) })
    }

    /// The templates of resources, each with `uriTemplate` and `name`.
    fn templates<'a>(
        &'a self,
        caller: &'a Facts,
    ) -> BoxFuture<'a, Result<Vec<Value>, OfferError>> {
        let _ = caller;
        Box::pin(async { Ok(Vec::new()) })
    }

    /// Reads a resource: an object with `contents`. `None` for one that is not its own.
    fn read<'a>(
        &'a self,
        uri: &'a str,
        caller: &'a Facts,
    ) -> BoxFuture<'a, Result<Option<Value>, OfferError>> {
        let _ = (uri, caller);
        Box::pin(async { Ok(None) })
    }

    /// A client wants to be told when a resource changes.
    fn subscribe(&self, uri: &str, caller: &Facts) {
        let _ = (uri, caller);
    }

    /// A client no longer wants to be told of a resource.
    fn unsubscribe(&self, uri: &str, caller: &Facts) {
        let _ = (uri, caller);
    }

    /// The prompts, each with `name`.
    fn prompts<'a>(
        &'a self,
        caller: &'a Facts,
    ) -> BoxFuture<'a, Result<Vec<Value>, OfferError>> {
        let _ = caller;
        Box::pin(async { Ok(Vec::new()) })
    }

    /// Makes a prompt: an object with `messages`. `None` for one that is not its own.
    ///
    /// It may ask the client for something with
    /// [`CallingClient::current`](super::CallingClient::current).
    fn prompt<'a>(
        &'a self,
        name: &'a str,
        arguments: &'a Map<String, Value>,
        caller: &'a Facts,
    ) -> BoxFuture<'a, Result<Option<Value>, OfferError>> {
        let _ = (name, arguments, caller);
        Box::pin(async { Ok(None) })
    }

    /// Completes an argument of a prompt or a template: an object with `completion`. `None` for
    /// one that is not its own.
    fn complete<'a>(
        &'a self,
        completion: &'a Completion,
        caller: &'a Facts,
    ) -> BoxFuture<'a, Result<Option<Value>, OfferError>> {
        let _ = (completion, caller);
        Box::pin(async { Ok(None) })
    }
}

/// Which sorts there are besides tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Offered {
    pub(crate) resources: bool,
    pub(crate) prompts: bool,
    pub(crate) completions: bool,
}

/// What is to be completed, as the protocol has it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Completion {
    /// `ref`: the prompt or the template.
    pub reference: Value,
    /// `argument`: its name, and what of the value there is.
    pub argument: Value,
    /// `context`: the arguments that are known already. Null where the client gave none.
    pub context: Value,
}

impl Offered {
    /// There are resources or templates of them.
    #[must_use]
    pub fn resources(mut self) -> Self {
        self.resources = true;
        self
    }

    /// There are prompts.
    #[must_use]
    pub fn prompts(mut self) -> Self {
        self.prompts = true;
        self
    }

    /// Arguments of them can be completed.
    #[must_use]
    pub fn completions(mut self) -> Self {
        self.completions = true;
        self
    }

    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            resources: self.resources || other.resources,
            prompts: self.prompts || other.prompts,
            completions: self.completions || other.completions,
        }
    }
}
