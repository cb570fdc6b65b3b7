//! How much is kept and for how long.

use std::num::NonZeroU64;
use std::time::Duration;

use thiserror::Error;
use tool_core::{StoreError, StoreErrorKind};

/// The limits of a store.
///
/// Bytes are bytes of output; the record beside each output, some 400 bytes, is not counted. An
/// output may never be larger than the store, whatever its own limit says. Zero cannot be said.
///
/// ```
/// use std::time::Duration;
/// use tool_storage::Limits;
///
/// let limits = Limits::new(1 << 20, Limits::DEFAULT.total_bytes(), Duration::from_secs(3_600))?;
/// assert_eq!(limits.output_bytes(), 1_048_576);
/// assert!(Limits::new(0, 1, Duration::from_secs(1)).is_err());
/// # Ok::<(), tool_storage::LimitsError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    output_bytes: NonZeroU64,
    total_bytes: NonZeroU64,
    session_bytes: Option<NonZeroU64>,
    /// Whole microseconds, the resolution of what is recorded.
    time_to_live: NonZeroU64,
}

/// A limit of zero, under which nothing could be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a limit of zero {what} keeps nothing; give at least one {unit}")]
pub struct LimitsError {
    what: &'static str,
    unit: &'static str,
}

impl Limits {
    /// 64 MiB each, 1 GiB in all, 7 days.
    pub const DEFAULT: Self = Self {
        output_bytes: NonZeroU64::new(64 << 20).unwrap(),
        total_bytes: NonZeroU64::new(1 << 30).unwrap(),
        session_bytes: None,
        time_to_live: NonZeroU64::new(7 * 24 * 60 * 60 * 1_000_000).unwrap(),
    };

    /// Limits of so many bytes for one output, so many bytes for all outputs together, both
    /// inclusive, and so long a life for each. The life counts from when an output was retained,
    /// in whole microseconds, and is over when it has lasted exactly so long.
    ///
    /// # Errors
    /// [`LimitsError`] when one of the three is zero.
    pub fn new(
        output_bytes: u64,
        total_bytes: u64,
        time_to_live: Duration,
    ) -> Result<Self, LimitsError> {
        let zero = |what, unit| LimitsError { what, unit };
        let micros = u64::try_from(time_to_live.as_micros()).unwrap_or(u64::MAX);
        Ok(Self {
            output_bytes: NonZeroU64::new(output_bytes)
                .ok_or(zero("bytes for an output", "byte"))?,
            total_bytes: NonZeroU64::new(total_bytes).ok_or(zero("bytes in all", "byte"))?,
            session_bytes: None,
            time_to_live: NonZeroU64::new(micros).ok_or(zero("time", "microsecond"))?,
        })
    }

    /// Sets the most bytes of all outputs of one session together, inclusive. Its own oldest
    /// outputs leave for a new one, also while it is pinned. No such limit by default.
    #[must_use]
    pub fn session_bytes(mut self, bytes: NonZeroU64) -> Self {
        self.session_bytes = Some(bytes);
        self
    }

    pub(crate) fn session_bytes_limit(&self) -> Option<u64> {
        self.session_bytes.map(NonZeroU64::get)
    }

    /// The most bytes of one output.
    #[must_use]
    pub fn output_bytes(&self) -> u64 {
        self.output_bytes.min(self.total_bytes).get()
    }

    /// The most bytes of all outputs together.
    #[must_use]
    pub fn total_bytes(&self) -> u64 {
        self.total_bytes.get()
    }

    /// How long an output is kept.
    #[must_use]
    pub fn time_to_live(&self) -> Duration {
        Duration::from_micros(self.time_to_live.get())
    }

    /// Refuses an output that is larger than one may be.
    pub(crate) fn check_size(&self, bytes: u64) -> Result<(), StoreError> {
        if bytes > self.output_bytes() {
            return Err(StoreError::new(
                StoreErrorKind::TooLarge,
                format!(
                    "output of {bytes} bytes is over the {} bytes that one output may have",
                    self.output_bytes()
                ),
            ));
        }
        Ok(())
    }

    /// Whether what was created then has had its time.
    pub(crate) fn has_expired(&self, created_us: u64, now_us: u64) -> bool {
        now_us.saturating_sub(created_us) >= self.time_to_live.get()
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}
