//! The bytes that the texts of some content are stored as.

use std::borrow::Cow;

use tool_core::Content;

use crate::cut::Ends;

/// The texts of some content, one after the other.
///
/// The rule, which the format of stored outputs depends on: empty texts count for nothing, and a
/// newline goes before each further text when the bytes so far do not end in one. A single text is
/// therefore exactly its own bytes, and every text begins on a line of its own.
pub(crate) struct Joined<'a> {
    parts: Vec<Part<'a>>,
    len: usize,
}

/// A text that is not empty, and where it begins.
#[derive(Clone, Copy)]
pub(crate) struct Part<'a> {
    pub(crate) start: usize,
    pub(crate) text: &'a str,
}

impl<'a> Joined<'a> {
    pub(crate) fn new(content: &'a [Content]) -> Self {
        let mut joined = Self {
            parts: Vec::new(),
            len: 0,
        };
        let texts = content.iter().filter_map(Content::as_text);
        for text in texts.filter(|text| !text.is_empty()) {
            let separator = match joined.parts.last() {
                Some(last) if !last.text.ends_with('\n') => 1,
                _ => 0,
            };
            let start = joined.len + separator;
            joined.parts.push(Part { start, text });
            joined.len = start + text.len();
        }
        joined
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn parts(&self) -> &[Part<'a>] {
        &self.parts
    }

    /// The bytes in order, separators included.
    pub(crate) fn pieces(&self) -> impl DoubleEndedIterator<Item = &'a [u8]> + '_ {
        self.parts.iter().enumerate().flat_map(|(index, part)| {
            let before = index
                .checked_sub(1)
                .and_then(|index| self.parts.get(index))
                .map_or(0, |part| part.start + part.text.len());
            let separator: &[u8] = if part.start > before { b"\n" } else { b"" };
            [separator, part.text.as_bytes()]
        })
    }

    /// Both ends, of so many bytes each.
    pub(crate) fn ends(&self, reach: usize) -> Ends<'a> {
        Ends {
            prefix: self.prefix(reach),
            suffix: self.suffix(reach),
            bytes: self.len,
            newlines: self.newlines(),
            ends_in_newline: self.ends_in_newline(),
        }
    }

    fn newlines(&self) -> usize {
        self.pieces().map(newlines).sum()
    }

    fn ends_in_newline(&self) -> bool {
        self.parts
            .last()
            .is_some_and(|part| part.text.ends_with('\n'))
    }

    /// The first `len` bytes, copied only where they span several texts.
    fn prefix(&self, len: usize) -> Cow<'a, [u8]> {
        let len = len.min(self.len);
        if let Some(bytes) = self
            .parts
            .first()
            .and_then(|first| first.text.as_bytes().get(..len))
        {
            return Cow::Borrowed(bytes);
        }
        let mut bytes = Vec::with_capacity(len);
        for piece in self.pieces() {
            let missing = len - bytes.len();
            bytes.extend_from_slice(piece.get(..missing).unwrap_or(piece));
            if bytes.len() == len {
                break;
            }
        }
        Cow::Owned(bytes)
    }

    /// The last `len` bytes, copied only where they span several texts.
    fn suffix(&self, len: usize) -> Cow<'a, [u8]> {
        let len = len.min(self.len);
        if let Some(bytes) = self.parts.last().and_then(|last| last_of(last.text, len)) {
            return Cow::Borrowed(bytes);
        }
        let mut pieces = Vec::new();
        let mut missing = len;
        for piece in self.pieces().rev() {
            let start = piece.len().saturating_sub(missing);
            let taken = piece.get(start..).unwrap_or_default();
            pieces.push(taken);
            missing -= taken.len();
            if missing == 0 {
                break;
            }
        }
        pieces.reverse();
        Cow::Owned(pieces.concat())
    }
}

/// How many newlines there are in some bytes.
pub(crate) fn newlines(bytes: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', bytes).count()
}

/// How many lines there are in some bytes. A trailing newline ends the last and begins none.
pub(crate) fn lines(bytes: &[u8]) -> usize {
    newlines(bytes) + usize::from(bytes.last().is_some_and(|last| *last != b'\n'))
}

fn last_of(text: &str, len: usize) -> Option<&[u8]> {
    let start = text.len().checked_sub(len)?;
    text.as_bytes().get(start..)
}
