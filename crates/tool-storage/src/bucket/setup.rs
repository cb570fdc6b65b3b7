//! How outputs in a bucket are set up.

use std::time::SystemTime;

use tool_core::StoreError;

use crate::bucket::Bucket;
use crate::bucket::outputs::BucketOutputs;
use crate::clock::Clock;
use crate::limits::Limits;
use crate::marker::ReadingHint;

/// Sets a [`BucketOutputs`] up.
#[derive(Clone, Debug)]
#[must_use]
pub struct BucketOutputsBuilder {
    pub(crate) bucket: Bucket,
    pub(crate) limits: Limits,
    pub(crate) hint: ReadingHint,
    pub(crate) clock: Clock,
}

impl BucketOutputsBuilder {
    pub(crate) fn new(bucket: Bucket) -> Self {
        Self {
            bucket,
            limits: Limits::DEFAULT,
            hint: ReadingHint::default(),
            clock: Clock::default(),
        }
    }

    /// Sets how much is kept and for how long. Defaults to [`Limits::DEFAULT`].
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets what markers say about reading on. Defaults to [`ReadingHint::default`].
    pub fn reading_hint(mut self, hint: ReadingHint) -> Self {
        self.hint = hint;
        self
    }

    /// Sets where the time comes from. Defaults to [`SystemTime::now`].
    pub fn clock(mut self, now: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        self.clock = Clock::new(now);
        self
    }

    /// The store, without a look at the bucket: it is read when room has to be made, at the next
    /// sweep or list.
    #[must_use]
    pub fn build(self) -> BucketOutputs {
        BucketOutputs::new(self)
    }

    /// Opens the store: what has expired, what is over the quota and what dead processes left is
    /// removed first. Reads the record of every output once, sixteen at a time.
    ///
    /// # Errors
    /// [`StoreErrorKind::Io`](tool_core::StoreErrorKind::Io) when the bucket cannot be read.
    ///
    /// # Cancel safety
    /// Dropping the future leaves what is left to the next sweep.
    pub async fn open(self) -> Result<BucketOutputs, StoreError> {
        let store = self.build();
        store.sweep_at(store.shared.setup.clock.now_us()).await?;
        Ok(store)
    }
}
