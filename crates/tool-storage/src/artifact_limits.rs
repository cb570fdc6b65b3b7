//! How many artifacts are kept in each scope, and for how long.

use std::num::{NonZeroU64, NonZeroUsize};
use std::time::Duration;

/// The limits of an artifact store. They hold for each scope by itself.
///
/// Bytes are bytes of payload, records are not counted. Zero cannot be said.
///
/// ```
/// use std::num::NonZeroUsize;
/// use tool_storage::ArtifactLimits;
///
/// let few = NonZeroUsize::new(10).ok_or("zero")?;
/// let limits = ArtifactLimits::MEMORY.max_count(few);
/// assert_eq!(limits, ArtifactLimits::MEMORY.max_count(few));
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArtifactLimits {
    pub(crate) max_bytes: NonZeroU64,
    pub(crate) max_count: NonZeroUsize,
    pub(crate) time_to_live: Option<Duration>,
}

impl ArtifactLimits {
    /// 32 MiB, 256 artifacts, no end. What a store in memory has unless said otherwise.
    pub const MEMORY: Self = Self {
        max_bytes: NonZeroU64::new(32 << 20).unwrap(),
        max_count: NonZeroUsize::new(256).unwrap(),
        time_to_live: None,
    };

    /// 256 MiB, 4,096 artifacts, 7 days. What a store on disk has unless said otherwise.
    pub const DISK: Self = Self {
        max_bytes: NonZeroU64::new(256 << 20).unwrap(),
        max_count: NonZeroUsize::new(4_096).unwrap(),
        time_to_live: Some(Duration::from_secs(7 * 24 * 60 * 60)),
    };

    /// Sets the most bytes of all payloads together, inclusive.
    #[must_use]
    pub fn max_bytes(mut self, bytes: NonZeroU64) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// Sets the most artifacts, inclusive.
    #[must_use]
    pub fn max_count(mut self, count: NonZeroUsize) -> Self {
        self.max_count = count;
        self
    }

    /// Sets how long an artifact is kept; `None` for no end. An artifact may say a sooner one for
    /// itself, never a later.
    #[must_use]
    pub fn time_to_live(mut self, time: Option<Duration>) -> Self {
        self.time_to_live = time;
        self
    }

    /// When what is put now ends, in microseconds since 1970.
    pub(crate) fn end(&self, now_us: u64, own_us: Option<u64>) -> Option<u64> {
        let common = self.time_to_live.map(|time| {
            let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
            now_us.saturating_add(micros)
        });
        match (common, own_us) {
            (Some(common), Some(own)) => Some(common.min(own)),
            (one, other) => one.or(other),
        }
    }
}
