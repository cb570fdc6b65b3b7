//! The login of one server, as requests to it need it.

mod reason;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use reqwest::header::HeaderValue;
use secrecy::{ExposeSecret as _, SecretString};
use tokio::time::{Instant, sleep};

use super::authorizer::Authorizer;
use super::challenge::{Challenge, union};
use super::discovery::Party;
use super::flow;
use super::login_error::LoginError;
use super::logins::Clock;
use super::record::{Grant, Record};
use super::renewal;
use super::shelf::Shelf;

/// How long what was read is taken for what is there. A logout elsewhere is noticed by then.
const FRESH: Duration = Duration::from_secs(5);
/// How long no other renewal is tried after one failed while the token is still good.
const PAUSE: Duration = Duration::from_secs(10);
/// How often a login elsewhere is looked for.
const LOOK: Duration = Duration::from_secs(2);
/// How often one request is sent again because its token was refused.
const MOST_ROUNDS: u32 = 2;

/// The login of one server, shared by all of its connections.
pub(crate) struct Login {
    party: Party,
    shelf: Shelf,
    authorizer: Option<Arc<dyn Authorizer>>,
    clock: Clock,
    known: Mutex<Known>,
    /// Only one of this process renews, and only one person is asked at a time.
    renewing: tokio::sync::Mutex<()>,
    opening: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct Known {
    grant: Option<Grant>,
    read: Option<Instant>,
    /// What the server said last when it refused something.
    challenge: Option<Challenge>,
    /// With which token.
    refused: Option<Held>,
    /// When a renewal failed last.
    failed: Option<Instant>,
    /// Why nothing can be sent until there is another token, if that is so.
    locked: Option<String>,
}

/// A token that a request is sent with.
#[derive(Clone, Debug)]
pub(crate) struct Held(SecretString);

/// What becomes of a request that was refused.
pub(crate) enum Next {
    /// It is sent again.
    Again,
    /// It failed, for this reason.
    Over { reason: String, lack: Lack },
}

/// What a request lacked that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lack {
    /// Nothing that a person has: another attempt may succeed.
    Nothing,
    /// Rights for this one alone.
    Rights,
    /// A login.
    Login,
}

impl Login {
    pub(crate) fn new(
        party: Party,
        shelf: Shelf,
        authorizer: Option<Arc<dyn Authorizer>>,
        clock: Clock,
    ) -> Self {
        Self {
            party,
            shelf,
            authorizer,
            clock,
            known: Mutex::default(),
            renewing: tokio::sync::Mutex::default(),
            opening: tokio::sync::Mutex::default(),
        }
    }

    /// The token to send a request with, renewed where it is about to expire; nothing where nobody
    /// is logged in.
    ///
    /// # Errors
    /// A clause that follows on the server's name, and what is lacking.
    pub(crate) async fn token(&self) -> Result<Option<Held>, (String, Lack)> {
        self.current().await.map_err(|error| {
            let (reason, lack) = self.told(&error);
            if lack == Lack::Login {
                // Only another one than this ends the wait.
                let mut known = self.known();
                known.refused = known.grant.clone().map(|grant| Held(grant.access));
            }
            self.lock_out(&reason, lack);
            (reason, lack)
        })
    }

    async fn current(&self) -> Result<Option<Held>, LoginError> {
        let Some(grant) = self.grant(FRESH).await? else {
            return Ok(None);
        };
        let now = (self.clock)();
        let used = Held(grant.access.clone());
        // Without a refresh token only a person can help, whom a refusal of the server leads to.
        if grant.refresh.is_none() || grant.due.is_none_or(|due| now < due) {
            return Ok(Some(used));
        }
        let is_good = grant.expires.is_some_and(|end| end > now);
        let one = match is_good {
            false => self.renewing.lock().await,
            // While it is, nobody waits for who renews it, nor for what failed a moment ago.
            true if self.failed_lately() => return Ok(Some(used)),
            true => match self.renewing.try_lock() {
                Ok(one) => one,
                Err(_) => return Ok(Some(used)),
            },
        };
        match self.renewed(&used, one).await {
            Ok(Some(renewed)) => Ok(Some(renewed)),
            // Nobody is logged in any more, or the refresh token is good for nothing.
            Ok(None) => {
                let left = self.grant(Duration::ZERO).await?;
                Ok(left.map(|grant| Held(grant.access)))
            }
            Err(error) if is_good => {
                let error = crate::wire::OneLine(error);
                tracing::warn!(server = self.party.server, %error, "a token could not be renewed");
                Ok(Some(used))
            }
            Err(error) => Err(error),
        }
    }

    fn failed_lately(&self) -> bool {
        let failed = self.known().failed;
        failed.is_some_and(|failed| failed.elapsed() < PAUSE)
    }

    /// Whether a request that was refused may be sent again with another token. Nobody is asked,
    /// and nothing is locked: it is one that can be done without.
    pub(crate) async fn has_other(&self, used: Option<&Held>, challenge: &Challenge) -> bool {
        !challenge.insufficient && self.other(used, challenge).await.unwrap_or(false)
    }

    /// What becomes of a request that the server answered with a challenge, after so many before
    /// it. In a session that works a person may be asked.
    pub(crate) async fn refused(
        &self,
        used: Option<&Held>,
        challenge: Challenge,
        round: u32,
        in_session: bool,
    ) -> Next {
        {
            let mut known = self.known();
            known.challenge = Some(challenge.clone());
            known.refused = used.cloned();
        }
        let over = |(reason, lack): (String, Lack)| {
            self.lock_out(&reason, lack);
            Next::Over { reason, lack }
        };
        if round >= MOST_ROUNDS {
            return over(self.advice(
                &challenge,
                "refuses what it is shown, and needs another login",
            ));
        }
        match self.other(used, &challenge).await {
            Ok(true) => return Next::Again,
            Ok(false) => {}
            Err(error) => return over(self.told(&error)),
        }
        if in_session && self.authorizer.is_some() {
            return match self.open(Some(&challenge), used).await {
                Ok(()) => Next::Again,
                Err(error) => over(self.told(&error)),
            };
        }
        over(self.advice(&challenge, "needs a login"))
    }

    /// Why nothing can be sent until there is another token, if that is so.
    pub(crate) fn locked(&self) -> Option<String> {
        self.known().locked.clone()
    }

    fn lock_out(&self, reason: &str, lack: Lack) {
        if lack == Lack::Login {
            self.known().locked = Some(reason.to_owned());
        }
    }

    /// Whether there is another token by now than the one that was refused.
    async fn other(&self, used: Option<&Held>, challenge: &Challenge) -> Result<bool, LoginError> {
        if challenge.insufficient {
            self.want(&challenge.scopes).await?;
        } else if let Some(used) = used {
            return Ok(self.renew(used).await?.is_some_and(|other| other != *used));
        }
        let grant = self.grant(Duration::ZERO).await?;
        Ok(grant.is_some_and(|grant| Some(&Held(grant.access)) != used))
    }

    /// Remembers what is missing, so that the next login asks for it, wherever it is made.
    async fn want(&self, scopes: &[String]) -> Result<(), LoginError> {
        let url = self.party.url.as_str();
        let want = |record: &mut Record| {
            let granted = record.grant.as_ref().map(|grant| grant.scopes.as_slice());
            let granted = granted.unwrap_or_default();
            let missing = |scope: &&String| !granted.contains(scope);
            let missing: Vec<_> = scopes.iter().filter(missing).cloned().collect();
            let wanted = union(record.wanted.clone(), &missing);
            let news = record.url == url && wanted.len() > record.wanted.len();
            record.wanted = wanted;
            news
        };
        self.shelf.change(want).await.map(|_| ())
    }

    /// Has a person log in and waits for it, or until somebody is logged in anew elsewhere where
    /// nobody here can be asked or too many were already. What to tell meanwhile is passed on.
    pub(crate) async fn unlock(&self, may_ask: bool, mut tell: impl FnMut(String)) {
        let (challenge, refused) = {
            let known = self.known();
            (known.challenge.clone(), known.refused.clone())
        };
        if may_ask && self.authorizer.is_some() {
            tell("waits for a person to log in".to_owned());
            match self.open(challenge.as_ref(), refused.as_ref()).await {
                Ok(()) => return,
                Err(error) => tell(self.told(&error).0),
            }
        }
        loop {
            sleep(LOOK).await;
            match self.grant(Duration::ZERO).await {
                Ok(Some(grant)) if Some(&Held(grant.access.clone())) != refused.as_ref() => return,
                Ok(_) => {}
                Err(error) => tell(self.told(&error).0),
            }
        }
    }

    /// Has a person log in, unless somebody did while others were asked.
    async fn open(
        &self,
        challenge: Option<&Challenge>,
        refused: Option<&Held>,
    ) -> Result<(), LoginError> {
        let Some(authorizer) = &self.authorizer else {
            return Ok(());
        };
        let _one = self.opening.lock().await;
        let grant = self.grant(Duration::ZERO).await?;
        if grant.is_some_and(|grant| Some(&Held(grant.access)) != refused) {
            return Ok(());
        }
        let party = &self.party;
        let opened = flow::log_in(party, &self.shelf, &**authorizer, challenge, &self.clock).await;
        self.learn(Some(opened?));
        Ok(())
    }

    async fn renew(&self, used: &Held) -> Result<Option<Held>, LoginError> {
        let one = self.renewing.lock().await;
        self.renewed(used, one).await
    }

    /// Renews as the only one of this process. Nothing where only a person can help.
    async fn renewed(
        &self,
        used: &Held,
        _one: tokio::sync::MutexGuard<'_, ()>,
    ) -> Result<Option<Held>, LoginError> {
        // Whoever waits for it may stop waiting; the task goes on.
        let renewal = tokio::spawn(renewal::renew(
            self.party.clone(),
            self.shelf.clone(),
            Arc::clone(&self.clock),
            used.0.clone(),
        ));
        let renewed = renewal.await.unwrap_or_else(|_| {
            let reason = "renewing a token ended before it was done".to_owned();
            Err(self.party.unreachable(reason))
        });
        self.known().failed = renewed.is_err().then(Instant::now);
        let Some(grant) = renewed? else {
            // What is left is found at the next look.
            self.known().read = None;
            return Ok(None);
        };
        self.learn(Some(grant.clone()));
        Ok(Some(Held(grant.access)))
    }

    /// What is kept, read again where that is longer ago.
    async fn grant(&self, fresh: Duration) -> Result<Option<Grant>, LoginError> {
        {
            let known = self.known();
            if known.read.is_some_and(|read| read.elapsed() < fresh) {
                return Ok(known.grant.clone());
            }
        }
        let (record, _) = self.shelf.read().await?;
        let grant = record.of(self.party.url.as_str()).grant;
        self.learn(grant.clone());
        Ok(grant)
    }

    fn learn(&self, grant: Option<Grant>) {
        let access = |grant: &Option<Grant>| grant.clone().map(|grant| Held(grant.access));
        let mut known = self.known();
        if access(&grant) != access(&known.grant) {
            known.locked = None;
        }
        known.grant = grant;
        known.read = Some(Instant::now());
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    /// The header that shows it.
    pub(crate) fn header(&self) -> Option<HeaderValue> {
        let mut value =
            HeaderValue::from_str(&format!("Bearer {}", self.0.expose_secret())).ok()?;
        value.set_sensitive(true);
        Some(value)
    }
}

impl PartialEq for Held {
    fn eq(&self, other: &Self) -> bool {
        self.0.expose_secret() == other.0.expose_secret()
    }
}
