//! Clients whose tokens are kept elsewhere, and may be revoked while a server runs.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use subtle::ConstantTimeEq as _;
use tokio_util::sync::CancellationToken;
use tool_core::Digest;

use super::room::Room;
use super::session::Sessions;
use super::token::Caller;
use super::{ClientTokens, TokensError};

/// How long it takes at most until a token that was added or revoked is.
const RECHECK: Duration = Duration::from_secs(2);

/// How long it may take to read who may come. Whoever was revoked meanwhile is served until then.
const PATIENCE: Duration = Duration::from_secs(5);

/// Clients whose tokens are kept elsewhere.
#[derive(Debug)]
pub(crate) struct Guests {
    tokens: ClientTokens,
    known: Mutex<Known>,
    /// Given when the server ends.
    gone: CancellationToken,
}

#[derive(Debug, Default)]
struct Known {
    guests: Vec<Guest>,
    /// Set while it cannot be told who may come.
    unreadable: bool,
}

#[derive(Clone, Debug)]
struct Guest {
    name: String,
    digest: Digest,
    gone: CancellationToken,
    room: Arc<Room>,
}

/// It cannot be told who may come.
#[derive(Debug)]
pub(crate) struct Unreadable;

impl Guests {
    /// Those who may come now.
    pub(crate) async fn new(
        tokens: ClientTokens,
        gone: CancellationToken,
    ) -> Result<Arc<Self>, TokensError> {
        let guests = Self {
            tokens,
            known: Mutex::default(),
            gone,
        };
        guests.look().await?;
        Ok(Arc::new(guests))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.known().guests.is_empty()
    }

    /// Who shows a token of that digest.
    pub(crate) fn find(&self, digest: &Digest) -> Result<Option<Caller>, Unreadable> {
        let known = self.known();
        if known.unreadable {
            return Err(Unreadable);
        }
        // Every one is looked at: how long it takes tells nothing.
        let mut found = None;
        for guest in &known.guests {
            if bool::from(guest.digest.as_bytes().ct_eq(digest.as_bytes())) {
                found = Some(Caller {
                    principal: Some(guest.name.clone()),
                    gone: Some(guest.gone.clone()),
                    room: Some(Arc::clone(&guest.room)),
                    body: None,
                });
            }
        }
        Ok(found)
    }

    /// Takes in what is added and revoked, for as long as the server listens. What a client whose
    /// token was revoked has going on ends.
    pub(crate) async fn look_after(self: Arc<Self>, sessions: Arc<Sessions>) {
        loop {
            tokio::time::sleep(RECHECK).await;
            match self.look().await {
                Ok(revoked) => revoked.iter().for_each(|name| sessions.end_of(name)),
                Err(error) => {
                    let was = std::mem::replace(&mut self.known().unreadable, true);
                    if !was {
                        tracing::error!(%error, "tokens of clients cannot be read; none is taken");
                    }
                }
            }
        }
    }

    /// Looks who may come, and tells who may no more.
    async fn look(&self) -> Result<Vec<String>, TokensError> {
        let listed = tokio::time::timeout(PATIENCE, self.tokens.kept()).await;
        let listed = listed.map_err(|_| TokensError::Late {
            seconds: PATIENCE.as_secs(),
        })??;
        let mut known = self.known();
        known.unreadable = false;
        let stays = |guest: &Guest| {
            let mut listed = listed.iter();
            listed.any(|(name, digest)| *name == guest.name && *digest == guest.digest)
        };
        let revoked: Vec<Guest> = known.guests.extract_if(.., |guest| !stays(guest)).collect();
        for (name, digest) in listed {
            if !known.guests.iter().any(|guest| guest.name == name) {
                known.guests.push(Guest {
                    name,
                    digest,
                    gone: self.gone.child_token(),
                    room: Arc::default(),
                });
            }
        }
        drop(known);
        for guest in &revoked {
            guest.gone.cancel();
        }
        Ok(revoked.into_iter().map(|guest| guest.name).collect())
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
