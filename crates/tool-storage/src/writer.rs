//! Output that is written while it is made.

use std::fmt;

use tool_core::{Bound, Bounded, BoxFuture, CallId, Facts, Loss, OutputSink, StoreError};

use crate::dir_store::DirStore;
use crate::glimpse::{Glimpse, failed_before};
use crate::incoming::Incoming;

/// An output that is written while it is made, so that nobody ever holds the whole.
///
/// What is written goes to disk aside; its beginning is remembered for the preview, some 50 KB under
/// the default bound, and its end is read back. [`finish`](Self::finish) shows the output, and dropped before that it is gone.
///
/// ```
/// use tool_core::{Bound, Facts};
/// use tool_storage::DirStore;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir()?;
/// let store = DirStore::builder(dir.path().join("outputs")).open()?;
/// let facts = Facts::new().session("s1");
/// let mut output = store.begin(&facts, "shell", Bound::DEFAULT)?;
/// for line in 0..100_000 {
///     output.write(&format!("line {line}\n")).await?;
/// }
/// let bounded = output.finish()?;
/// assert_eq!(bounded.retained.lines, 100_000);
/// assert_eq!(bounded.content.len(), 3);
/// # Ok(())
/// # }
/// ```
#[must_use = "an output that is not finished is gone"]
pub struct OutputWriter {
    store: DirStore,
    /// `None` once something failed: then nothing more is written and nothing is shown.
    incoming: Option<Incoming>,
    facts: Facts,
    call: Option<CallId>,
    tool: String,
    glimpse: Glimpse,
}

impl DirStore {
    /// Begins an output of a tool that is written while it is made, under the bound of its preview.
    ///
    /// # Errors
    /// [`Io`](tool_core::StoreErrorKind::Io) when the store cannot be written.
    pub fn begin(
        &self,
        facts: &Facts,
        tool: impl Into<String>,
        bound: Bound,
    ) -> Result<OutputWriter, StoreError> {
        Ok(OutputWriter {
            store: self.clone(),
            incoming: Some(Incoming::begin(&self.shared, facts, 0)?),
            facts: facts.clone(),
            call: None,
            tool: tool.into(),
            glimpse: Glimpse::new(bound),
        })
    }
}

impl OutputWriter {
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
        self.incoming.as_ref().map_or(0, Incoming::bytes)
    }

    /// Writes on.
    ///
    /// # Errors
    /// [`TooLarge`](tool_core::StoreErrorKind::TooLarge) when the output is over its limit or finds no more room,
    /// [`Io`](tool_core::StoreErrorKind::Io) when it cannot be written. Nothing of it is kept then, and every
    /// later call fails.
    ///
    /// # Cancel safety
    /// None: when the future is dropped, part of the text may have been written. Drop the writer.
    pub async fn write(&mut self, text: &str) -> Result<(), StoreError> {
        let mut incoming = self.incoming.take().ok_or_else(failed_before)?;
        incoming.write(text.as_bytes()).await?;
        self.incoming = Some(incoming);
        self.glimpse.see(text.as_bytes());
        Ok(())
    }

    /// Shows the output, whole, and gives its preview: all of it where it is within the bound.
    ///
    /// # Errors
    /// [`Io`](tool_core::StoreErrorKind::Io) when it cannot be finished, or when something failed before; nothing
    /// of it is kept.
    pub fn finish(mut self) -> Result<Bounded, StoreError> {
        let mut incoming = self.incoming.take().ok_or_else(failed_before)?;
        let end = match self.glimpse.all(incoming.bytes()) {
            Some(all) => all.to_vec(),
            None => incoming.tail(self.glimpse.reach())?,
        };
        let retained = incoming.show(&self.facts, self.call.as_ref(), &self.tool)?;
        let content = self.glimpse.content(&retained, self.store.hint(), &end);
        Ok(Bounded::new(content, retained))
    }
}

impl OutputSink for OutputWriter {
    fn write<'a>(&'a mut self, text: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(Self::write(self, text))
    }

    fn report_loss(&mut self, loss: Loss) {
        Self::report_loss(self, loss);
    }

    fn finish(self: Box<Self>) -> BoxFuture<'static, Result<Bounded, StoreError>> {
        Box::pin(async move { Self::finish(*self) })
    }
}

impl fmt::Debug for OutputWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutputWriter")
            .field("tool", &self.tool)
            .field("bytes", &self.bytes())
            .finish_non_exhaustive()
    }
}
