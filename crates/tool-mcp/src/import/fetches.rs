//! Asking servers for lists, for everybody who wants them at the same time.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::Mutex as AsyncMutex;
use tokio::time::Instant;

use super::call_error::CallError;
use super::listing::Listing;
use super::upstream::Upstream;
use crate::offerings::OfferKind;
use crate::wire::OneLine;

/// The longest time for which a list is kept, whatever its server says.
const LONGEST: Duration = Duration::from_secs(60 * 60);

/// Lists that are being asked for. Each server is asked for one list of a kind at a time, however many
/// clients want it: those that come meanwhile share the next one, which is asked for after all of
/// them came, so that nobody gets a list that is older than their own request.
#[derive(Default)]
pub(crate) struct Fetches(Mutex<HashMap<(String, OfferKind), Weak<Lane>>>);

/// Those who want one list of one server. It is there as long as anybody is in it, and what was
/// fetched with it.
#[derive(Default)]
struct Lane {
    /// How often the list was asked for.
    begun: AtomicU64,
    /// Held by whoever asks for it. What came of it last, and the how manyth time that was.
    last: AsyncMutex<Option<(u64, Arc<Fetched>)>>,
}

/// What came of asking for a list.
pub(crate) struct Fetched {
    /// Until when it may be kept, where it may.
    pub(crate) until: Option<Instant>,
    /// Of the server when the list was asked for; a later one makes it old.
    pub(crate) generation: u64,
    /// `None` where the server did not list.
    pub(crate) listing: Option<Listing>,
}

impl Fetches {
    /// A list that was asked for after this began, or that is as good by its server's own word.
    ///
    /// # Cancel safety
    /// Dropping the future gives the request up; whoever waits for the same list asks anew.
    pub(crate) async fn list(&self, upstream: &Upstream, kind: OfferKind) -> Arc<Fetched> {
        let lane = self.lane(&upstream.name, kind);
        let mine = lane.begun.load(Ordering::SeqCst) + 1;
        let mut last = lane.last.lock().await;
        if let Some((number, fetched)) = &*last
            && (*number >= mine || fetched.is_fresh(upstream))
        {
            return Arc::clone(fetched);
        }
        let number = lane.begun.fetch_add(1, Ordering::SeqCst) + 1;
        let fetched = Arc::new(Fetched::of(upstream, kind).await);
        *last = Some((number, Arc::clone(&fetched)));
        fetched
    }

    fn lane(&self, server: &str, kind: OfferKind) -> Arc<Lane> {
        let mut lanes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let there = lanes.entry((server.to_owned(), kind)).or_default();
        there.upgrade().unwrap_or_else(|| {
            let lane = Arc::default();
            *there = Arc::downgrade(&lane);
            lane
        })
    }
}

impl Fetched {
    async fn of(upstream: &Upstream, kind: OfferKind) -> Self {
        let generation = upstream.generation();
        let listing = match fetch(upstream, kind).await {
            Ok(listing) => Some(listing),
            Err(error) => {
                let (server, method) = (upstream.name.as_str(), kind.list_method());
                let error = OneLine(error);
                tracing::warn!(server, method, %error, "server did not list");
                None
            }
        };
        let age = listing.as_ref().map_or(0, |listing| listing.ttl_ms);
        let age = Duration::from_millis(age).min(LONGEST);
        Self {
            until: (!age.is_zero()).then(|| Instant::now() + age),
            generation,
            listing,
        }
    }

    /// Whether it is what the server lists now.
    pub(crate) fn is_fresh(&self, upstream: &Upstream) -> bool {
        let is_kept = self.until.is_some_and(|until| Instant::now() < until);
        is_kept && self.generation == upstream.generation()
    }
}

async fn fetch(upstream: &Upstream, kind: OfferKind) -> Result<Listing, CallError> {
    let connection = upstream.line.get()?;
    Listing::fetch(&connection, kind.list_method(), kind.list_member()).await
}
