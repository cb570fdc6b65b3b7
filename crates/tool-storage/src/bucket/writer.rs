//! Output that is written into a bucket while it is made.

use std::fmt;

use tool_core::{Bound, Bounded, BoxFuture, CallId, Facts, Loss, OutputSink, StoreError};

use crate::bucket::incoming::Incoming;
use crate::bucket::outputs::BucketOutputs;
use crate::bucket::suffix::Suffix;
use crate::glimpse::{Glimpse, failed_before};

/// An output that is written into a bucket while it is made, so that nobody ever holds the whole:
/// two parts of 5 MiB at most, and both ends for the preview.
///
/// [`finish`](Self::finish) shows the output, and dropped before that it is undone with the next
/// write or sweep.
///
/// ```
/// use tool_core::{Bound, Facts};
/// use tool_storage::{Bucket, BucketOutputs};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let store = BucketOutputs::builder(Bucket::from_url("memory:///")?).build();
/// let mut output = store.begin(&Facts::new(), "shell", Bound::DEFAULT);
/// for line in 0..100_000 {
///     output.write(&format!("line {line}\n")).await?;
/// }
/// assert_eq!(output.finish().await?.retained.lines, 100_000);
/// # Ok(())
/// # }
/// ```
#[must_use = "an output that is not finished is gone"]
pub struct BucketOutputWriter {
    store: BucketOutputs,
    at: At,
    facts: Facts,
    call: Option<CallId>,
    tool: String,
    glimpse: Glimpse,
    suffix: Suffix,
}

/// How far an output is.
enum At {
    /// Nothing was asked of the bucket yet.
    Nothing,
    Incoming(Box<Incoming>),
    /// Something failed: nothing more is written and nothing is shown.
    Failed,
}

impl BucketOutputs {
    /// Begins an output of a tool that is written while it is made, under the bound of its preview.
    /// Nothing is asked of the bucket yet.
    pub fn begin(
        &self,
        facts: &Facts,
        tool: impl Into<String>,
        bound: Bound,
    ) -> BucketOutputWriter {
        let glimpse = Glimpse::new(bound);
        BucketOutputWriter {
            store: self.clone(),
            at: At::Nothing,
            facts: facts.clone(),
            call: None,
            tool: tool.into(),
            suffix: Suffix::new(glimpse.reach()),
            glimpse,
        }
    }
}

impl BucketOutputWriter {
    /// Says which call makes it.
    pub fn call(mut self, call: Option<CallId>) -> Self {
        self.call = call;
        self
    }

    /// Says what its producer has left out before it got here. The last word counts.
    pub fn report_loss(&mut self, loss: Loss) {
        self.glimpse.report_loss(loss);
    }

    /// The bytes so far.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        match &self.at {
            At::Incoming(incoming) => incoming.bytes(),
            At::Nothing | At::Failed => 0,
        }
    }

    /// Writes on.
    ///
    /// # Errors
    /// [`StoreErrorKind::TooLarge`](tool_core::StoreErrorKind::TooLarge) when the output is over its
    /// limit or finds no more room, [`StoreErrorKind::Io`](tool_core::StoreErrorKind::Io) when it
    /// cannot be written. Nothing of it is kept then, and every later call fails.
    ///
    /// # Cancel safety
    /// None: when the future is dropped, nothing more can be written. Drop the writer.
    pub async fn write(&mut self, text: &str) -> Result<(), StoreError> {
        let mut incoming = self.incoming().await?;
        incoming.write(text.as_bytes()).await?;
        self.at = At::Incoming(Box::new(incoming));
        self.glimpse.see(text.as_bytes());
        self.suffix.see(text.as_bytes());
        Ok(())
    }

    /// Shows the output, whole, and gives its preview: all of it where it is within the bound.
    ///
    /// # Errors
    /// [`StoreErrorKind::Io`](tool_core::StoreErrorKind::Io) when it cannot be finished, or when
    /// something failed before; nothing of it is kept.
    ///
    /// # Cancel safety
    /// Dropping the future leaves nothing to be seen, as [`BucketOutputs`] says.
    pub async fn finish(mut self) -> Result<Bounded, StoreError> {
        let incoming = self.incoming().await?;
        let shown = incoming.show(&self.facts, self.call.as_ref(), &self.tool);
        let retained = shown.await?;
        let (hint, end) = (self.store.hint(), self.suffix.bytes());
        let content = self.glimpse.content(&retained, hint, end);
        Ok(Bounded::new(content, retained))
    }

    /// Takes the output, which has failed unless it is given back.
    async fn incoming(&mut self) -> Result<Incoming, StoreError> {
        match std::mem::replace(&mut self.at, At::Failed) {
            At::Nothing => Incoming::begin(&self.store.shared, &self.facts, 0).await,
            At::Incoming(incoming) => Ok(*incoming),
            At::Failed => Err(failed_before()),
        }
    }
}

impl OutputSink for BucketOutputWriter {
    fn write<'a>(&'a mut self, text: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(Self::write(self, text))
    }

    fn report_loss(&mut self, loss: Loss) {
        Self::report_loss(self, loss);
    }

    fn finish(self: Box<Self>) -> BoxFuture<'static, Result<Bounded, StoreError>> {
        Box::pin(Self::finish(*self))
    }
}

impl fmt::Debug for BucketOutputWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BucketOutputWriter")
            .field("tool", &self.tool)
            .field("bytes", &self.bytes())
            .finish_non_exhaustive()
    }
}
