//! The claims of a bucket's state.

use std::collections::BTreeMap;

/// The claims of one shard: a line with the latest moment of those that were forgotten, then a line
/// for each that lives: the digest of its key, its moment in microseconds, and the mark of who made
/// it. A put that is sent again as its answer was lost is told that somebody was faster, and of those
/// may be one who claimed another key: the mark then tells that the claim is one's own.
///
/// # Why claims share objects
/// A claim of its own object would have to be deleted when its moment has passed, and object stores
/// delete without conditions. Whoever sweeps would look at a claim that is over and delete a name;
/// between the two another process may have swept the same and a third have claimed the key anew, so
/// that the delete takes a live claim away and two callers win. A tombstone put under a condition does
/// not help, as it has to be deleted in the end as well. So nothing is ever deleted: a claim is a line
/// of one of 256 objects, which are changed under the condition that nobody was faster, as values
/// are. A sweep that comes too late finds another version and looks again.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Claims {
    forgotten_us: u64,
    live: BTreeMap<String, Claim>,
}

#[derive(Debug, PartialEq, Eq)]
struct Claim {
    until_us: u64,
    mark: String,
}

impl Claims {
    /// Reads a shard; `None` for what is none.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let mut lines = std::str::from_utf8(bytes).ok()?.lines();
        let forgotten_us = lines.next()?.parse().ok()?;
        let live = lines.map(|line| {
            let (digest, claim) = line.split_once(' ')?;
            let (until, mark) = claim.split_once(' ')?;
            let (until_us, mark) = (until.parse().ok()?, mark.to_owned());
            Some((digest.to_owned(), Claim { until_us, mark }))
        });
        Some(Self {
            forgotten_us,
            live: live.collect::<Option<_>>()?,
        })
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut text = format!("{}\n", self.forgotten_us);
        for (digest, Claim { until_us, mark }) in &self.live {
            text.push_str(&format!("{digest} {until_us} {mark}\n"));
        }
        text.into_bytes()
    }

    /// Forgets what is over, and takes note of the latest of it, so that nothing of it counts as new
    /// again whatever clocks do. Whether there was any.
    pub(crate) fn forget(&mut self, now_us: u64) -> bool {
        let before = self.live.len();
        let forgotten = &mut self.forgotten_us;
        self.live.retain(|_, claim| {
            let lives = claim.until_us >= now_us;
            if !lives {
                *forgotten = (*forgotten).max(claim.until_us);
            }
            lives
        });
        self.live.len() < before
    }

    /// Whether the claim of a key was made under this mark.
    pub(crate) fn is_by(&self, digest: &str, mark: &str) -> bool {
        self.live
            .get(digest)
            .is_some_and(|claim| claim.mark == mark)
    }

    /// Adds a claim. `false` where the key is claimed, or may be one of those that were forgotten.
    pub(crate) fn add(&mut self, digest: &str, until_us: u64, mark: &str) -> bool {
        let is_new = until_us > self.forgotten_us && !self.live.contains_key(digest);
        if is_new {
            let mark = mark.to_owned();
            self.live
                .insert(digest.to_owned(), Claim { until_us, mark });
        }
        is_new
    }
}
