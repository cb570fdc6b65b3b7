//! Where to log in to a server.

use std::sync::Arc;
use std::time::Duration;

use reqwest::Url;
use rmcp::transport::auth::{
    AuthError, AuthorizationManager, AuthorizationMetadata, AuthorizationMetadataResolution,
};
use tokio::time::timeout;

use super::client::OAuthClient;
use super::login_error::LoginError;
use super::quiet::quiet;
use super::revocation::Revoking;
use super::rules::{Rules, shown};
use super::web::{Trouble, Web};

/// How long all documents together may take.
const PATIENCE: Duration = Duration::from_secs(40);

/// A server that can be logged in to, and who we are to it.
#[derive(Clone, Debug)]
pub(crate) struct Party {
    /// Its configured name.
    pub(crate) server: String,
    pub(crate) url: Url,
    pub(crate) client: OAuthClient,
    /// Our name, for people.
    pub(crate) name: String,
    pub(crate) rules: Arc<Rules>,
}

/// Where to log in, which was found to be safe.
pub(crate) struct Found {
    pub(crate) manager: AuthorizationManager,
    pub(crate) web: Arc<Web>,
    pub(crate) issuer: String,
    /// Whether an address of a document is an id there.
    pub(crate) takes_documents: bool,
    /// Whether we can register ourselves there.
    pub(crate) registers: bool,
    /// How tokens are revoked there.
    pub(crate) revoking: Option<Revoking>,
}

impl Party {
    /// Finds where to log in, from what the server said when it was asked for something, or by
    /// asking it.
    ///
    /// Source: RFC 9728; RFC 8414, section 3; MCP, revision 2026-07-28, authorization server
    /// discovery.
    pub(crate) async fn discover(&self, challenge: Option<&str>) -> Result<Found, LoginError> {
        let web = Web::new(Arc::clone(&self.rules)).map_err(|trouble| self.troubled(trouble))?;
        let web = Arc::new(web);
        let http = Arc::clone(&web);
        let manager = AuthorizationManager::new_with_oauth_http_client(self.url.as_str(), http);
        let mut manager = quiet(manager)
            .await
            .map_err(|error| self.failed(&error, &web))?;
        let challenge = challenge.filter(|challenge| !challenge.is_empty());
        let found = quiet(manager.resolve_metadata_from_challenge(challenge));
        let found = timeout(PATIENCE, found).await.map_err(|_| {
            let seconds = PATIENCE.as_secs();
            self.unreachable(format!(
                "where to log in was not found out within {seconds} s"
            ))
        })?;
        let found = found.map_err(|error| self.failed(&error, &web))?;
        let issuer = self.check(&found, &web)?;
        let metadata = found.metadata;
        let takes_documents = metadata
            .additional_fields
            .get("client_id_metadata_document_supported")
            .is_some_and(|takes| takes == true);
        let registers = metadata.registration_endpoint.is_some();
        let revoking = Revoking::of(&metadata, &self.rules);
        manager.set_metadata(metadata);
        Ok(Found {
            manager,
            web,
            issuer,
            takes_documents,
            registers,
            revoking,
        })
    }

    /// Whether what was found can be used; its issuer.
    fn check(
        &self,
        found: &AuthorizationMetadataResolution,
        web: &Web,
    ) -> Result<String, LoginError> {
        if !found.source.is_discovered() {
            return Err(LoginError::NotOffered {
                server: self.server.clone(),
                reason: "wants a login and does not say where: it publishes no metadata of an \
                         authorization server"
                    .to_owned(),
            });
        }
        let metadata = &found.metadata;
        let issuer = metadata.issuer.clone().unwrap_or_default();
        if issuer.is_empty() {
            return Err(self.not_safe("the authorization server does not say who it is".to_owned()));
        }
        // The library takes the word of a document that is nowhere where one of an issuer is.
        let document = web.document();
        if !document.as_ref().is_some_and(|at| is_at_home(at, &issuer)) {
            let at = document.as_ref().map(shown).unwrap_or_default();
            return Err(self.not_safe(format!(
                "an authorization server of another address, {at}, calls itself {}",
                named(&issuer)
            )));
        }
        if let Some(only) = &self.client.issuer
            && *only != issuer
        {
            return Err(self.not_safe(format!(
                "it names the authorization server \"{}\", and \"{}\" is configured",
                issuer.escape_debug(),
                only.escape_debug()
            )));
        }
        self.check_pkce(metadata)?;
        let endpoints = [
            Some(&metadata.authorization_endpoint),
            Some(&metadata.token_endpoint),
            metadata.registration_endpoint.as_ref(),
        ];
        for endpoint in endpoints.into_iter().flatten() {
            let url = Url::parse(endpoint).map_err(|_| {
                self.not_safe("the authorization server names an address that is none".to_owned())
            })?;
            self.rules
                .check(&url)
                .map_err(|problem| self.not_safe(format!("the address {problem}")))?;
        }
        Ok(issuer)
    }

    /// A server that does not say so does not know the method, and codes could be stolen.
    ///
    /// Source: MCP, revision 2026-07-28, authorization code protection.
    fn check_pkce(&self, metadata: &AuthorizationMetadata) -> Result<(), LoginError> {
        let methods = metadata.code_challenge_methods_supported.as_ref();
        if methods.is_some_and(|methods| methods.iter().any(|method| method == "S256")) {
            return Ok(());
        }
        Err(self.not_safe("the authorization server does not promise PKCE with S256".to_owned()))
    }

    /// What the library says, by its type. Its text holds what the other side wrote.
    pub(crate) fn failed(&self, error: &AuthError, web: &Web) -> LoginError {
        let trouble = web.trouble();
        match error {
            AuthError::AuthorizationServerMismatch {
                expected_issuer,
                received_issuer,
            } => self.not_safe(format!(
                "the authorization server {} calls itself {}",
                named(expected_issuer),
                named(received_issuer)
            )),
            AuthError::AuthorizationServerMissingIssuer { expected_issuer } => {
                self.not_safe(format!(
                    "the authorization server {} does not say who it is",
                    named(expected_issuer)
                ))
            }
            AuthError::ProtectedResourceMetadataInvalid { url, .. } => self.not_safe(format!(
                "what {} says is of another server than this one",
                shown(url)
            )),
            AuthError::PkceUnsupported => {
                self.not_safe("the authorization server does not support PKCE with S256".to_owned())
            }
            _ if trouble.is_some() => trouble.map_or_else(
                || self.unreachable(String::new()),
                |trouble| self.troubled(trouble),
            ),
            AuthError::AuthorizationServersUnavailable {
                authorization_servers,
                ..
            } => self.unreachable(format!(
                "it names the authorization servers {}, and none of them can be used",
                named(&authorization_servers.join(", "))
            )),
            AuthError::DiscoveryRequestFailed { url, .. } => {
                self.unreachable(format!("{} answered with an error", shown(url)))
            }
            AuthError::RegistrationFailed(_) => {
                self.unreachable("the answer to a registration cannot be read".to_owned())
            }
            _ => {
                self.unreachable("the authorization server answered with something else".to_owned())
            }
        }
    }

    pub(crate) fn troubled(&self, trouble: Trouble) -> LoginError {
        match trouble {
            Trouble::Unsafe(reason) => self.not_safe(reason),
            Trouble::Unreachable(reason) => self.unreachable(reason),
            refused @ Trouble::Refused { .. } => LoginError::Refused {
                server: self.server.clone(),
                reason: refused.to_string(),
            },
        }
    }

    pub(crate) fn not_safe(&self, reason: String) -> LoginError {
        LoginError::Unsafe {
            server: self.server.clone(),
            reason,
        }
    }

    pub(crate) fn unreachable(&self, reason: String) -> LoginError {
        LoginError::Unreachable {
            server: self.server.clone(),
            reason,
        }
    }

    pub(crate) fn not_offered(&self, reason: String) -> LoginError {
        LoginError::NotOffered {
            server: self.server.clone(),
            reason,
        }
    }
}

/// What the other side wrote, for operators.
fn named(text: &str) -> String {
    let text: String = text.chars().take(200).collect();
    format!("\"{}\"", text.escape_debug())
}

/// Whether a document is where an issuer's is looked for. Whoever can put it there speaks for the
/// issuer; whoever cannot would get the codes and secrets that are meant for it.
///
/// Source: RFC 8414, sections 3.1 and 3.3; OpenID Connect Discovery 1.0, section 4; MCP, revision
/// 2026-07-28, authorization server metadata discovery. Beside their forms, that of RFC 8414
/// without the issuer's path, which the library looks for at last.
fn is_at_home(document: &Url, issuer: &str) -> bool {
    const OAUTH: &str = "/.well-known/oauth-authorization-server";
    const OPENID: &str = "/.well-known/openid-configuration";
    let Ok(issuer) = Url::parse(issuer) else {
        return false;
    };
    if issuer.origin() != document.origin() || !issuer.origin().is_tuple() {
        return false;
    }
    let path = issuer.path().trim_end_matches('/');
    let at = document.path();
    at == OAUTH
        || at == format!("{OAUTH}{path}")
        || at == format!("{OPENID}{path}")
        || at == format!("{path}{OPENID}")
}

#[cfg(test)]
mod tests {
    use reqwest::Url;

    use super::is_at_home;

    #[test]
    fn a_document_speaks_for_an_issuer_only_where_that_issuers_is_looked_for() {
        let (root, tenant) = ("https://as.example.com", "https://as.example.com/t/");
        for (issuer, at, speaks) in [
            (
                root,
                "https://as.example.com/.well-known/oauth-authorization-server",
                true,
            ),
            (
                root,
                "https://as.example.com/.well-known/openid-configuration",
                true,
            ),
            (
                root,
                "https://as.example.com:443/.well-known/openid-configuration",
                true,
            ),
            (root, "https://as.example.com/.well-known/x", false),
            (
                root,
                "https://as.example.com/t/.well-known/openid-configuration",
                false,
            ),
            (
                root,
                "https://as.example.com/.well-known/oauth-authorization-server/t",
                false,
            ),
            (
                root,
                "https://evil.com/.well-known/oauth-authorization-server",
                false,
            ),
            (
                root,
                "http://as.example.com/.well-known/oauth-authorization-server",
                false,
            ),
            (
                root,
                "https://as.example.com:1/.well-known/oauth-authorization-server",
                false,
            ),
            (
                tenant,
                "https://as.example.com/.well-known/oauth-authorization-server/t",
                true,
            ),
            (
                tenant,
                "https://as.example.com/.well-known/openid-configuration/t",
                true,
            ),
            (
                tenant,
                "https://as.example.com/t/.well-known/openid-configuration",
                true,
            ),
            (
                tenant,
                "https://as.example.com/.well-known/oauth-authorization-server",
                true,
            ),
            (
                tenant,
                "https://as.example.com/u/.well-known/openid-configuration",
                false,
            ),
            (
                tenant,
                "https://as.example.com/t/u/.well-known/openid-configuration",
                false,
            ),
            (
                "as.example.com",
                "https://as.example.com/.well-known/openid-configuration",
                false,
            ),
        ] {
            let document = Url::parse(at).expect("it is one");
            assert_eq!(is_at_home(&document, issuer), speaks, "{issuer} {at}");
        }
    }
}
