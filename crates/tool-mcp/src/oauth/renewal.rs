//! New tokens for old ones.

use std::time::Duration;

use rmcp::transport::auth::{
    AuthError, CredentialStore as _, InMemoryCredentialStore, StoredCredentials,
};
use secrecy::{ExposeSecret as _, SecretString};
use tokio::time::{sleep, timeout};

use super::discovery::Party;
use super::flow::configure;
use super::login_error::LoginError;
use super::logins::Clock;
use super::quiet::quiet;
use super::record::{Grant, Record, Renewing, millis};
use super::revocation::{Revocation, revoke};
use super::shelf::Shelf;
use super::tokens::{Tokens, response};
use super::web::Trouble;

/// How long nobody else renews while somebody does. Whoever has not succeeded by then is gone.
const LEASE: Duration = Duration::from_secs(60);
/// How long it may take: less, so that what comes of it is kept in time.
const PATIENCE: Duration = Duration::from_secs(50);
/// How often it is tried to keep what came of it, and how long is waited after the first failure:
/// twice as long after each other one, and all within the lease.
const MOST_ATTEMPTS: u32 = 6;
const FIRST_WAIT: Duration = Duration::from_millis(100);
/// How often it is looked whether somebody else is done.
const LOOK: Duration = Duration::from_millis(100);

/// How one attempt ended that brought no tokens.
enum Failure {
    /// The token is good for nothing any more.
    Dead,
    Passing(LoginError),
}

/// Gets new tokens in place of one that is refused or about to expire: those that somebody else got
/// meanwhile, in whatever process, else by the refresh token. Of all that want to at once exactly
/// one asks for them, as many servers take each refresh token once. Nothing where only a person
/// can help.
///
/// It must not be dropped half-way: new tokens would be lost and the old ones be good for nothing.
pub(crate) async fn renew(
    party: Party,
    shelf: Shelf,
    clock: Clock,
    used: SecretString,
) -> Result<Option<Grant>, LoginError> {
    loop {
        let (record, version) = shelf.read().await?;
        let record = record.of(party.url.as_str());
        let Some(grant) = record.grant.clone() else {
            return Ok(None);
        };
        if grant.access.expose_secret() != used.expose_secret() {
            return Ok(Some(grant));
        }
        let Some(refresh) = grant.refresh.clone() else {
            return Ok(None);
        };
        let now = millis(clock());
        if let Some(renewing) = &record.renewing
            && renewing.holds(&clock)
        {
            sleep(LOOK).await;
            continue;
        }
        let lease = Renewing {
            by: nonce(),
            until: now.saturating_add(millis_of(LEASE)),
        };
        let mut taken = record;
        taken.renewing = Some(lease.clone());
        if !shelf.write(&taken, version.as_ref()).await? {
            continue;
        }
        let attempt = timeout(PATIENCE, exchange(&party, &grant, &refresh, &clock)).await;
        let attempt = attempt.unwrap_or_else(|_| {
            let reason = "the authorization server did not renew a token in time".to_owned();
            Err(Failure::Passing(party.unreachable(reason)))
        });
        // What a person did meanwhile stays as it is.
        let is_ours = |record: &Record| record.renewing.as_ref() == Some(&lease);
        match attempt {
            Ok(tokens) => {
                // Also where somebody else took the lease: of a token that is good once there is
                // nothing else to come.
                let mut ended = false;
                keep(&shelf, |record| {
                    let is_old = is_of(record, &party, &used);
                    if is_old {
                        record.renew(tokens.clone());
                    }
                    ended = !is_old && is_over(record, &party, &grant, &tokens);
                    is_old
                })
                .await?;
                if ended {
                    // Also where there is another login by now: a process that is about to end
                    // would drop what nobody waits for.
                    end(&party, grant, tokens).await;
                }
            }
            Err(failure) => {
                let dead = matches!(failure, Failure::Dead);
                let give_up = |record: &mut Record| {
                    let ours = is_ours(record);
                    if ours {
                        record.renewing = None;
                        if let Some(grant) = record.grant.as_mut().filter(|_| dead) {
                            grant.refresh = None;
                        }
                    }
                    ours
                };
                keep(&shelf, give_up).await?;
                if let Failure::Passing(error) = failure {
                    return Err(error);
                }
            }
        }
        // The next look finds what is there now.
    }
}

/// Whether a login was ended or another one made while its tokens were got, so that nobody keeps
/// them. Where somebody else has renewed the same login, revoking these may end what they got; and
/// what the other login has may be the same tokens. A login without a name is no other for certain:
/// an earlier version that writes it back keeps none.
fn is_over(record: &Record, party: &Party, grant: &Grant, tokens: &Tokens) -> bool {
    let Some(now) = &record.grant else {
        return true;
    };
    let is_renamed = now.login.is_some() && now.login != grant.login;
    let is_other = record.url != party.url.as_str() || is_renamed;
    let refresh = tokens.refresh.as_ref().or(grant.refresh.as_ref());
    let shared =
        is_same(Some(&now.access), Some(&tokens.access)) || is_same(now.refresh.as_ref(), refresh);
    is_other && !shared
}

fn is_same(one: Option<&SecretString>, other: Option<&SecretString>) -> bool {
    one.zip(other)
        .is_some_and(|(one, other)| one.expose_secret() == other.expose_secret())
}

/// Revokes tokens of a login that was ended or replaced while they were got: whoever did it did not
/// know them. Those of the other login are not told of; a server that has one consent for all
/// logins of a client may end them with these (RFC 7009, section 2.1).
async fn end(party: &Party, mut grant: Grant, tokens: Tokens) {
    grant.access = tokens.access;
    grant.refresh = tokens.refresh.or(grant.refresh);
    let revocation = quiet(revoke(party.url.as_str(), &grant, &party.client)).await;
    if revocation != Revocation::Done {
        let server = party.server.as_str();
        tracing::warn!(server, ?revocation, "a renewed login was not revoked");
    }
}

impl Renewing {
    /// Whether nobody else may renew now.
    pub(crate) fn holds(&self, clock: &Clock) -> bool {
        let now = millis(clock());
        // Whoever has a clock that is far ahead does not hold everybody off.
        self.until > now && self.until - now <= 2 * millis_of(LEASE)
    }
}

/// Changes what is kept, again where the state fails: what came of a renewal is there only once.
async fn keep(
    shelf: &Shelf,
    mut change: impl FnMut(&mut Record) -> bool,
) -> Result<(), LoginError> {
    let mut wait = FIRST_WAIT;
    for _ in 1..MOST_ATTEMPTS {
        match shelf.change(&mut change).await {
            Err(error @ LoginError::State { .. }) => {
                tracing::warn!(%error, "what came of a renewal could not be kept yet");
            }
            other => return other.map(|_| ()),
        }
        sleep(wait).await;
        wait *= 2;
    }
    shelf.change(change).await.map(|_| ())
}

/// Whether a record still has the token of this server that was to be replaced.
fn is_of(record: &Record, party: &Party, used: &SecretString) -> bool {
    let access = record.grant.as_ref().map(|grant| &grant.access);
    record.url == party.url.as_str() && is_same(access, Some(used))
}

/// Asks for new tokens where the server is logged in to now, if that is who gave the old ones.
async fn exchange(
    party: &Party,
    grant: &Grant,
    refresh: &SecretString,
    clock: &Clock,
) -> Result<Tokens, Failure> {
    let passing = Failure::Passing;
    let mut found = party.discover(None).await.map_err(passing)?;
    if found.issuer != grant.issuer {
        // What one gave is nobody else's business.
        return Err(Failure::Dead);
    }
    configure(party, &mut found, &grant.client).map_err(passing)?;
    let unreadable = || party.unreachable("the tokens that are kept are of no use".to_owned());
    let kept = response(&grant.access, refresh).ok_or_else(|| passing(unreadable()))?;
    let kept = StoredCredentials::new(
        grant.client.id.clone(),
        Some(kept),
        grant.scopes.clone(),
        None,
    );
    let store = InMemoryCredentialStore::new();
    let saved = store.save(kept).await;
    saved.map_err(|_| passing(unreadable()))?;
    found.manager.set_credential_store(store);
    match quiet(found.manager.refresh_token()).await {
        Ok(response) => Tokens::read(&response, clock())
            .map_err(|problem| passing(party.unreachable(problem.to_owned()))),
        Err(AuthError::TokenRefreshRejected(_) | AuthError::AuthorizationRequired) => {
            Err(Failure::Dead)
        }
        Err(error) => match found.web.trouble() {
            // A client that is not known any more has no tokens. One that was refused for a secret
            // that is configured has them: the operator can set it right.
            Some(Trouble::Refused { code, .. })
                if code == "unauthorized_client"
                    || (code == "invalid_client" && party.client.secret.is_none()) =>
            {
                Err(Failure::Dead)
            }
            Some(trouble) => Err(passing(party.troubled(trouble))),
            None => Err(passing(party.failed(&error, &found.web))),
        },
    }
}

fn millis_of(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Tells one attempt or login from all others.
pub(crate) fn nonce() -> String {
    let mut bytes = [0_u8; 16];
    // Without randomness two of one process at one moment are one, which nobody notices.
    let _ = getrandom::fill(&mut bytes);
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
