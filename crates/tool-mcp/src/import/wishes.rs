//! What clients want to be told of by one server.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::timeout;

use crate::offerings::Watching;
use crate::serve::LogLevel;

/// How long a client waits at most until its wish has reached the server.
const PATIENCE: Duration = Duration::from_secs(5);

/// What clients want to be told of by one server, beyond any connection to it.
pub(crate) struct Wishes {
    wanted: Mutex<Wanted>,
    /// How often what is wanted has changed.
    told: watch::Sender<u64>,
    /// How many of these changes the server has been told of; all, where it need not be told.
    heard: watch::Sender<u64>,
}

#[derive(Default)]
struct Wanted {
    resources: BTreeMap<String, usize>,
    levels: BTreeMap<LogLevel, usize>,
}

/// One wish, which ends when it is dropped.
struct Wish {
    wishes: Arc<Wishes>,
    what: What,
}

enum What {
    Resource(String),
    Level(LogLevel),
}

impl Default for Wishes {
    fn default() -> Self {
        Self {
            wanted: Mutex::default(),
            told: watch::Sender::new(0),
            // Where nobody is connected, nobody is waited for.
            heard: watch::Sender::new(u64::MAX),
        }
    }
}

impl Wishes {
    /// Wants to be told when a resource changes. Returns once the server knows, or is too slow.
    pub(crate) async fn resource(self: &Arc<Self>, uri: String) -> Watching {
        let wish = self.wish(What::Resource(uri));
        self.reached().await;
        wish
    }

    /// Wants log messages that grave.
    pub(crate) async fn level(self: &Arc<Self>, level: LogLevel) -> Watching {
        let wish = self.wish(What::Level(level));
        self.reached().await;
        wish
    }

    /// The resources of which anybody wants to know, in order.
    pub(crate) fn resources(&self) -> Vec<String> {
        self.lock().resources.keys().cloned().collect()
    }

    /// The least grave messages that anybody wants; none where nobody said.
    pub(crate) fn least(&self) -> Option<LogLevel> {
        self.lock().levels.keys().next().copied()
    }

    /// How often what is wanted has changed.
    pub(crate) fn version(&self) -> u64 {
        *self.told.borrow()
    }

    /// Says that the server has been told of so many changes.
    pub(crate) fn heard(&self, version: u64) {
        self.heard.send_replace(version);
    }

    /// Waits for a change beyond that version.
    pub(crate) async fn changed(&self, version: u64) {
        let mut told = self.told.subscribe();
        // The sender is here, so that there is always somebody who may tell.
        let _ = told.wait_for(|told| *told > version).await;
    }

    fn wish(self: &Arc<Self>, what: What) -> Watching {
        {
            let mut wanted = self.lock();
            *match &what {
                What::Resource(uri) => wanted.resources.entry(uri.clone()).or_default(),
                What::Level(level) => wanted.levels.entry(*level).or_default(),
            } += 1;
        }
        self.told.send_modify(|told| *told += 1);
        Watching::holding(Wish {
            wishes: Arc::clone(self),
            what,
        })
    }

    async fn reached(&self) {
        let version = self.version();
        let mut heard = self.heard.subscribe();
        // A slow server is told when it listens.
        let _ = timeout(PATIENCE, heard.wait_for(|heard| *heard >= version)).await;
    }

    fn lock(&self) -> MutexGuard<'_, Wanted> {
        self.wanted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Wish {
    fn drop(&mut self) {
        fn less<K: Ord>(of: &mut BTreeMap<K, usize>, what: &K) {
            if let Some(count) = of.get_mut(what) {
                *count -= 1;
                if *count == 0 {
                    of.remove(what);
                }
            }
        }
        {
            let mut wanted = self.wishes.lock();
            match &self.what {
                What::Resource(uri) => less(&mut wanted.resources, uri),
                What::Level(level) => less(&mut wanted.levels, level),
            }
        }
        self.wishes.told.send_modify(|told| *told += 1);
    }
}
