//! Sessions whose outputs stay, told to all who use a bucket.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use object_store::PutMode;
use tool_core::{Digest, SessionId};

use crate::bucket::{Bucket, Cause};
use crate::pin::{SessionPin, Unpins};

/// The sessions that are pinned here, and what others say of theirs.
///
/// A pinned session has an object whose name says until when it is to be believed. It is renewed
/// with what the session writes and with every sweep, and nobody takes it away: a process that dies
/// renews no more.
#[derive(Debug)]
pub(crate) struct Lives {
    bucket: Bucket,
    held: Mutex<HashMap<SessionId, Held>>,
}

#[derive(Debug, Default)]
struct Held {
    guards: usize,
    told_until_us: u64,
}

/// The sessions that are live anywhere, by their names.
pub(crate) struct Live(HashSet<String>);

impl Lives {
    pub(crate) fn new(bucket: Bucket) -> Self {
        Self {
            bucket,
            held: Mutex::default(),
        }
    }

    pub(crate) fn pin(self: Arc<Self>, session: SessionId) -> SessionPin {
        self.held().entry(session.clone()).or_default().guards += 1;
        SessionPin::of(self, session)
    }

    pub(crate) fn is_held(&self, session: &SessionId) -> bool {
        self.held().contains_key(session)
    }

    /// Tells others of one pinned session, or of all, where they believe it for less than half of
    /// the time yet.
    pub(crate) async fn tell(&self, only: Option<&SessionId>, now_us: u64) {
        let due = now_us.saturating_add(BELIEVED / 2);
        let untold: Vec<SessionId> = self
            .held()
            .iter()
            .filter(|(session, held)| {
                held.told_until_us < due && only.is_none_or(|only| only == *session)
            })
            .map(|(session, _)| session.clone())
            .collect();
        for session in untold {
            let until_us = now_us.saturating_add(BELIEVED);
            let name = format!("{FOLDER}/{}-{until_us:016x}", name_of(&session));
            let told = self.bucket.put(&name, Vec::new(), PutMode::Overwrite).await;
            match told {
                Ok(_) => {
                    if let Some(held) = self.held().get_mut(&session) {
                        held.told_until_us = until_us;
                    }
                }
                Err(error) => {
                    let error = Cause(error);
                    tracing::warn!(%error, "other gateways do not see that a session is live");
                }
            }
        }
    }

    /// The sessions that are live. What is no longer believed is removed where that is asked for.
    pub(crate) async fn live(
        &self,
        now_us: u64,
        removes: bool,
    ) -> Result<Live, object_store::Error> {
        let mut live: HashSet<String> = self.held().keys().map(name_of).collect();
        for listed in self.bucket.list(FOLDER).await? {
            let said = listed.name.split_once('-');
            let said = said
                .and_then(|(session, until)| Some((session, u64::from_str_radix(until, 16).ok()?)));
            match said {
                Some((session, until_us)) if until_us > now_us => {
                    live.insert(session.to_owned());
                }
                Some(_) if removes => {
                    let name = format!("{FOLDER}/{}", listed.name);
                    self.bucket.delete(&name).await?;
                }
                Some(_) | None => {}
            }
        }
        Ok(Live(live))
    }

    fn held(&self) -> MutexGuard<'_, HashMap<SessionId, Held>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Unpins for Lives {
    fn unpin(&self, session: &SessionId) {
        let mut held = self.held();
        if let Some(pin) = held.get_mut(session) {
            pin.guards -= 1;
            if pin.guards == 0 {
                held.remove(session);
            }
        }
    }
}

impl Live {
    pub(crate) fn holds(&self, session: &SessionId) -> bool {
        self.0.contains(&name_of(session))
    }
}

/// The name tells nothing of the session, whose id may be a secret of the host.
fn name_of(session: &SessionId) -> String {
    Digest::of(session.as_str().as_bytes()).hex()
}

const FOLDER: &str = "live";
/// How long a session is believed to be live: three hours, as gateways sweep once an hour.
const BELIEVED: u64 = 3 * 60 * 60 * 1_000_000;
