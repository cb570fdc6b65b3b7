//! What a process prints, as text and up to a limit.

use tool_core::{Context, Loss, OutputStream, StoreError, Streamed};

/// Hands the first bytes of a stream on as text, and counts the rest.
#[derive(Debug)]
pub(super) struct Capture {
    text: OutputStream,
    /// How many more bytes the text may have.
    room: usize,
    is_full: bool,
    /// The beginning of a character whose end has not come yet.
    begun: Vec<u8>,
    bytes: u64,
    /// The bytes that the text stands for.
    used: u64,
    invalid_utf8: bool,
}

/// A stream as text.
#[derive(Debug)]
pub(super) struct Captured {
    pub(super) text: Streamed,
    /// The bytes of the stream.
    pub(super) bytes: u64,
    /// The bytes, at its end, that the text does not stand for.
    pub(super) lost_bytes: u64,
    /// Some bytes that the text does stand for are not UTF-8.
    pub(super) invalid_utf8: bool,
}

impl Capture {
    pub(super) fn new(cx: &Context, most: usize) -> Self {
        Self {
            text: cx.stream_output(),
            room: most,
            is_full: false,
            begun: Vec::new(),
            bytes: 0,
            used: 0,
            invalid_utf8: false,
        }
    }

    pub(super) async fn push(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        self.bytes += bytes.len() as u64;
        if self.is_full {
            return Ok(());
        }
        if self.begun.is_empty() {
            return self.take(bytes, false).await;
        }
        let mut all = std::mem::take(&mut self.begun);
        all.extend_from_slice(bytes);
        self.take(&all, false).await
    }

    /// The bytes of the stream so far.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Ends the text. What was lost is reported with it, to whoever shows it.
    pub(super) async fn finish(mut self) -> Result<Captured, StoreError> {
        let begun = std::mem::take(&mut self.begun);
        if !self.is_full {
            self.take(&begun, true).await?;
        }
        let lost_bytes = self.bytes - self.used;
        Ok(Captured {
            text: self.text.finish(Some(Loss::bytes(lost_bytes))).await?,
            bytes: self.bytes,
            lost_bytes,
            invalid_utf8: self.invalid_utf8,
        })
    }

    /// Takes bytes as text, as many as there is room for.
    async fn take(&mut self, bytes: &[u8], is_end: bool) -> Result<(), StoreError> {
        let mut text = String::with_capacity(bytes.len());
        let mut chunks = bytes.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            let valid = chunk.valid();
            let end = valid.floor_char_boundary(self.room);
            let fits = valid.get(..end).unwrap_or(valid);
            text.push_str(fits);
            self.room -= fits.len();
            self.used += fits.len() as u64;
            if fits.len() < valid.len() {
                self.is_full = true;
                break;
            }
            let rest = chunk.invalid();
            if rest.is_empty() {
                continue;
            }
            let is_begun = std::str::from_utf8(rest).is_err_and(|bad| bad.error_len().is_none());
            if is_begun && !is_end && chunks.peek().is_none() {
                self.begun = rest.to_vec();
                break;
            }
            let replaced = char::REPLACEMENT_CHARACTER;
            if replaced.len_utf8() > self.room {
                self.is_full = true;
                break;
            }
            text.push(replaced);
            self.room -= replaced.len_utf8();
            self.used += rest.len() as u64;
            self.invalid_utf8 = true;
        }
        self.text.write(&text).await
    }
}
