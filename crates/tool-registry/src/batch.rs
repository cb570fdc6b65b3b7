//! Many calls at once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::StreamExt as _;
use futures_util::stream;
use serde_json::Value;
use tokio::sync::{
    Mutex as AsyncMutex, OwnedMutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard,
};
use tool_core::{Call, Concurrency, Facts, Identity, Settlement, canonical_json};

use crate::{Door, Entry, Settling, Snapshot, pipeline};

/// Settles a batch, one settlement for each position.
pub(crate) async fn settle_all(
    snapshot: &Snapshot,
    calls: Vec<Call>,
    facts: &Facts,
) -> Vec<Settlement> {
    let turnstile = Turnstile::default();
    let limit = snapshot.services.batch_concurrency.get();
    let settling = calls.into_iter().enumerate().map(|(position, call)| {
        let settling = Settling::new(snapshot.clone(), call, facts.clone()).door(Door::Model);
        let turnstile = &turnstile;
        async move {
            (
                position,
                pipeline::settle_in(settling, Some(turnstile)).await,
            )
        }
    });
    let mut settled: Vec<_> = stream::iter(settling)
        .buffer_unordered(limit)
        .collect()
        .await;
    settled.sort_unstable_by_key(|(position, _)| *position);
    settled
        .into_iter()
        .map(|(_, settlement)| settlement)
        .collect()
}

/// A tool, and the canonical value of its concurrency key.
type Key = (Identity, String);

/// Lets the handlers of one batch run beside each other as their classes allow.
#[derive(Debug, Default)]
pub(crate) struct Turnstile {
    /// Read by calls that run beside others, written by calls that run alone.
    alone: RwLock<()>,
    keys: Mutex<HashMap<Key, Arc<AsyncMutex<()>>>>,
}

/// The leave to run now.
pub(crate) enum Turn<'a> {
    Alone(#[expect(dead_code, reason = "held, not read")] RwLockWriteGuard<'a, ()>),
    Beside(
        #[expect(dead_code, reason = "held, not read")] RwLockReadGuard<'a, ()>,
        #[expect(dead_code, reason = "held, not read")] Option<OwnedMutexGuard<()>>,
    ),
}

impl Turnstile {
    /// Waits until a call may run.
    pub(crate) async fn enter(&self, entry: &Entry, arguments: &Value) -> Turn<'_> {
        let class = &entry.tool().declarations().concurrency;
        let key = match class {
            Concurrency::Exclusive => return Turn::Alone(self.alone.write().await),
            Concurrency::ByKey(_) => {
                // Waited for before the turnstile itself: who waits for a key holds nobody up.
                let key = class.key(arguments).map(canonical_json).unwrap_or_default();
                Some(self.key(entry.identity().clone(), key).lock_owned().await)
            }
            _ => None,
        };
        Turn::Beside(self.alone.read().await, key)
    }

    fn key(&self, identity: Identity, key: String) -> Arc<AsyncMutex<()>> {
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(keys.entry((identity, key)).or_default())
    }
}
