//! Artifacts in memory.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use tool_core::{
    Artifact, ArtifactDraft, ArtifactError, ArtifactMeta, ArtifactPage, ArtifactQuery, ArtifactRef,
    ArtifactScope, ArtifactStore, BoxFuture, Digest, Facts, Kept, Payload,
};

use crate::artifact_draft::{check, check_payload, mint};
use crate::artifact_limits::ArtifactLimits;
use crate::clock::{Clock, time};
use crate::shelf::{Row, Shelf};

/// An [`ArtifactStore`] in memory, gone with the process. Clones are the same store.
///
/// It is always bounded: each scope by its [`ArtifactLimits`], and the scopes to 1,024, of which
/// the one that was put into the longest ago leaves. It streams nothing, as it would hold the
/// whole.
#[derive(Clone)]
pub struct MemoryArtifacts {
    limits: ArtifactLimits,
    clock: Clock,
    scopes: Arc<Mutex<Scopes>>,
}

#[derive(Default)]
struct Scopes {
    shelves: HashMap<ArtifactScope, (u64, Shelf<Payload>)>,
    puts: u64,
}

impl MemoryArtifacts {
    /// A store with [`ArtifactLimits::MEMORY`].
    #[must_use]
    pub fn new() -> Self {
        Self {
            limits: ArtifactLimits::MEMORY,
            clock: Clock::default(),
            scopes: Arc::default(),
        }
    }

    /// Sets the limits. Call it before the store is used.
    #[must_use]
    pub fn limits(mut self, limits: ArtifactLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets where the time comes from. Defaults to [`SystemTime::now`].
    #[must_use]
    pub fn clock(mut self, now: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        self.clock = Clock::new(now);
        self
    }

    fn keep(
        &self,
        facts: &Facts,
        draft: ArtifactDraft,
        payload: Payload,
    ) -> Result<Kept, ArtifactError> {
        let now_us = self.clock.now_us();
        check_payload(&payload)?;
        let data = payload.to_bytes();
        let bytes = data.len() as u64;
        check(&draft, bytes, &self.limits, now_us)?;
        let digest = draft.digest.then(|| Digest::of(&data).to_string());

        let mut scopes = self.scopes();
        let scope = ArtifactScope::of(facts);
        let empty = Shelf::default();
        let shelf = scopes
            .shelves
            .get(&scope)
            .map_or(&empty, |(_, shelf)| shelf);
        let swept = shelf.plan(bytes, &draft.parents, &self.limits, now_us)?;
        let created_us = shelf.next_created_us(now_us);
        let end = self
            .limits
            .end(now_us, draft.expires.map(crate::clock::micros));
        let media_type = payload.media_type();
        let mut meta = ArtifactMeta::of_draft(draft, mint()?, media_type, bytes, time(created_us));
        meta.digest = digest;
        meta.expires = end.map(time);
        // Only now, as for what is refused no other scope leaves.
        let shelf = scopes.shelf(scope);
        for gone in &swept {
            shelf.remove(&gone.reference);
        }
        shelf.insert(Row {
            meta: meta.clone(),
            used_us: created_us,
            body: payload,
        });
        Ok(Kept::new(meta, swept))
    }

    fn find(&self, facts: &Facts, reference: &str) -> Option<Artifact> {
        let reference = ArtifactRef::parse(reference)?;
        let now_us = self.clock.now_us();
        let mut scopes = self.scopes();
        let (_, shelf) = scopes.shelves.get_mut(&ArtifactScope::of(facts))?;
        shelf.touch(&reference, now_us);
        let row = shelf.live(&reference, now_us)?;
        Some(Artifact::new(row.meta.kind.clone(), row.body.clone()))
    }

    fn known(&self, facts: &Facts, reference: &str) -> Option<ArtifactMeta> {
        let reference = ArtifactRef::parse(reference)?;
        let scopes = self.scopes();
        let (_, shelf) = scopes.shelves.get(&ArtifactScope::of(facts))?;
        let row = shelf.live(&reference, self.clock.now_us())?;
        Some(row.meta.clone())
    }

    fn drop_one(&self, facts: &Facts, reference: &str) {
        let Some(reference) = ArtifactRef::parse(reference) else {
            return;
        };
        let scope = ArtifactScope::of(facts);
        let mut scopes = self.scopes();
        if let Some((_, shelf)) = scopes.shelves.get_mut(&scope) {
            shelf.remove(&reference);
            if shelf.is_empty() {
                scopes.shelves.remove(&scope);
            }
        }
    }

    fn page(&self, facts: &Facts, query: &ArtifactQuery) -> Result<ArtifactPage, ArtifactError> {
        let scopes = self.scopes();
        let found = scopes.shelves.get(&ArtifactScope::of(facts));
        let now_us = self.clock.now_us();
        match found {
            Some((_, shelf)) => shelf.page(query, now_us),
            // A cursor that is none is refused here too.
            None => Shelf::<Payload>::default().page(query, now_us),
        }
    }

    fn scopes(&self) -> MutexGuard<'_, Scopes> {
        self.scopes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Scopes {
    /// The shelf of a scope that is put into.
    fn shelf(&mut self, scope: ArtifactScope) -> &mut Shelf<Payload> {
        if self.shelves.len() >= MOST_SCOPES && !self.shelves.contains_key(&scope) {
            let idle = self.shelves.iter().min_by_key(|(_, (at, _))| *at);
            if let Some(idle) = idle.map(|(scope, _)| scope.clone()) {
                self.shelves.remove(&idle);
            }
        }
        self.puts += 1;
        let (at, shelf) = self.shelves.entry(scope).or_default();
        *at = self.puts;
        shelf
    }
}

impl Default for MemoryArtifacts {
    fn default() -> Self {
        Self::new()
    }
}

impl ArtifactStore for MemoryArtifacts {
    fn get<'a>(
        &'a self,
        facts: &'a Facts,
        reference: &'a str,
    ) -> BoxFuture<'a, Result<Option<Artifact>, ArtifactError>> {
        Box::pin(async move { Ok(self.find(facts, reference)) })
    }

    fn head<'a>(
        &'a self,
        facts: &'a Facts,
        reference: &'a str,
    ) -> BoxFuture<'a, Result<Option<ArtifactMeta>, ArtifactError>> {
        Box::pin(async move { Ok(self.known(facts, reference)) })
    }

    fn put<'a>(
        &'a self,
        facts: &'a Facts,
        draft: ArtifactDraft,
        payload: Payload,
    ) -> BoxFuture<'a, Result<Kept, ArtifactError>> {
        Box::pin(async move { self.keep(facts, draft, payload) })
    }

    fn delete<'a>(
        &'a self,
        facts: &'a Facts,
        reference: &'a str,
    ) -> BoxFuture<'a, Result<(), ArtifactError>> {
        Box::pin(async move {
            self.drop_one(facts, reference);
            Ok(())
        })
    }

    fn forget(&self, facts: &Facts, reference: &str) {
        self.drop_one(facts, reference);
    }

    fn list<'a>(
        &'a self,
        facts: &'a Facts,
        query: ArtifactQuery,
    ) -> BoxFuture<'a, Result<ArtifactPage, ArtifactError>> {
        Box::pin(async move { self.page(facts, &query) })
    }
}

impl fmt::Debug for MemoryArtifacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryArtifacts")
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

const MOST_SCOPES: usize = 1_024;
