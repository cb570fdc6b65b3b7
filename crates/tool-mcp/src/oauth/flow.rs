//! One login, from finding where to the tokens.

use std::time::Duration;

use reqwest::Url;
use rmcp::transport::auth::OAuthClientConfig;
use secrecy::{ExposeSecret as _, SecretString};
use tokio::time::timeout;

use super::authorizer::{AuthorizationPage, Authorizer};
use super::callback::{Callback, Useless, parameter};
use super::challenge::{self, Challenge, union};
use super::discovery::{Found, Party};
use super::login_error::LoginError;
use super::logins::Clock;
use super::quiet::quiet;
use super::record::{Client, Grant, Record, Registered};
use super::renewal::nonce;
use super::rules::is_local;
use super::shelf::Shelf;
use super::tokens::Tokens;

/// How long a person may take.
const PATIENCE: Duration = Duration::from_secs(10 * 60);

/// Has a person log in, and keeps what comes of it.
pub(crate) async fn log_in(
    party: &Party,
    shelf: &Shelf,
    authorizer: &dyn Authorizer,
    challenge: Option<&Challenge>,
    clock: &Clock,
) -> Result<Grant, LoginError> {
    let record = match shelf.read().await {
        Ok((record, _)) => record.of(party.url.as_str()),
        // What nobody can read is replaced.
        Err(LoginError::Form { .. }) => Record::default(),
        Err(error) => return Err(error),
    };
    let asked = challenge.map(|challenge| challenge.text.as_str());
    let mut found = party.discover(asked).await?;
    let unanswered = |reason| LoginError::Refused {
        server: party.server.clone(),
        reason,
    };
    let begun = authorizer.begin(&party.server).await.map_err(unanswered)?;
    let redirect_uri = begun.redirect_uri().to_owned();
    check_redirect(party, &redirect_uri)?;
    let scopes = scopes(party, &record, &found, challenge).await;
    let (client, registered) =
        client(party, shelf, &record, &mut found, &redirect_uri, &scopes).await?;
    let names: Vec<&str> = scopes.iter().map(String::as_str).collect();
    let url = quiet(found.manager.get_authorization_url(&names)).await;
    let url = url.map_err(|error| party.failed(&error, &found.web))?;
    let page = page(party, url, &scopes)?;

    let back = timeout(PATIENCE, begun.authorize(&page)).await;
    let minutes = PATIENCE.as_secs() / 60;
    let back = back
        .map_err(|_| unanswered(format!("nobody logged in within {minutes} minutes")))?
        .map_err(unanswered)?;
    let callback = Callback::read(&back, &page.state, &found.issuer);
    let callback = callback.map_err(|useless| match useless {
        Useless::Foreign => {
            party.not_safe("what came back does not belong to this login".to_owned())
        }
        Useless::Issuer => party.not_safe(
            "what came back is the answer of another authorization server than was asked"
                .to_owned(),
        ),
        Useless::Refused(code) => unanswered(format!("the authorization server said \"{code}\"")),
    })?;
    let code = callback.code.expose_secret();
    let issuer = callback.issuer.as_deref();
    let exchange = found
        .manager
        .exchange_code_for_token_with_issuer(code, &page.state, issuer);
    let response = quiet(exchange).await;
    let response = response.map_err(|error| party.failed(&error, &found.web))?;
    let tokens = Tokens::read(&response, clock());
    let tokens = tokens.map_err(|problem| party.unreachable(problem.to_owned()))?;
    let grant = Grant {
        issuer: found.issuer,
        client,
        scopes: tokens.scopes.unwrap_or(scopes),
        access: tokens.access,
        refresh: tokens.refresh,
        expires: tokens.expires,
        due: tokens.due,
        login: Some(nonce()),
        revoking: found.revoking,
    };
    keep(party, shelf, &grant, registered).await?;
    Ok(grant)
}

/// Keeps a login, in place of an earlier one.
async fn keep(
    party: &Party,
    shelf: &Shelf,
    grant: &Grant,
    registered: Option<Registered>,
) -> Result<(), LoginError> {
    let record = Record {
        url: party.url.to_string(),
        grant: Some(grant.clone()),
        registered,
        wanted: Vec::new(),
        renewing: None,
    };
    shelf.replace(&record).await
}

/// What to ask for: what the operator says, else what the server says. What was granted or found
/// to be missing before is asked for again only where the server wants more than was granted.
///
/// Source: MCP, revision 2026-07-28, scope selection strategy and step-up authorization.
async fn scopes(
    party: &Party,
    record: &Record,
    found: &Found,
    challenge: Option<&Challenge>,
) -> Vec<String> {
    let insufficient = challenge.is_some_and(|challenge| challenge.insufficient);
    let mut scopes = party.client.scopes.clone();
    if scopes.is_empty() {
        let mut named = quiet(found.manager.select_initial_scopes(&[])).await;
        // A server may write anything there, and people are shown it.
        named.retain(|scope| !scope.contains(char::is_whitespace));
        scopes = challenge::scopes(&named.join(" "));
    }
    if !insufficient && record.wanted.is_empty() {
        return scopes;
    }
    let granted = record
        .grant
        .as_ref()
        .filter(|grant| grant.issuer == found.issuer)
        .map(|grant| grant.scopes.clone())
        .unwrap_or_default();
    let scopes = union(granted, &scopes);
    let asked = challenge.map(|challenge| challenge.scopes.as_slice());
    let scopes = union(scopes, asked.unwrap_or_default());
    union(scopes, &record.wanted)
}

/// Who we are: whom the operator says, else a document, else whom we were registered as at this
/// authorization server, else whom we register as now.
///
/// Source: MCP, revision 2026-07-28, client registration.
async fn client(
    party: &Party,
    shelf: &Shelf,
    record: &Record,
    found: &mut Found,
    redirect_uri: &str,
    scopes: &[String],
) -> Result<(Client, Option<Registered>), LoginError> {
    let registered = record
        .registered
        .clone()
        .filter(|registered| registered.issuer == found.issuer);
    let known = registered
        .as_ref()
        .filter(|registered| registered.client.redirect_uri == redirect_uri);
    let client = if let Some(id) = &party.client.id {
        Client {
            id: id.clone(),
            secret: None,
            redirect_uri: redirect_uri.to_owned(),
        }
    } else if let Some(document) = &party.client.metadata_url
        && found.takes_documents
    {
        Client {
            id: document.clone(),
            secret: None,
            redirect_uri: redirect_uri.to_owned(),
        }
    } else if let Some(known) = known {
        known.client.clone()
    } else {
        let client = register(party, found, redirect_uri, scopes).await?;
        let registered = Registered {
            issuer: found.issuer.clone(),
            client: client.clone(),
        };
        let url = party.url.to_string();
        let keep = |record: &mut Record| {
            *record = std::mem::take(record).of(&url);
            record.registered = Some(registered.clone());
            true
        };
        match shelf.change(keep).await {
            // What nobody can read is replaced in the end.
            Ok(_) | Err(LoginError::Form { .. }) => {}
            Err(error) => return Err(error),
        }
        return Ok((client, Some(registered)));
    };
    configure(party, found, &client)?;
    Ok((client, registered))
}

/// Tells the library who we are. The secret of an id that is configured is what it is now.
pub(crate) fn configure(
    party: &Party,
    found: &mut Found,
    client: &Client,
) -> Result<(), LoginError> {
    let mut config = OAuthClientConfig::new(&client.id, &client.redirect_uri);
    let secret = match party.client.id.as_ref() == Some(&client.id) {
        true => secret(party)?,
        false => client.secret.clone(),
    };
    if let Some(secret) = &secret {
        config = config.with_client_secret(secret.expose_secret());
    }
    let configured = found.manager.configure_client(config);
    configured.map_err(|error| party.failed(&error, &found.web))
}

async fn register(
    party: &Party,
    found: &mut Found,
    redirect_uri: &str,
    scopes: &[String],
) -> Result<Client, LoginError> {
    if !found.registers {
        return Err(party.not_offered(
            "cannot be logged in to without an id, as its authorization server registers nobody \
             by itself: get one there and set \"clientId\" in \"oauth\""
                .to_owned(),
        ));
    }
    let names: Vec<&str> = scopes.iter().map(String::as_str).collect();
    let registered = found
        .manager
        .register_client(&party.name, redirect_uri, &names);
    let config = quiet(registered).await;
    let config = config.map_err(|error| party.failed(&error, &found.web))?;
    Ok(Client {
        id: config.client_id,
        secret: config.client_secret.map(SecretString::from),
        redirect_uri: redirect_uri.to_owned(),
    })
}

/// The secret of the id that is configured, where it has one.
fn secret(party: &Party) -> Result<Option<SecretString>, LoginError> {
    let secret = party.client.secret_now();
    secret.map_err(|variable| {
        party.not_offered(format!("needs a secret in the variable \"{variable}\""))
    })
}

fn page(party: &Party, url: String, scopes: &[String]) -> Result<AuthorizationPage, LoginError> {
    let parsed = Url::parse(&url).ok();
    let state = parsed
        .as_ref()
        .and_then(|url| parameter(url.query()?, "state"))
        .filter(|state| !state.is_empty());
    let host = parsed.as_ref().and_then(Url::host_str).map(str::to_owned);
    match (host, state) {
        (Some(host), Some(state)) => Ok(AuthorizationPage {
            server: party.server.clone(),
            url,
            host,
            scopes: scopes.to_vec(),
            state,
        }),
        _ => Err(party.not_safe("the page to log in on has no address".to_owned())),
    }
}

/// Codes are sent there: nobody on the way may read them.
fn check_redirect(party: &Party, redirect_uri: &str) -> Result<(), LoginError> {
    let url = Url::parse(redirect_uri).ok();
    let fits = url.is_some_and(|url| match url.scheme() {
        "http" => url.host_str().is_some_and(is_local),
        "https" => url.host_str().is_some(),
        // One of the program's own is named after a domain (RFC 8252, section 7.1).
        scheme => scheme.contains('.'),
    });
    if fits {
        Ok(())
    } else {
        Err(party
            .not_safe("people would come back over a connection that others can read".to_owned()))
    }
}

impl Record {
    /// What of it is of the server at an address: nothing where it is another one's.
    pub(crate) fn of(self, url: &str) -> Self {
        if self.url == url {
            return self;
        }
        Self {
            url: url.to_owned(),
            ..Self::default()
        }
    }
}
