//! Output that is written while it is made.

use std::borrow::Cow;
use std::fmt;

use tool_core::{
    Bound, Bounded, BoxFuture, CallId, Content, Facts, Loss, OutputSink, StoreError, StoreErrorKind,
};

use crate::cut::{Cut, Ends, end_of, up_to};
use crate::dir_store::DirStore;
use crate::incoming::Incoming;
use crate::joined::newlines;
use crate::marker::Marker;
use crate::preview::budget;

/// An output that is written while it is made, so that nobody ever holds the whole.
///
/// What is written goes to disk aside; both ends are remembered for the preview, some 100 KB under
/// the default bound. [`finish`](Self::finish) shows the output, and dropped before that it is gone.
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
    bound: Bound,
    loss: Option<Loss>,
    prefix: Vec<u8>,
    suffix: Vec<u8>,
    newlines: usize,
}

impl DirStore {
    /// Begins an output of a tool that is written while it is made, under the bound of its preview.
    ///
    /// # Errors
    /// [`StoreErrorKind::Io`] when the store cannot be written.
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
            bound,
            loss: None,
            prefix: Vec::new(),
            suffix: Vec::new(),
            newlines: 0,
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
        self.loss = Some(loss);
    }

    /// The bytes so far.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.incoming.as_ref().map_or(0, Incoming::bytes)
    }

    /// Writes on.
    ///
    /// # Errors
    /// [`StoreErrorKind::TooLarge`] when the output is over its limit or finds no more room,
    /// [`StoreErrorKind::Io`] when it cannot be written. Nothing of it is kept then, and every
    /// later call fails.
    ///
    /// # Cancel safety
    /// None: when the future is dropped, part of the text may have been written. Drop the writer.
    pub async fn write(&mut self, text: &str) -> Result<(), StoreError> {
        let mut incoming = self.incoming.take().ok_or_else(failed_before)?;
        incoming.write(text.as_bytes()).await?;
        self.incoming = Some(incoming);

        let bytes = text.as_bytes();
        self.newlines += newlines(bytes);
        // One byte more than can be shown tells what a cut would split.
        let reach = self.bound.bytes().saturating_add(1);
        let missing = reach.saturating_sub(self.prefix.len());
        self.prefix.extend_from_slice(up_to(bytes, missing));
        self.suffix
            .extend_from_slice(end_of(bytes, reach.min(bytes.len())));
        // Twice as much is let grow, so that each byte is moved once at most.
        if self.suffix.len() >= reach.saturating_mul(2) {
            self.suffix.drain(..self.suffix.len() - reach);
        }
        Ok(())
    }

    /// Shows the output, whole, and gives its preview: all of it where it is within the bound.
    ///
    /// # Errors
    /// [`StoreErrorKind::Io`] when it cannot be finished, or when something failed before; nothing
    /// of it is kept.
    pub fn finish(mut self) -> Result<Bounded, StoreError> {
        let incoming = self.incoming.take().ok_or_else(failed_before)?;
        let id = incoming.id().to_string();
        let bytes = usize::try_from(incoming.bytes()).unwrap_or(usize::MAX);
        let retained = incoming.show(&self.facts, self.call.as_ref(), &self.tool)?;

        let hint = self.store.hint();
        let marker = Marker::new(&id, hint).loss(self.loss.as_ref());
        let ends = Ends {
            bytes,
            newlines: self.newlines,
            ends_in_newline: self.suffix.last() == Some(&b'\n'),
            prefix: Cow::Owned(self.prefix),
            suffix: Cow::Owned(self.suffix),
        };
        if bytes <= self.bound.bytes() && ends.lines() <= self.bound.lines() {
            let mut content = vec![block(&ends.prefix)];
            content.extend(
                self.loss
                    .as_ref()
                    .map(|loss| Content::text(marker.note(loss))),
            );
            return Ok(Bounded::new(content, retained));
        }
        let cut = Cut::choose(&ends, budget(self.bound, &marker, bytes));
        let mut content = Vec::with_capacity(3);
        if cut.head > 0 {
            content.push(block(up_to(&ends.prefix, cut.head)));
        }
        content.push(Content::text(marker.text(bytes, cut)));
        if cut.tail < bytes {
            content.push(block(end_of(&ends.suffix, bytes - cut.tail)));
        }
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

    fn finish(self: Box<Self>) -> Result<Bounded, StoreError> {
        Self::finish(*self)
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

/// Texts are written and cut between characters, so nothing is lost here.
fn block(bytes: &[u8]) -> Content {
    Content::text(String::from_utf8_lossy(bytes))
}

fn failed_before() -> StoreError {
    let detail = "an output that could not be written is not finished";
    StoreError::new(StoreErrorKind::Io, detail)
}
