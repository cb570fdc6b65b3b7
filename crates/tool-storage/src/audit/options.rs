//! How an audit log is kept.

use std::num::NonZeroU64;

/// How an audit log is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct AuditOptions {
    pub(super) file_bytes: NonZeroU64,
    pub(super) total_bytes: NonZeroU64,
    pub(super) failure: AuditFailure,
}

/// What becomes of calls while lines cannot be written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a call is run or it is not")]
pub enum AuditFailure {
    /// They go on, and the gap is seen: numbers are missing, and the next line counts what was
    /// lost. The default.
    #[default]
    Continue,
    /// They are refused, from the first that finds the log broken until a line can be written
    /// again, which the calls themselves find out. What was running goes on.
    Refuse,
}

const MIB: u64 = 1024 * 1024;

impl AuditOptions {
    /// Files of 16 MiB, of which the newest are kept, 256 MiB in all; calls go on while nothing can be written.
    pub const DEFAULT: Self = Self {
        file_bytes: NonZeroU64::MIN.saturating_add(16 * MIB - 1),
        total_bytes: NonZeroU64::MIN.saturating_add(256 * MIB - 1),
        failure: AuditFailure::Continue,
    };

    /// Sets after how many bytes the next file is begun. A line is never parted, so that a file may
    /// be longer by one.
    pub fn file_bytes(mut self, bytes: NonZeroU64) -> Self {
        self.file_bytes = bytes;
        self
    }

    /// Sets how many bytes all files of the folder may have together, those of other processes
    /// included. Whenever a file is begun the oldest go that are over it.
    pub fn total_bytes(mut self, bytes: NonZeroU64) -> Self {
        self.total_bytes = bytes;
        self
    }

    /// Sets what becomes of calls while lines cannot be written.
    pub fn on_failure(mut self, failure: AuditFailure) -> Self {
        self.failure = failure;
        self
    }
}

impl Default for AuditOptions {
    fn default() -> Self {
        Self::DEFAULT
    }
}
