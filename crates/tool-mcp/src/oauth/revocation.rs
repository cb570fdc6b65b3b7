//! Telling an authorization server that a login is over.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::Url;
use reqwest::header::HeaderValue;
use rmcp::transport::auth::AuthorizationMetadata;
use secrecy::zeroize::Zeroizing;
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};
use tokio::time::{Instant, timeout_at};

use super::client::OAuthClient;
use super::record::Grant;
use super::rules::Rules;
use super::web::{Trouble, Web};

/// How long it may take in all: whoever logs out waits for it.
const PATIENCE: Duration = Duration::from_secs(10);

/// What the authorization server made of it that somebody logged out.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Revocation {
    /// It said that the tokens are good for nothing any more.
    Done,
    /// There were no tokens: somebody was registered and not logged in.
    Nothing,
    /// It was not told, as no safe address is known at which it revokes tokens: its metadata named
    /// none at the login, or one at which nothing may be sent, or the login was made by an earlier
    /// version, which kept none.
    NotOffered,
    /// It did not say so, or not of all of them: they may be good until they end.
    Failed {
        /// What went wrong, as a clause for operators.
        reason: String,
    },
}

/// How tokens are revoked at an authorization server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Revoking {
    url: String,
    /// The secret of a client stands in the form, not in a header.
    #[serde(default)]
    in_form: bool,
}

impl Revoking {
    /// What metadata says of it. An address at which nothing may be sent is none.
    ///
    /// Source: RFC 8414, section 2.
    pub(crate) fn of(metadata: &AuthorizationMetadata, rules: &Rules) -> Option<Self> {
        let more = &metadata.additional_fields;
        let url = more.get("revocation_endpoint")?.as_str()?;
        rules.check(&Url::parse(url).ok()?).ok()?;
        let methods = more
            .get("revocation_endpoint_auth_methods_supported")
            .or_else(|| more.get("token_endpoint_auth_methods_supported"));
        let takes = |method: &str| {
            let methods = methods.and_then(|methods| methods.as_array());
            methods.is_some_and(|methods| methods.iter().any(|one| one == method))
        };
        Some(Self {
            url: url.to_owned(),
            in_form: takes("client_secret_post") && !takes("client_secret_basic"),
        })
    }
}

/// Revokes the tokens of a login to the server at that address: first what renews it, as whoever
/// has that gets others.
///
/// Source: RFC 7009.
pub(crate) async fn revoke(server: &str, grant: &Grant, client: &OAuthClient) -> Revocation {
    let Some(revoking) = &grant.revoking else {
        return Revocation::NotOffered;
    };
    match Telling::new(server, revoking, grant, client) {
        Ok(telling) => telling.all(grant).await,
        Err(reason) => Revocation::Failed { reason },
    }
}

struct Telling<'a> {
    web: Web,
    url: Url,
    in_form: bool,
    id: &'a str,
    secret: Option<SecretString>,
    deadline: Instant,
}

impl<'a> Telling<'a> {
    fn new(
        server: &str,
        revoking: &Revoking,
        grant: &'a Grant,
        client: &OAuthClient,
    ) -> Result<Self, String> {
        let unreadable = |_| "what is kept of the login names no address".to_owned();
        let server = Url::parse(server).map_err(unreadable)?;
        let url = Url::parse(&revoking.url).map_err(unreadable)?;
        let rules = Arc::new(Rules::new(&server, client));
        // The secret of an id that is configured is what it is now. It is for the issuer that is
        // configured: another one may have called us so of its own accord.
        let only = client.issuer.as_ref();
        let configured = client.id.as_ref() == Some(&grant.client.id)
            && only.is_none_or(|only| *only == grant.issuer);
        let secret = match configured {
            true => client
                .secret_now()
                .map_err(|variable| format!("it needs a secret in the variable \"{variable}\""))?,
            false => grant.client.secret.clone(),
        };
        Ok(Self {
            web: Web::new(rules).map_err(|trouble| trouble.to_string())?,
            url,
            in_form: revoking.in_form,
            id: &grant.client.id,
            secret,
            deadline: Instant::now() + PATIENCE,
        })
    }

    async fn all(&self, grant: &Grant) -> Revocation {
        let renewal = match &grant.refresh {
            Some(token) => Some(self.one("refresh_token", token).await),
            None => None,
        };
        let access = self.one("access_token", &grant.access).await;
        let reason = match (renewal, access) {
            (None | Some(Ok(())), Ok(())) => return Revocation::Done,
            // What is given by a refresh token ends with it.
            (Some(Ok(())), Err(trouble)) if is_unsupported(&trouble) => return Revocation::Done,
            (Some(Ok(())), Err(trouble)) => {
                format!("what renews the login was revoked, and its token was not: {trouble}")
            }
            (Some(Err(trouble)), Ok(())) => {
                format!("the token was revoked, and what renews it was not: {trouble}")
            }
            (Some(Err(trouble)), Err(_)) | (None, Err(trouble)) => trouble.to_string(),
        };
        Revocation::Failed { reason }
    }

    async fn one(&self, hint: &str, token: &SecretString) -> Result<(), Trouble> {
        let mut form = vec![("token", token.expose_secret()), ("token_type_hint", hint)];
        let mut authorization = None;
        match &self.secret {
            Some(secret) if !self.in_form => {
                authorization = Some(self.basic(secret.expose_secret())?);
            }
            secret => {
                form.push(("client_id", self.id));
                form.extend(
                    secret
                        .as_ref()
                        .map(|secret| ("client_secret", secret.expose_secret())),
                );
            }
        }
        let mut encoded = self.url.clone();
        encoded.query_pairs_mut().clear().extend_pairs(form);
        let form = Zeroizing::new(encoded.query().unwrap_or_default().to_owned());
        let told = self.web.post(&self.url, &form, authorization);
        timeout_at(self.deadline, told).await.unwrap_or_else(|_| {
            let seconds = PATIENCE.as_secs();
            Err(Trouble::Unreachable(format!(
                "the authorization server did not answer within {seconds} s"
            )))
        })
    }

    /// Source: RFC 6749, section 2.3.1.
    fn basic(&self, secret: &str) -> Result<HeaderValue, Trouble> {
        let encoded = |text: &str| {
            let mut url = self.url.clone();
            url.query_pairs_mut().clear().append_key_only(text);
            url.query().unwrap_or_default().to_owned()
        };
        let pair = Zeroizing::new(format!("{}:{}", encoded(self.id), encoded(secret)));
        let value = format!("Basic {}", STANDARD.encode(pair.as_bytes()));
        let mut value = HeaderValue::from_str(&value)
            .map_err(|_| Trouble::Unreachable("the secret cannot be sent".to_owned()))?;
        value.set_sensitive(true);
        Ok(value)
    }
}

/// Source: RFC 7009, section 2.2.1.
fn is_unsupported(trouble: &Trouble) -> bool {
    matches!(trouble, Trouble::Refused { code, .. } if code == "unsupported_token_type")
}
