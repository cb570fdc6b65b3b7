//! Secrets that a tool needs to do its work.

use std::fmt;
use std::sync::Arc;

use secrecy::{ExposeSecret as _, SecretString};
use thiserror::Error;

use crate::{BoxFuture, Facts};

/// A credential that a tool declares to need.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CredentialNeed {
    /// The service that it opens.
    pub service: String,
    /// What it must allow, in the service's own words.
    pub scopes: Vec<String>,
    /// On whose behalf it is used.
    pub mode: CredentialMode,
}

/// On whose behalf a credential is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum CredentialMode {
    /// The host's own. The default.
    #[default]
    Machine,
    /// The caller's.
    User,
}

/// A secret. It is never serialised, and printing it shows nothing of it.
#[derive(Clone)]
pub struct Credential(Arc<SecretString>);

/// Who hands out credentials.
///
/// A credential is acquired for one caller and one need; nothing of it is kept by the runtime. An
/// implementation may be asked by many calls at once.
#[diagnostic::on_unimplemented(message = "`{Self}` does not hand out credentials")]
pub trait Credentials: Send + Sync {
    /// Acquires a credential. What a tool declares to need is acquired last before it runs, never
    /// for a call that does not.
    ///
    /// # Errors
    /// [`CredentialError`], whose text only operators read; the call is refused, or suspended
    /// where a person must give consent first and the call can wait.
    ///
    /// # Cancel safety
    /// Dropping the future abandons the request.
    fn acquire<'a>(
        &'a self,
        facts: &'a Facts,
        need: &'a CredentialNeed,
    ) -> BoxFuture<'a, Result<Credential, CredentialError>>;
}

/// A credential that could not be had.
#[derive(Debug, Error)]
#[error("{detail}")]
pub struct CredentialError {
    detail: String,
    consent: Option<Consent>,
}

/// Where a person gives consent. The address opens something to whoever has it: it is never
/// serialised, and printing it shows nothing of it.
#[derive(Clone, Debug)]
pub struct Consent(Credential);

impl Consent {
    /// An address to give consent at.
    pub fn new(url: impl Into<String>) -> Self {
        Self(Credential::new(url))
    }

    /// The address itself. Show it to the person and to nobody else.
    #[must_use]
    pub fn expose(&self) -> &str {
        self.0.expose()
    }
}

impl PartialEq for Consent {
    fn eq(&self, other: &Self) -> bool {
        self.expose() == other.expose()
    }
}

/// The absence of a provider: every credential is refused.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "it holds nothing and never will")]
pub struct NoCredentials;

impl CredentialNeed {
    /// A credential for a service, of the host's own, without scopes.
    pub fn new(service: impl Into<String>) -> Self {
        Self {
            service: service.into(),
            scopes: Vec::new(),
            mode: CredentialMode::Machine,
        }
    }

    /// Sets what it must allow.
    #[must_use]
    pub fn scopes<S: Into<String>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
        self.scopes = scopes.into_iter().map(Into::into).collect();
        self
    }

    /// Sets on whose behalf it is used.
    #[must_use]
    pub fn mode(mut self, mode: CredentialMode) -> Self {
        self.mode = mode;
        self
    }
}

impl Credential {
    /// Wraps a secret.
    pub fn new(secret: impl Into<String>) -> Self {
        Self(Arc::new(SecretString::from(secret.into())))
    }

    /// The secret itself. Hand it to the service and to nothing else.
    #[must_use]
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credential(..)")
    }
}

impl CredentialError {
    /// An error with a text for operators that holds no secret.
    pub fn new(detail: impl Into<String>) -> Self {
        Self {
            detail: detail.into(),
            consent: None,
        }
    }

    /// A person must give consent first, at this address.
    #[must_use]
    pub fn consent_required(consent: Consent) -> Self {
        Self {
            detail: "a person must give consent first".to_owned(),
            consent: Some(consent),
        }
    }

    /// Where a person can give consent, if that is what is missing.
    #[must_use]
    pub fn consent(&self) -> Option<&Consent> {
        self.consent.as_ref()
    }
}

impl<C: Credentials + ?Sized> Credentials for Arc<C> {
    fn acquire<'a>(
        &'a self,
        facts: &'a Facts,
        need: &'a CredentialNeed,
    ) -> BoxFuture<'a, Result<Credential, CredentialError>> {
        (**self).acquire(facts, need)
    }
}

impl Credentials for NoCredentials {
    fn acquire<'a>(
        &'a self,
        _facts: &'a Facts,
        _need: &'a CredentialNeed,
    ) -> BoxFuture<'a, Result<Credential, CredentialError>> {
        Box::pin(async {
            Err(CredentialError::new(
                "no credential provider is configured; give the registry one",
            ))
        })
    }
}
