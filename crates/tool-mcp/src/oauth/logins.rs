//! The logins of all servers, kept in a state.

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use reqwest::Url;
use tool_core::{Namespace, State};

use super::authorizer::Authorizer;
use super::discovery::Party;
use super::flow;
use super::login::Login;
use super::login_error::LoginError;
use super::quiet::quiet;
use super::record::Grant;
use super::revocation::{Revocation, revoke};
use super::rules::Rules;
use super::shelf::Shelf;
use crate::ServerConfig;

pub(crate) type Clock = Arc<dyn Fn() -> SystemTime + Send + Sync>;

/// The logins of servers over HTTP, kept in a state: tokens, and who we were registered as.
///
/// Several processes may share a state: a login made in one is used by all, and of all that find a
/// token about to expire one renews it. A login is for the address at which its server is
/// configured; at another nobody is logged in. Tokens are sent to that address alone, and the
/// refresh token to the authorization server that gave it.
///
/// They are not encrypted in the state: whoever reads it is logged in. A folder of `DirState` and
/// its files are the owner's alone.
///
/// ```no_run
/// // Shows a page to a person and waits for them.
/// # async fn log_in(state: std::sync::Arc<dyn tool_core::State>) -> Result<(), Box<dyn std::error::Error>> {
/// use tool_core::Namespace;
/// use tool_mcp::{Logins, LoopbackAuthorizer, ServerConfig};
///
/// let tickets = ServerConfig::http(Namespace::new("tickets")?, "https://tickets.example.com/mcp");
/// let shown = LoopbackAuthorizer::new(|page| eprintln!("log in at {}: {}", page.host, page.url));
/// let login = Logins::new(state).login(&tickets, &shown).await?;
/// eprintln!("logged in by {}", login.issuer);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Logins {
    state: Arc<dyn State>,
    authorizer: Option<Arc<dyn Authorizer>>,
    clock: Clock,
    name: String,
}

/// Somebody is logged in.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoggedIn {
    /// The authorization server.
    pub issuer: String,
    /// What was granted, where that was said or asked for.
    pub scopes: Vec<String>,
    /// Until when, where that was said.
    pub expires: Option<SystemTime>,
    /// Whether it is renewed then without a person.
    pub renews: bool,
}

/// Nobody is logged in any more.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoggedOut {
    /// The authorization server; nothing where that could not be read any more.
    pub issuer: Option<String>,
    /// What it made of it.
    pub revocation: Revocation,
}

impl Logins {
    /// Logins that are kept in a state, which must keep values.
    pub fn new(state: Arc<dyn State>) -> Self {
        Self {
            state,
            authorizer: None,
            clock: Arc::new(SystemTime::now),
            name: "tool-mcp".to_owned(),
        }
    }

    /// Sets who takes a person to a page while servers are connected and called. Without one,
    /// which is the default, a server that needs a login waits until there is one in the state.
    #[must_use]
    pub fn authorizer(mut self, authorizer: Arc<dyn Authorizer>) -> Self {
        self.authorizer = Some(authorizer);
        self
    }

    /// Sets the name under which we register with authorization servers, which they show to people.
    /// Defaults to this crate's.
    #[must_use]
    pub fn client_name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Sets the clock by which tokens expire. Defaults to the system's.
    #[must_use]
    pub fn clock(mut self, clock: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Has a person log in to a server, also where somebody is logged in already.
    ///
    /// # Errors
    /// [`LoginError`]; what was kept before stays then, and a registration that was made is kept.
    ///
    /// # Cancel safety
    /// Dropping the future gives the login up, unless the person is done: it may be kept then.
    pub async fn login(
        &self,
        server: &ServerConfig,
        authorizer: &dyn Authorizer,
    ) -> Result<LoggedIn, LoginError> {
        let party = self.party(server)?;
        let shelf = self.shelf(server.name());
        let grant = flow::log_in(&party, &shelf, authorizer, None, &self.clock).await?;
        Ok(LoggedIn::of(grant))
    }

    /// Forgets the login to a server, and who we were registered as, and then has its tokens revoked
    /// at their authorization server, where that can be told, within ten seconds. They are forgotten
    /// whatever it answers. `None` where there was nothing to forget.
    ///
    /// With the configuration of the server the secret of an id and the hosts in the own network
    /// are those that it names, where the login was made at its address, and by its issuer where it
    /// names one; without, the tokens of such an id may not be revoked. The server is not told;
    /// processes that run notice it within seconds. One that renews the login just then has what it
    /// gets revoked as well, which nobody here can tell: it is said not to be. So does one whose login
    /// was replaced by another one meanwhile, whose tokens are not revoked; a server that has
    /// one consent for all logins of a client may end them with it (RFC 7009, section 2.1).
    ///
    /// # Errors
    /// [`LoginError::State`]: nothing is forgotten and nobody told.
    ///
    /// # Cancel safety
    /// It may be forgotten though the future was dropped, and the tokens not revoked.
    pub async fn logout(
        &self,
        server: &Namespace,
        config: Option<&ServerConfig>,
    ) -> Result<Option<LoggedOut>, LoginError> {
        let Some(record) = self.shelf(server).take().await? else {
            let reason = "what was kept of the login could not be read".to_owned();
            return Ok(Some(LoggedOut {
                issuer: None,
                revocation: Revocation::Failed { reason },
            }));
        };
        let Some(grant) = record.grant else {
            let registered = record.registered;
            return Ok(registered.map(|registered| LoggedOut {
                issuer: Some(registered.issuer),
                revocation: Revocation::Nothing,
            }));
        };
        // What is configured for another address is nothing to whom this one led to.
        let client = config
            .and_then(|server| server.http.as_ref())
            .filter(|http| Url::parse(&http.url).is_ok_and(|url| url.as_str() == record.url))
            .and_then(|http| http.oauth.as_deref().cloned());
        let client = client.unwrap_or_default();
        let renewing = record.renewing.as_ref();
        let renewing = renewing.is_some_and(|renewing| renewing.holds(&self.clock));
        let revocation = match quiet(revoke(&record.url, &grant, &client)).await {
            // Whoever renews it revokes what comes of it, unless that ends before.
            Revocation::Done if renewing => Revocation::Failed {
                reason: "it was being renewed at that moment, and what comes of that may not be \
                         revoked"
                    .to_owned(),
            },
            revocation => revocation,
        };
        if let Revocation::Failed { reason } = &revocation {
            tracing::warn!(server = server.as_str(), reason, "a login was not revoked");
        }
        Ok(Some(LoggedOut {
            issuer: Some(grant.issuer),
            revocation,
        }))
    }

    /// Who is logged in to a server, if anybody is.
    ///
    /// # Errors
    /// [`LoginError::State`] and [`LoginError::Form`].
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing.
    pub async fn status(&self, server: &ServerConfig) -> Result<Option<LoggedIn>, LoginError> {
        let party = self.party(server)?;
        let (record, _) = self.shelf(server.name()).read().await?;
        Ok(record.of(party.url.as_str()).grant.map(LoggedIn::of))
    }

    /// The login as requests to a server need it; nothing for one that knows who calls by other
    /// means, or that has nobody log in.
    pub(crate) fn of(&self, server: &ServerConfig) -> Option<Login> {
        let party = self.party(server).ok()?;
        let shelf = self.shelf(server.name());
        let (authorizer, clock) = (self.authorizer.clone(), Arc::clone(&self.clock));
        Some(Login::new(party, shelf, authorizer, clock))
    }

    fn shelf(&self, server: &Namespace) -> Shelf {
        Shelf::new(Arc::clone(&self.state), server.as_str())
    }

    fn party(&self, server: &ServerConfig) -> Result<Party, LoginError> {
        let name = server.name().as_str();
        let not_offered = |reason: &str| LoginError::NotOffered {
            server: name.to_owned(),
            reason: reason.to_owned(),
        };
        let http = server.http.as_ref();
        let http = http.ok_or_else(|| not_offered("is a process, and nobody logs in to it"))?;
        if http.bearer_env.is_some() || http.headers.contains_key("authorization") {
            return Err(not_offered(
                "has a token of its own in the configuration, and nobody logs in to it",
            ));
        }
        let client = http.oauth.clone().ok_or_else(|| {
            not_offered("is configured not to be logged in to: its \"oauth\" is false")
        })?;
        let url = Url::parse(&http.url).map_err(|_| not_offered("has an unreadable \"url\""))?;
        Ok(Party {
            server: name.to_owned(),
            rules: Arc::new(Rules::new(&url, &client)),
            url,
            client: *client,
            name: self.name.clone(),
        })
    }
}

impl LoggedIn {
    fn of(grant: Grant) -> Self {
        Self {
            issuer: grant.issuer,
            scopes: grant.scopes,
            expires: grant.expires,
            renews: grant.refresh.is_some(),
        }
    }
}

impl fmt::Debug for Logins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Logins")
            .field("authorizer", &self.authorizer.is_some())
            .field("client_name", &self.name)
            .finish_non_exhaustive()
    }
}
