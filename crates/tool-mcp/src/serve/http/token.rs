//! What a client shows to be served.

use std::fmt;
use std::sync::Arc;

use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use subtle::ConstantTimeEq as _;
use tokio_util::sync::CancellationToken;
use tool_core::Digest;

use super::guests::{Guests, Unreadable};
use super::room::{Room, Taken};
use crate::serve::{ServeError, ServeErrorKind};

/// What a client shows to be served: a secret that it sends with every request as a bearer token.
///
/// It is never printed; [`expose`](Self::expose) gives it to whoever has to hand it on.
#[derive(Clone)]
pub struct BearerToken {
    secret: String,
    digest: Digest,
    pub(super) principal: Option<String>,
    /// What its principal has going on.
    pub(super) room: Option<Arc<Room>>,
}

/// The fewest characters of a token: who may try as often as it likes must not guess it.
const FEWEST: usize = 16;

impl BearerToken {
    /// A token of at least 16 characters, as a header can hold them: letters, digits and
    /// `-._~+/=`. White space around it, such as the end of a line of a file, is no part of it.
    ///
    /// # Errors
    /// [`ServeErrorKind::Token`] for a text that is no such token.
    pub fn new(secret: &str) -> Result<Self, ServeError> {
        let secret = secret.trim();
        let fits =
            |character: char| character.is_ascii_alphanumeric() || "-._~+/=".contains(character);
        if secret.len() < FEWEST || !secret.chars().all(fits) {
            return Err(ServeError::new(
                ServeErrorKind::Token,
                format!(
                    "token has fewer than {FEWEST} characters or other ones than letters, digits \
                     and -._~+/="
                ),
            ));
        }
        Ok(Self {
            digest: Digest::of(secret.as_bytes()),
            secret: secret.to_owned(),
            principal: None,
            room: None,
        })
    }

    /// A token that nobody can guess, of 32 random bytes.
    ///
    /// # Errors
    /// [`ServeErrorKind::Token`] when the system gives no random bytes.
    pub fn random() -> Result<Self, ServeError> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|error| {
            ServeError::new(
                ServeErrorKind::Token,
                "no token could be made up; give one by name",
            )
            .because(error)
        })?;
        Self::new(&URL_SAFE_NO_PAD.encode(bytes))
    }

    /// Sets who shows it: the principal of the calls that come with it, unless the host has given
    /// an identity to all calls. Clients of different principals share nothing; one without a
    /// handshake has its principal's name for a session.
    #[must_use]
    pub fn principal(mut self, name: impl Into<String>) -> Self {
        self.principal = Some(name.into());
        self.room = Some(Arc::default());
        self
    }

    /// What is kept of it where it is given to a client and not held.
    pub(crate) fn digest(&self) -> Digest {
        self.digest
    }

    /// The secret itself.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.secret
    }
}

impl fmt::Debug for BearerToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BearerToken")
            .field("principal", &self.principal)
            .finish_non_exhaustive()
    }
}

/// Who is served.
#[derive(Clone, Debug, Default)]
pub(crate) struct Auth {
    /// Whoever comes.
    pub(crate) anyone: bool,
    /// Whoever shows one of these.
    pub(crate) tokens: Vec<BearerToken>,
    /// Whoever shows one that is kept elsewhere.
    pub(crate) guests: Option<Arc<Guests>>,
}

/// Who makes a request.
#[derive(Default)]
pub(crate) struct Caller {
    /// The name that its token has.
    pub(crate) principal: Option<String>,
    /// Given when it is served no more; nothing where that is with the server.
    pub(crate) gone: Option<CancellationToken>,
    /// What the principal has going on, where there is one.
    pub(crate) room: Option<Arc<Room>>,
    /// What the body of the request takes, until it is answered.
    pub(crate) body: Option<Box<Taken>>,
}

/// Why a client is not served.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Turned {
    /// It showed no token.
    Missing,
    /// It showed another one.
    Wrong,
    /// Whether it showed one that is kept cannot be told.
    Unknown,
}

impl Auth {
    /// Who the client is, as far as its token says.
    pub(crate) fn check(&self, headers: &HeaderMap) -> Result<Caller, Turned> {
        if self.anyone {
            return Ok(Caller::default());
        }
        let mut shown = headers.get_all(AUTHORIZATION).iter();
        let (Some(value), None) = (shown.next(), shown.next()) else {
            return Err(Turned::Missing);
        };
        let (scheme, secret) = value
            .to_str()
            .ok()
            .and_then(|value| value.split_once(' '))
            .ok_or(Turned::Missing)?;
        if !scheme.eq_ignore_ascii_case("bearer") {
            return Err(Turned::Missing);
        }
        // Digests are of one length, and every token is looked at: how long it takes tells nothing.
        let digest = Digest::of(secret.trim().as_bytes());
        let mut found = None;
        for token in &self.tokens {
            if bool::from(token.digest.as_bytes().ct_eq(digest.as_bytes())) {
                found = Some(Caller {
                    principal: token.principal.clone(),
                    room: token.room.clone(),
                    ..Caller::default()
                });
            }
        }
        let guest = match &self.guests {
            Some(guests) => guests.find(&digest),
            None => Ok(None),
        };
        match (found, guest) {
            (Some(caller), _) | (None, Ok(Some(caller))) => Ok(caller),
            (None, Ok(None)) => Err(Turned::Wrong),
            (None, Err(Unreadable)) => Err(Turned::Unknown),
        }
    }
}
