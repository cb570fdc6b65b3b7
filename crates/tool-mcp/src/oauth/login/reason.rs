//! Why a request got nowhere, for operators.

use super::{Lack, Login};
use crate::oauth::challenge::Challenge;
use crate::oauth::login_error::LoginError;

impl Login {
    /// What a person can do about a refusal, as a clause that follows on the server's name.
    pub(super) fn advice(&self, challenge: &Challenge, otherwise: &str) -> (String, Lack) {
        let server = &self.party.server;
        if challenge.insufficient {
            let scopes = challenge.scopes.join(" ");
            let wants =
                format!("wants more rights ({scopes}): `tool login {server}` asks for them");
            return (wants, Lack::Rights);
        }
        (format!("{otherwise}: `tool login {server}`"), Lack::Login)
    }

    /// An error as a clause that follows on the server's name, and who can do something about it.
    pub(super) fn told(&self, error: &LoginError) -> (String, Lack) {
        let server = &self.party.server;
        match error {
            LoginError::Unreachable { reason, .. } => (
                format!("could not be logged in to: {reason}"),
                Lack::Nothing,
            ),
            LoginError::State { source, .. } => {
                let cause = std::error::Error::source(source);
                let cause = cause.map(|cause| format!(": {cause}")).unwrap_or_default();
                (
                    format!("has a login that cannot be read{cause}"),
                    Lack::Nothing,
                )
            }
            LoginError::NotOffered { reason, .. } => (reason.clone(), Lack::Login),
            LoginError::Form { .. } => (
                format!(
                    "has a login that this version cannot read: `tool logout {server}`, then \
                     `tool login {server}`"
                ),
                Lack::Login,
            ),
            LoginError::Unsafe { reason, .. } | LoginError::Refused { reason, .. } => (
                format!("needs a login: `tool login {server}`; the last one failed: {reason}"),
                Lack::Login,
            ),
        }
    }
}
