//! Where output is kept that is too long to show.

use std::error::Error;
use std::fmt::{self, Display};

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::{Bound, BoxFuture, CallId, Content, Facts, Loss, OutputSink};

/// Keeps output whole and shows a bounded preview of it.
///
/// The laws of an implementation: what it reports as retained is retained whole, byte for byte;
/// the pages of a retained output, one after the other, equal its bytes; the preview's head is a
/// prefix of them and its tail a suffix; a call that is dropped while it stores leaves nothing
/// visible.
#[diagnostic::on_unimplemented(message = "`{Self}` does not retain output")]
pub trait OutputStore: Send + Sync {
    /// Retains the text of some content and replaces it with a preview within the bound.
    ///
    /// Blocks that are no text stay where they are. Called only for content whose text is over
    /// the bound.
    ///
    /// # Errors
    /// [`StoreError`] when the whole could not be kept; nothing is then visible and the call ends
    /// as a defect.
    ///
    /// # Cancel safety
    /// Dropping the future leaves nothing visible in the store.
    fn bound<'a>(&'a self, retention: Retention<'a>) -> BoxFuture<'a, Result<Bounded, StoreError>>;

    /// Begins an output that is stored while it is made: `retention` says whose and under which
    /// bound its preview is, and has no content. `None`, the default, where a store takes whole
    /// outputs only; override it where it need not hold them.
    ///
    /// # Errors
    /// [`StoreError`] when the store cannot be written.
    fn stream(&self, retention: Retention<'_>) -> Result<Option<Box<dyn OutputSink>>, StoreError> {
        let _ = retention;
        Ok(None)
    }

    /// Shows content in part and keeps nothing of it, where a tool wants that. By default nothing
    /// of the texts is shown but how much they were; override it where there are previews.
    fn truncate(&self, retention: Retention<'_>) -> Vec<Content> {
        let texts = || retention.content.iter().filter_map(Content::as_text);
        let bytes: usize = texts().map(str::len).sum();
        let lines: usize = texts().map(|text| text.lines().count()).sum();
        let loss = retention.loss.map_or_else(String::new, |loss| {
            format!(" The tool itself had left out {loss} before; nobody keeps them.")
        });
        let marker = format!(
            "[The tool runtime, not the tool, left out all {bytes} bytes and {lines} lines of text \
             here. They are kept nowhere.{loss}]"
        );
        let mut shown = retention.content;
        shown.retain(|block| block.as_text().is_none());
        shown.push(Content::notice(marker));
        shown
    }

    /// Takes note that nobody will ever learn of an output: the call that produced it was dropped,
    /// or ran out of time, when it was retained already. Removing it may wait until the store is
    /// swept; until then it counts like any other. Override it where outputs can be removed; by
    /// default nothing happens and the output expires as others do.
    ///
    /// Called from destructors: it must return at once and must not block.
    fn forget(&self, retained: &Retained) {
        let _ = retained;
    }

    /// Reads a page of a retained output.
    ///
    /// # Errors
    /// [`StoreErrorKind::NotFound`] for an output that is unknown, expired or another session's,
    /// which are told apart in the text for operators only; other kinds when the store fails.
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing.
    fn page<'a>(
        &'a self,
        request: PageRequest<'a>,
    ) -> BoxFuture<'a, Result<OutputPage, StoreError>>;
}

/// Content to be retained and bounded.
#[derive(Debug)]
#[non_exhaustive]
pub struct Retention<'a> {
    /// The content. The texts are stored as they are, a newline between two of them.
    pub content: Vec<Content>,
    /// The bound of the preview, marker included.
    pub bound: Bound,
    /// Whose output it is.
    pub facts: &'a Facts,
    /// The call that produced it, where it has an id.
    pub call: Option<&'a CallId>,
    /// The wire name of the tool that produced it.
    pub tool: &'a str,
    /// What the tool itself had left out before.
    pub loss: Option<&'a Loss>,
}

impl<'a> Retention<'a> {
    /// Content of a tool, to be kept under a bound.
    #[must_use]
    pub fn new(content: Vec<Content>, bound: Bound, facts: &'a Facts, tool: &'a str) -> Self {
        Self {
            content,
            bound,
            facts,
            call: None,
            tool,
            loss: None,
        }
    }

    /// Sets the call.
    #[must_use]
    pub fn call(mut self, call: Option<&'a CallId>) -> Self {
        self.call = call;
        self
    }

    /// Sets what the tool itself had left out before.
    #[must_use]
    pub fn loss(mut self, loss: Option<&'a Loss>) -> Self {
        self.loss = loss;
        self
    }
}

/// Content after bounding.
#[derive(Debug)]
#[non_exhaustive]
pub struct Bounded {
    /// The preview.
    pub content: Vec<Content>,
    /// What was retained.
    pub retained: Retained,
}

impl Bounded {
    /// A preview and what it is a preview of.
    #[must_use]
    pub fn new(content: Vec<Content>, retained: Retained) -> Self {
        Self { content, retained }
    }
}

/// A retained output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Retained {
    /// The id to read it back by.
    pub id: String,
    /// The bytes, in all.
    pub bytes: u64,
    /// The lines, in all. A trailing newline is none.
    pub lines: u64,
    /// The name of a digest of the bytes, a colon, and the digest in hexadecimal. The store says
    /// which it is and what it proves; `sha-256:` is one over the bytes alone.
    pub digest: String,
}

impl Retained {
    /// A retained output of that id, size and digest.
    pub fn new(id: impl Into<String>, bytes: u64, lines: u64, digest: impl Display) -> Self {
        Self {
            id: id.into(),
            bytes,
            lines,
            digest: digest.to_string(),
        }
    }
}

/// Which part of a retained output to read.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PageRequest<'a> {
    /// The id of the output.
    pub id: &'a str,
    /// Whose output it must be. `None` for an operator, who may read all.
    pub facts: Option<&'a Facts>,
    /// The first byte, from 0. A page begins on the character that holds it.
    pub offset: u64,
    /// The most bytes of the page. Raised to one character where that is longer.
    pub max_bytes: usize,
}

impl<'a> PageRequest<'a> {
    /// The most bytes of a page unless said otherwise: 50 KiB.
    pub const DEFAULT_BYTES: usize = 50 * 1024;

    /// The first page.
    #[must_use]
    pub fn new(id: &'a str, facts: Option<&'a Facts>) -> Self {
        Self {
            id,
            facts,
            offset: 0,
            max_bytes: Self::DEFAULT_BYTES,
        }
    }

    /// Starts at a byte.
    #[must_use]
    pub fn offset(mut self, offset: u64) -> Self {
        self.offset = offset;
        self
    }

    /// Sets the most bytes.
    #[must_use]
    pub fn max_bytes(mut self, max_bytes: usize) -> Self {
        self.max_bytes = max_bytes;
        self
    }
}

/// A part of a retained output.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct OutputPage {
    /// The bytes of the page.
    pub bytes: Bytes,
    /// Where the page begins.
    pub offset: u64,
    /// Where the next page begins; `None` after the last.
    pub next: Option<u64>,
    /// The bytes of the whole output.
    pub total: u64,
}

impl OutputPage {
    /// A page that begins at an offset of an output of so many bytes.
    #[must_use]
    pub fn new(bytes: Bytes, offset: u64, total: u64) -> Self {
        let end = offset + bytes.len() as u64;
        Self {
            bytes,
            offset,
            next: (end < total).then_some(end),
            total,
        }
    }
}

/// A store that could not keep or give back an output.
///
/// [`Display`](fmt::Display) is for operators.
#[derive(Debug)]
pub struct StoreError {
    kind: StoreErrorKind,
    detail: String,
    source: Option<Box<dyn Error + Send + Sync>>,
}

/// The sort of a [`StoreError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StoreErrorKind {
    /// The output is unknown, expired or another session's.
    NotFound,
    /// The output is larger than one output may be, or the store is full.
    TooLarge,
    /// The store could not be read or written. Nothing was kept.
    Io,
}

impl StoreError {
    /// An error with a text for operators.
    pub fn new(kind: StoreErrorKind, detail: impl Into<String>) -> Self {
        Self {
            kind,
            detail: detail.into(),
            source: None,
        }
    }

    /// Adds the cause.
    #[must_use]
    pub fn because(mut self, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(cause.into());
        self
    }

    /// Which sort it is.
    #[must_use]
    pub fn kind(&self) -> StoreErrorKind {
        self.kind
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.detail)
    }
}

impl Error for StoreError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source
            .as_deref()
            .map(|source| source as &(dyn Error + 'static))
    }
}
