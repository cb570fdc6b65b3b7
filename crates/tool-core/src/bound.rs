//! How much text a model is shown.

use std::num::NonZeroUsize;

use thiserror::Error;

/// The bound on model-facing text, in bytes and in lines, both inclusive.
///
/// A text is over the bound when it has more bytes or more lines. A trailing newline ends the last
/// line and does not begin another. Defaults to 51,200 bytes and 2,000 lines. Zero cannot be said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    bytes: NonZeroUsize,
    lines: NonZeroUsize,
}

/// What to do with model-facing text, per tool or per runtime.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Bounding {
    /// The bound of the runtime. The default.
    #[default]
    Inherit,
    /// A bound of the tool's own: what is over it is kept whole and shown in part.
    Within(Bound),
    /// What is over the bound is shown in part, and the rest is kept nowhere, as the tool's author
    /// wants it: it can be made again, or must not be stored.
    Truncate(Bound),
    /// What is over the bound is refused, and the model is asked for a narrower call.
    Refuse(Bound),
    /// No bound: the tool bounds its own text, as one that reads retained output back does.
    Inline,
}

/// A bound of zero, which would show nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a bound of zero {unit} shows nothing; give at least one, or use no bound")]
pub struct BoundError {
    unit: &'static str,
}

impl Bound {
    /// 51,200 bytes and 2,000 lines.
    pub const DEFAULT: Self = Self {
        bytes: NonZeroUsize::new(51_200).unwrap(),
        lines: NonZeroUsize::new(2_000).unwrap(),
    };

    /// A bound of that many bytes and lines.
    ///
    /// # Errors
    /// [`BoundError`] when either is zero.
    pub fn new(bytes: usize, lines: usize) -> Result<Self, BoundError> {
        Ok(Self {
            bytes: NonZeroUsize::new(bytes).ok_or(BoundError { unit: "bytes" })?,
            lines: NonZeroUsize::new(lines).ok_or(BoundError { unit: "lines" })?,
        })
    }

    /// The most bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes.get()
    }

    /// The most lines.
    #[must_use]
    pub fn lines(&self) -> usize {
        self.lines.get()
    }

    /// Whether texts that are shown one after the other are over the bound together.
    #[must_use]
    pub fn is_exceeded_by<'a>(
        &self,
        texts: impl IntoIterator<Item = &'a str, IntoIter: Clone>,
    ) -> bool {
        let texts = texts.into_iter();
        let bytes = texts
            .clone()
            .fold(0_usize, |sum, text| sum.saturating_add(text.len()));
        if bytes > self.bytes() {
            return true;
        }
        // A line has a byte at least, so that there is nothing to count in what is short.
        bytes > self.lines() && texts.map(|text| text.lines().count()).sum::<usize>() > self.lines()
    }
}

impl Default for Bound {
    fn default() -> Self {
        Self::DEFAULT
    }
}
