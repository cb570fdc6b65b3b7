//! What is kept of the login to one server.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use secrecy::zeroize::Zeroizing;
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};

use super::revocation::Revoking;
use super::tokens::Tokens;

/// The format of what is kept. Others are not read.
const FORMAT: u32 = 1;

/// What is kept of the login to one server, also after it has ended: who we are to its
/// authorization server stays.
#[derive(Clone, Debug, Default)]
pub(crate) struct Record {
    /// The address of the server that the tokens are for. They are for no other.
    pub(crate) url: String,
    pub(crate) grant: Option<Grant>,
    /// Who we were registered as, at which authorization server.
    pub(crate) registered: Option<Registered>,
    /// What was found to be needed beside what there is.
    pub(crate) wanted: Vec<String>,
    /// Who is about to renew the tokens, and until when nobody else may.
    pub(crate) renewing: Option<Renewing>,
}

/// What a person granted.
#[derive(Clone, Debug)]
pub(crate) struct Grant {
    pub(crate) issuer: String,
    pub(crate) client: Client,
    pub(crate) scopes: Vec<String>,
    pub(crate) access: SecretString,
    pub(crate) refresh: Option<SecretString>,
    pub(crate) expires: Option<SystemTime>,
    /// From when on the token is renewed.
    pub(crate) due: Option<SystemTime>,
    /// Tells this login from others, which a renewal does not change. Earlier versions kept none.
    pub(crate) login: Option<String>,
    /// How it is revoked, where its authorization server says how.
    pub(crate) revoking: Option<Revoking>,
}

/// Who we are to an authorization server.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    pub(crate) id: String,
    /// The secret of a registration that we made. One that is configured is not kept: it is the
    /// operator's, who may change it.
    pub(crate) secret: Option<SecretString>,
    pub(crate) redirect_uri: String,
}

/// A client that was registered by ourselves.
#[derive(Clone, Debug)]
pub(crate) struct Registered {
    pub(crate) issuer: String,
    pub(crate) client: Client,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Renewing {
    pub(crate) by: String,
    /// In milliseconds since 1970.
    pub(crate) until: u64,
}

impl Record {
    /// Takes new tokens in, in place of those that there are.
    pub(crate) fn renew(&mut self, tokens: Tokens) {
        self.renewing = None;
        if let Some(grant) = &mut self.grant {
            grant.access = tokens.access;
            grant.expires = tokens.expires;
            grant.due = tokens.due;
            // One that is not replaced stays good (RFC 6749, section 6).
            if tokens.refresh.is_some() {
                grant.refresh = tokens.refresh;
            }
            if let Some(scopes) = tokens.scopes {
                grant.scopes = scopes;
            }
        }
    }

    /// The record as it is kept.
    pub(crate) fn write(&self) -> Result<Zeroizing<Vec<u8>>, serde_json::Error> {
        let kept = |client: &Client| KeptClient {
            id: client.id.clone(),
            secret: client.secret.as_ref().map(shown),
            redirect_uri: client.redirect_uri.clone(),
        };
        let kept = Kept {
            format: FORMAT,
            url: self.url.clone(),
            grant: self.grant.as_ref().map(|grant| KeptGrant {
                issuer: grant.issuer.clone(),
                client: kept(&grant.client),
                scopes: grant.scopes.clone(),
                access: shown(&grant.access),
                refresh: grant.refresh.as_ref().map(shown),
                expires: grant.expires.map(millis),
                due: grant.due.map(millis),
                login: grant.login.clone(),
                revoking: grant.revoking.clone(),
            }),
            registered: self.registered.as_ref().map(|registered| KeptRegistered {
                issuer: registered.issuer.clone(),
                client: kept(&registered.client),
            }),
            wanted: self.wanted.clone(),
            renewing: self.renewing.clone(),
        };
        // Grown at once, so that no copy is left behind by growing.
        let mut bytes = Zeroizing::new(Vec::with_capacity(256 * 1024));
        serde_json::to_writer(&mut *bytes, &kept)?;
        Ok(bytes)
    }

    /// Reads what was kept; nothing where it is of another format.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let kept: Kept = serde_json::from_slice(bytes).ok()?;
        if kept.format != FORMAT {
            return None;
        }
        let client = |client: KeptClient| Client {
            id: client.id,
            secret: client.secret.map(hidden),
            redirect_uri: client.redirect_uri,
        };
        Some(Self {
            url: kept.url,
            grant: kept.grant.map(|grant| Grant {
                issuer: grant.issuer,
                client: client(grant.client),
                scopes: grant.scopes,
                access: hidden(grant.access),
                refresh: grant.refresh.map(hidden),
                expires: grant.expires.map(moment),
                // Without one it is renewed at its end.
                due: grant.due.or(grant.expires).map(moment),
                login: grant.login,
                revoking: grant.revoking,
            }),
            registered: kept.registered.map(|registered| Registered {
                issuer: registered.issuer,
                client: client(registered.client),
            }),
            wanted: kept.wanted,
            renewing: kept.renewing,
        })
    }
}

/// A moment in milliseconds since 1970.
pub(crate) fn millis(moment: SystemTime) -> u64 {
    let since = moment.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

fn moment(millis: u64) -> SystemTime {
    let since = Duration::from_millis(millis);
    UNIX_EPOCH.checked_add(since).unwrap_or(UNIX_EPOCH)
}

fn shown(secret: &SecretString) -> Zeroizing<String> {
    Zeroizing::new(secret.expose_secret().to_owned())
}

fn hidden(mut text: Zeroizing<String>) -> SecretString {
    std::mem::take(&mut *text).into()
}

#[derive(Serialize, Deserialize)]
struct Kept {
    format: u32,
    url: String,
    grant: Option<KeptGrant>,
    registered: Option<KeptRegistered>,
    #[serde(default)]
    wanted: Vec<String>,
    renewing: Option<Renewing>,
}

#[derive(Serialize, Deserialize)]
struct KeptGrant {
    issuer: String,
    client: KeptClient,
    scopes: Vec<String>,
    #[serde(with = "wiped")]
    access: Zeroizing<String>,
    #[serde(with = "maybe_wiped", default)]
    refresh: Option<Zeroizing<String>>,
    expires: Option<u64>,
    due: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    login: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    revoking: Option<Revoking>,
}

#[derive(Serialize, Deserialize)]
struct KeptRegistered {
    issuer: String,
    client: KeptClient,
}

#[derive(Serialize, Deserialize)]
struct KeptClient {
    id: String,
    #[serde(with = "maybe_wiped", default)]
    secret: Option<Zeroizing<String>>,
    redirect_uri: String,
}

/// Text that is wiped once it is dropped.
mod wiped {
    use secrecy::zeroize::Zeroizing;
    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(
        text: &Zeroizing<String>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(text)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Zeroizing<String>, D::Error> {
        String::deserialize(deserializer).map(Zeroizing::new)
    }
}

/// The same where there may be none.
mod maybe_wiped {
    use secrecy::zeroize::Zeroizing;
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    #[expect(clippy::ref_option, reason = "serde gives it so")]
    pub(super) fn serialize<S: Serializer>(
        text: &Option<Zeroizing<String>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        text.as_ref()
            .map(|text| text.as_str())
            .serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Zeroizing<String>>, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?;
        Ok(text.map(Zeroizing::new))
    }
}

#[cfg(test)]
mod tests;
