//! Who we are to a server's authorization server.

use secrecy::SecretString;
use tool_core::Credential;

/// Who we are to the authorization server of one server, and what of it is allowed.
///
/// Without any of it we register ourselves, where the authorization server lets us.
///
/// ```
/// use tool_core::Namespace;
/// use tool_mcp::{OAuthClient, ServerConfig};
///
/// let client = OAuthClient::default()
///     .id("a1b2c3")
///     .secret_env("TICKETS_SECRET")
///     .issuer("https://login.example.com");
/// let tickets = ServerConfig::http(Namespace::new("tickets")?, "https://tickets.example.com/mcp");
/// let tickets = tickets.oauth(client);
/// # let _ = tickets;
/// # Ok::<_, tool_core::Problem>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OAuthClient {
    pub(crate) id: Option<String>,
    pub(crate) secret: Option<Secret>,
    pub(crate) metadata_url: Option<String>,
    pub(crate) issuer: Option<String>,
    pub(crate) scopes: Vec<String>,
    pub(crate) private_hosts: Vec<String>,
}

/// Where the secret of an id is.
#[derive(Clone, Debug)]
pub(crate) enum Secret {
    Variable(String),
    Given(Credential),
}

impl OAuthClient {
    /// Sets the id that somebody was given who registered us by hand. It is preferred to every
    /// other way.
    #[must_use]
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Names the variable of this process's environment that holds the secret of that id. It is
    /// read at each login and each renewal, and kept nowhere.
    #[must_use]
    pub fn secret_env(mut self, variable: impl Into<String>) -> Self {
        self.secret = Some(Secret::Variable(variable.into()));
        self
    }

    /// Sets the secret of that id. It is not kept in the state.
    #[must_use]
    pub fn secret(mut self, secret: Credential) -> Self {
        self.secret = Some(Secret::Given(secret));
        self
    }

    /// Sets the address of a document that says who we are. It is our id where an authorization
    /// server takes such, and an `https` address with a path.
    #[must_use]
    pub fn metadata_url(mut self, url: impl Into<String>) -> Self {
        self.metadata_url = Some(url.into());
        self
    }

    /// Sets the only authorization server that counts, by its issuer. Defaults to whichever the
    /// server names; an id that was given by one should say which.
    #[must_use]
    pub fn issuer(mut self, issuer: impl Into<String>) -> Self {
        self.issuer = Some(issuer.into());
        self
    }

    /// Asks for one more scope, in place of those that the server names.
    #[must_use]
    pub fn scope(mut self, scope: impl Into<String>) -> Self {
        self.scopes.push(scope.into());
        self
    }

    /// Allows a host of the login to be in the own network, by its name. The server's own host is.
    #[must_use]
    pub fn private_host(mut self, host: impl Into<String>) -> Self {
        self.private_hosts.push(host.into());
        self
    }
}

impl OAuthClient {
    /// The secret of the id, where it has one.
    ///
    /// # Errors
    /// The variable that it should be in.
    pub(crate) fn secret_now(&self) -> Result<Option<SecretString>, &str> {
        match &self.secret {
            None => Ok(None),
            Some(Secret::Given(secret)) => Ok(Some(secret.expose().into())),
            Some(Secret::Variable(variable)) => match std::env::var(variable) {
                Ok(secret) if !secret.is_empty() => Ok(Some(secret.into())),
                _ => Err(variable),
            },
        }
    }
}

impl PartialEq for Secret {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Variable(one), Self::Variable(other)) => one == other,
            (Self::Given(one), Self::Given(other)) => one.expose() == other.expose(),
            _ => false,
        }
    }
}

impl Eq for Secret {}
