//! Output that is stored while it is made.

use std::fmt;
use std::sync::Arc;

use crate::{
    Bound, Bounded, BoxFuture, CallHost, Content, Loss, Retained, StoreError, StoreErrorKind,
};

/// An output on its way into a store, as [`OutputStore::stream`](crate::OutputStore::stream)
/// begins it.
///
/// What is written goes to the store at once, so that nobody holds the whole. Nothing of it is
/// visible before it is finished, and dropped before that nothing of it is left.
pub trait OutputSink: Send {
    /// Writes on.
    ///
    /// # Errors
    /// [`StoreError`] when it cannot be written or finds no room; every later call fails too.
    ///
    /// # Cancel safety
    /// None: drop the sink with the future.
    fn write<'a>(&'a mut self, text: &'a str) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Says what its producer has left out before it got here. The last word counts.
    fn report_loss(&mut self, loss: Loss);

    /// Shows the output, whole, and gives its preview.
    ///
    /// # Errors
    /// [`StoreError`] when it cannot be finished; nothing of it is kept then.
    ///
    /// # Cancel safety
    /// Dropping the future leaves nothing visible in the store.
    fn finish(self: Box<Self>) -> BoxFuture<'static, Result<Bounded, StoreError>>;
}

/// The text that a handler produces, handed on while it is made.
///
/// Up to the bound of its preview it is held; from then on it goes into the runtime's store and
/// only both ends are held. Where the runtime has no store, or the call's text is not bounded, all
/// of it is held. [`Context::stream_output`](crate::Context::stream_output) begins one.
pub struct OutputStream {
    host: Arc<dyn CallHost>,
    /// `None` where everything is held.
    bound: Option<Bound>,
    held: String,
    newlines: usize,
    sink: Option<Box<dyn OutputSink>>,
    /// The store may lack some of it.
    failed: bool,
}

/// What became of the text of an [`OutputStream`].
#[derive(Debug)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a further way must break every match"
)]
pub enum Streamed {
    /// It is here, all of it. The runtime bounds it as any text that a tool gives.
    Whole(String),
    /// It is in the store, and this is its preview: blocks for the model, within the bound, the
    /// marker among them. The call's settlement names it among what was retained.
    Kept(Vec<Content>, Retained),
}

impl OutputStream {
    /// How much of the bound is left to what a tool says beside its text: bytes and lines.
    const BESIDE: (usize, usize) = (1_024, 4);

    pub(crate) fn new(host: Arc<dyn CallHost>) -> Self {
        let beside = |bound: Bound| {
            let (bytes, lines) = Self::BESIDE;
            Bound::new(
                bound.bytes().saturating_sub(bytes),
                bound.lines().saturating_sub(lines),
            )
            .ok()
        };
        Self {
            bound: host.output_bound().and_then(beside),
            host,
            held: String::new(),
            newlines: 0,
            sink: None,
            failed: false,
        }
    }

    /// Writes on.
    ///
    /// # Errors
    /// [`StoreError`] when the store cannot take it. Nothing of it is kept then, and every later
    /// call fails too; `?` makes it the defect that it is.
    ///
    /// # Cancel safety
    /// None: drop the stream with the future. Every later call fails.
    pub async fn write(&mut self, text: &str) -> Result<(), StoreError> {
        self.is_whole()?;
        if let Some(sink) = &mut self.sink {
            self.failed = true;
            sink.write(text).await?;
            self.failed = false;
            return Ok(());
        }
        self.held.push_str(text);
        self.newlines += text.bytes().filter(|byte| *byte == b'\n').count();
        let Some(bound) = self.bound.filter(|bound| self.is_over(*bound)) else {
            return Ok(());
        };
        self.failed = true;
        match self.host.stream_output(bound)? {
            Some(mut sink) => {
                sink.write(&std::mem::take(&mut self.held)).await?;
                self.sink = Some(sink);
            }
            // Nobody takes it, and nobody is asked again.
            None => self.bound = None,
        }
        self.failed = false;
        Ok(())
    }

    /// Ends the text, with what its producer has left out of it.
    ///
    /// # Errors
    /// [`StoreError`] when the store could not finish it, or an earlier write failed or was dropped
    /// midway. Nothing of it is kept then.
    ///
    /// # Cancel safety
    /// Dropping the future leaves nothing visible in the store.
    pub async fn finish(self, loss: Option<Loss>) -> Result<Streamed, StoreError> {
        self.is_whole()?;
        let loss = loss.filter(|loss| loss.count() > 0);
        let Some(mut sink) = self.sink else {
            if let Some(loss) = loss {
                self.host.state().note_loss(loss);
            }
            return Ok(Streamed::Whole(self.held));
        };
        if let Some(loss) = loss {
            sink.report_loss(loss);
        }
        let Bounded { content, retained } = sink.finish().await?;
        self.host.state().note_retained(retained.clone());
        Ok(Streamed::Kept(content, retained))
    }

    /// Fails where a write did, so that no text is shown or kept that lacks some of its middle.
    fn is_whole(&self) -> Result<(), StoreError> {
        if self.failed {
            return Err(StoreError::new(
                StoreErrorKind::Io,
                "an earlier write of the output failed or was not awaited to its end",
            ));
        }
        Ok(())
    }

    fn is_over(&self, bound: Bound) -> bool {
        let unfinished = !self.held.is_empty() && !self.held.ends_with('\n');
        let lines = self.newlines + usize::from(unfinished);
        self.held.len() > bound.bytes() || lines > bound.lines()
    }
}

impl fmt::Debug for OutputStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutputStream")
            .field("held", &self.held.len())
            .field("is_stored", &self.sink.is_some())
            .finish_non_exhaustive()
    }
}
