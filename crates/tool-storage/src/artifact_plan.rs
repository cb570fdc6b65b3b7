//! What has to leave when an artifact comes.

use thiserror::Error;
use tool_core::{ArtifactRef, SweepReason};

use crate::artifact_limits::ArtifactLimits;

/// What a plan has to know of an artifact that is there.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ArtifactRow<'a> {
    /// Its reference.
    pub reference: &'a ArtifactRef,
    /// Its bytes.
    pub bytes: u64,
    /// When it was put or last got, in any unit that grows.
    pub used: u64,
    /// From when on it is gone, in the unit of the plan's time.
    pub expires: Option<u64>,
    /// Whether it stays, as it is a parent of what comes.
    pub stays: bool,
}

/// An artifact for which no room can be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("an artifact of {bytes} bytes does not fit in {limit} bytes{}", if *.is_alone { "" } else { " beside what must stay" })]
pub struct NoRoom {
    bytes: u64,
    limit: u64,
    is_alone: bool,
}

impl<'a> ArtifactRow<'a> {
    /// An artifact that may leave and has no end.
    #[must_use]
    pub fn new(reference: &'a ArtifactRef, bytes: u64, used: u64) -> Self {
        Self {
            reference,
            bytes,
            used,
            expires: None,
            stays: false,
        }
    }
}

/// What leaves for an artifact of so many bytes, in order and with the reason: first what has had
/// its time, then what was used the longest ago while there are too many, then while they are too
/// large together. Of two that were used at the same time the lesser reference leaves first.
///
/// A function of its arguments and nothing else. `now` is in the unit of
/// [`expires`](ArtifactRow::expires).
///
/// # Errors
/// [`NoRoom`] when the artifact is larger than the limit, or does not fit beside what stays.
/// Nothing leaves then.
///
/// ```
/// use tool_core::{ArtifactRef, SweepReason};
/// use tool_storage::{ArtifactLimits, ArtifactRow, plan_artifacts};
///
/// let (old, new) = (ArtifactRef::from("old"), ArtifactRef::from("new"));
/// let rows = [ArtifactRow::new(&new, 10, 2), ArtifactRow::new(&old, 10, 1)];
/// let limits = ArtifactLimits::MEMORY.max_count(2.try_into()?);
/// assert_eq!(plan_artifacts(&rows, 5, &limits, 0)?, [(old, SweepReason::Count)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn plan_artifacts(
    rows: &[ArtifactRow<'_>],
    bytes: u64,
    limits: &ArtifactLimits,
    now: u64,
) -> Result<Vec<(ArtifactRef, SweepReason)>, NoRoom> {
    let limit = limits.max_bytes.get();
    let no_room = |is_alone| NoRoom {
        bytes,
        limit,
        is_alone,
    };
    if bytes > limit {
        return Err(no_room(true));
    }
    let (expired, mut live): (Vec<&ArtifactRow<'_>>, Vec<_>) = rows
        .iter()
        .partition(|row| !row.stays && row.expires.is_some_and(|at| at <= now));
    let mut plan: Vec<_> = expired
        .into_iter()
        .map(|row| (row.reference.clone(), SweepReason::Expired))
        .collect();
    plan.sort_by(|(a, _), (b, _)| a.cmp(b));

    let mut count = live.len();
    let mut held: u64 = live.iter().map(|row| row.bytes).sum();
    live.retain(|row| !row.stays);
    live.sort_by(|a, b| (a.used, a.reference).cmp(&(b.used, b.reference)));
    let mut leaving = live.into_iter();
    loop {
        let reason = if count >= limits.max_count.get() {
            SweepReason::Count
        } else if held.saturating_add(bytes) > limit {
            SweepReason::Bytes
        } else {
            return Ok(plan);
        };
        let row = leaving.next().ok_or(no_room(false))?;
        count -= 1;
        held -= row.bytes;
        plan.push((row.reference.clone(), reason));
    }
}
