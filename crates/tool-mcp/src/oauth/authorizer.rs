//! Who opens the page on which a person logs in.

use std::fmt;

use tool_core::BoxFuture;

/// Takes a person to the page of an authorization server, and brings back where it sent them.
///
/// [`LoopbackAuthorizer`](crate::LoopbackAuthorizer) is one for programs on the person's own
/// machine. Nothing here opens anything: what is done with an address is the implementation's.
#[diagnostic::on_unimplemented(message = "`{Self}` takes nobody to a page to log in on")]
pub trait Authorizer: Send + Sync {
    /// Begins to wait for one login, so that the address is known to which the person comes back.
    ///
    /// # Errors
    /// Why it cannot, as a clause for operators.
    fn begin<'a>(
        &'a self,
        server: &'a str,
    ) -> BoxFuture<'a, Result<Box<dyn Authorization>, String>>;
}

/// One login that somebody waits for. Dropping it gives it up.
pub trait Authorization: Send {
    /// Where the person comes back: `https`, a scheme of the program's own, or `http` on this
    /// machine. It has to stay the same for as long as this lives.
    fn redirect_uri(&self) -> &str;

    /// Shows the page to the person and waits for where they are sent, which is
    /// [`redirect_uri`](Self::redirect_uri) with a query: the whole address, unchecked. Whether it
    /// belongs to this login is looked at by the caller, who also gives up after
    /// a while and drops the future then.
    ///
    /// # Errors
    /// Why there is none, as a clause for operators.
    fn authorize<'a>(
        self: Box<Self>,
        page: &'a AuthorizationPage,
    ) -> BoxFuture<'a, Result<String, String>>;
}

/// The page on which a person logs in.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AuthorizationPage {
    /// The configured name of the server that wants it.
    pub server: String,
    /// The whole address. It was checked to be `https`, or `http` on this machine.
    pub url: String,
    /// The host in it: a person who is to log in there must be shown it.
    pub host: String,
    /// What is asked for.
    pub scopes: Vec<String>,
    /// What comes back in the query of the right answer as `state`.
    pub(crate) state: String,
}

impl AuthorizationPage {
    /// Whether a query that came back has the `state` of this login. Anything else that knocks is
    /// no answer to it.
    #[must_use]
    pub fn is_answered_by(&self, query: &str) -> bool {
        super::callback::parameter(query, "state").is_some_and(|state| state == self.state)
    }
}

impl fmt::Debug for AuthorizationPage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuthorizationPage")
            .field("server", &self.server)
            .field("host", &self.host)
            .field("scopes", &self.scopes)
            .finish_non_exhaustive()
    }
}
