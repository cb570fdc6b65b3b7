//! The artifacts of one scope, in memory.

use std::collections::{BTreeSet, HashMap};
use std::ops::Bound;

use tool_core::{
    ArtifactError, ArtifactErrorKind, ArtifactMeta, ArtifactPage, ArtifactQuery, ArtifactRef,
    SweepReason, SweptArtifact,
};

use crate::artifact_limits::ArtifactLimits;
use crate::artifact_plan::{ArtifactRow, plan_artifacts};
use crate::clock::micros;

/// The artifacts of one scope, each with something of the store's own.
#[derive(Debug)]
pub(crate) struct Shelf<B> {
    rows: HashMap<ArtifactRef, Row<B>>,
    by_age: BTreeSet<(u64, ArtifactRef)>,
    by_end: BTreeSet<(u64, ArtifactRef)>,
    bytes: u64,
}

#[derive(Debug)]
pub(crate) struct Row<B> {
    pub(crate) meta: ArtifactMeta,
    pub(crate) used_us: u64,
    pub(crate) body: B,
}

impl<B> Row<B> {
    fn created_us(&self) -> u64 {
        micros(self.meta.created)
    }

    fn expires_us(&self) -> Option<u64> {
        self.meta.expires.map(micros)
    }
}

impl<B> Default for Shelf<B> {
    fn default() -> Self {
        Self {
            rows: HashMap::new(),
            by_age: BTreeSet::new(),
            by_end: BTreeSet::new(),
            bytes: 0,
        }
    }
}

impl<B> Shelf<B> {
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub(crate) fn references(&self) -> impl Iterator<Item = &ArtifactRef> {
        self.rows.keys()
    }

    /// An artifact that has not had its time.
    pub(crate) fn live(&self, reference: &ArtifactRef, now_us: u64) -> Option<&Row<B>> {
        let row = self.rows.get(reference)?;
        row.expires_us().is_none_or(|at| at > now_us).then_some(row)
    }

    pub(crate) fn insert(&mut self, row: Row<B>) {
        let reference = row.meta.reference.clone();
        self.remove(&reference);
        self.by_age.insert((row.created_us(), reference.clone()));
        if let Some(at) = row.expires_us() {
            self.by_end.insert((at, reference.clone()));
        }
        self.bytes += row.meta.bytes;
        self.rows.insert(reference, row);
    }

    pub(crate) fn remove(&mut self, reference: &ArtifactRef) -> Option<Row<B>> {
        let row = self.rows.remove(reference)?;
        self.by_age.remove(&(row.created_us(), reference.clone()));
        if let Some(at) = row.expires_us() {
            self.by_end.remove(&(at, reference.clone()));
        }
        self.bytes -= row.meta.bytes;
        Some(row)
    }

    /// Takes note that an artifact was got.
    pub(crate) fn touch(&mut self, reference: &ArtifactRef, now_us: u64) {
        if let Some(row) = self.rows.get_mut(reference) {
            row.used_us = row.used_us.max(now_us);
        }
    }

    /// A time for the next artifact, later than that of every other, so that their order is that
    /// in which they came whatever the clock does.
    pub(crate) fn next_created_us(&self, now_us: u64) -> u64 {
        let newest = self.by_age.last().map_or(0, |(at, _)| at.saturating_add(1));
        now_us.max(newest)
    }

    /// The place of the newest in the order of a list.
    #[cfg(feature = "object-store")]
    pub(crate) fn newest(&self) -> Option<&(u64, ArtifactRef)> {
        self.by_age.last()
    }

    /// The place that a cursor names, where there is an artifact.
    #[cfg(feature = "object-store")]
    pub(crate) fn place_of(&self, cursor: &str) -> Option<(u64, ArtifactRef)> {
        let place = parse_cursor(cursor).ok()?;
        self.by_age.contains(&place).then_some(place)
    }

    /// The artifacts that have had their time.
    pub(crate) fn expired(&self, now_us: u64) -> Vec<ArtifactRef> {
        let expired = self.by_end.iter().take_while(|(at, _)| *at <= now_us);
        expired.map(|(_, reference)| reference.clone()).collect()
    }

    /// What has to leave for an artifact of so many bytes with these parents, which are proven.
    pub(crate) fn plan(
        &self,
        bytes: u64,
        parents: &[ArtifactRef],
        limits: &ArtifactLimits,
        now_us: u64,
    ) -> Result<Vec<SweptArtifact>, ArtifactError> {
        let unresolved: Vec<ArtifactRef> = parents
            .iter()
            .filter(|parent| self.live(parent, now_us).is_none())
            .cloned()
            .collect();
        if !unresolved.is_empty() {
            return Err(ArtifactError::unknown_parents(unresolved));
        }
        let is_over = self.rows.len() >= limits.max_count.get()
            || self.bytes.saturating_add(bytes) > limits.max_bytes.get()
            || self.by_end.first().is_some_and(|(at, _)| *at <= now_us);
        if !is_over {
            return Ok(Vec::new());
        }
        let rows: Vec<ArtifactRow<'_>> = self
            .rows
            .iter()
            .map(|(reference, row)| ArtifactRow {
                reference,
                bytes: row.meta.bytes,
                used: row.used_us,
                expires: row.expires_us(),
                stays: parents.contains(reference),
            })
            .collect();
        let plan = plan_artifacts(&rows, bytes, limits, now_us).map_err(|no_room| {
            ArtifactError::of(ArtifactErrorKind::TooLarge, no_room.to_string())
        })?;
        let swept = plan.into_iter();
        Ok(swept
            .filter_map(|(reference, reason)| self.swept(&reference, reason))
            .collect())
    }

    pub(crate) fn swept(
        &self,
        reference: &ArtifactRef,
        reason: SweepReason,
    ) -> Option<SweptArtifact> {
        let meta = &self.rows.get(reference)?.meta;
        Some(SweptArtifact::new(
            reference.clone(),
            meta.kind.clone(),
            meta.bytes,
            reason,
        ))
    }

    /// A page of the list, the newest first.
    pub(crate) fn page(
        &self,
        query: &ArtifactQuery,
        now_us: u64,
    ) -> Result<ArtifactPage, ArtifactError> {
        let after = query.after.as_deref().map(parse_cursor).transpose()?;
        let below = after.map_or(Bound::Unbounded, Bound::Excluded);
        let mut older = self
            .by_age
            .range((Bound::Unbounded, below))
            .rev()
            .filter_map(|(_, reference)| self.live(reference, now_us))
            .filter(|row| {
                query
                    .kind
                    .as_ref()
                    .is_none_or(|kind| row.meta.kind == *kind)
            });
        let limit = query.limit.unwrap_or(ArtifactQuery::DEFAULT).get();
        let limit = limit.min(MOST_LISTED);
        let artifacts: Vec<ArtifactMeta> = older
            .by_ref()
            .take(limit)
            .map(|row| row.meta.clone())
            .collect();
        let is_last = older.next().is_none();
        let next = artifacts.last().filter(|_| !is_last).map(cursor);
        Ok(ArtifactPage::new(artifacts, next))
    }
}

/// Names a place in the order of a list: the time and the reference of the artifact before it.
fn cursor(last: &ArtifactMeta) -> String {
    format!("{:016x}-{}", micros(last.created), last.reference)
}

fn parse_cursor(text: &str) -> Result<(u64, ArtifactRef), ArtifactError> {
    let parsed = text.split_once('-').and_then(|(at, reference)| {
        let at = u64::from_str_radix(at, 16).ok()?;
        Some((at, ArtifactRef::parse(reference)?))
    });
    parsed.ok_or_else(|| {
        let detail = "what was given to go on after is no cursor of an artifact list";
        ArtifactError::of(ArtifactErrorKind::Invalid, detail)
    })
}

/// The most artifacts of one page, whatever is asked for.
const MOST_LISTED: usize = 1_000;
