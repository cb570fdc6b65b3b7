//! Bytes in pieces.

use std::io::{self, Read as _};
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_core::Stream;
use tool_core::ByteStream;

use crate::store_file::StoreFile;

/// Bytes that are in memory, in one piece.
pub(crate) struct OfBytes(pub(crate) Bytes);

/// The first bytes of a file, read when they are asked for.
pub(crate) struct OfFile {
    file: StoreFile,
    left: u64,
}

type Piece = Result<Bytes, Box<dyn std::error::Error + Send + Sync>>;

impl OfFile {
    pub(crate) fn stream(file: StoreFile, bytes: u64) -> ByteStream<'static> {
        Box::pin(Self { file, left: bytes })
    }

    fn read(&mut self) -> io::Result<Bytes> {
        let len = self.left.min(PIECE as u64);
        let mut piece = Vec::with_capacity(usize::try_from(len).unwrap_or(PIECE));
        self.file.by_ref().take(len).read_to_end(&mut piece)?;
        if piece.len() as u64 != len {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.left -= len;
        Ok(piece.into())
    }
}

impl Stream for OfBytes {
    type Item = Piece;

    fn poll_next(mut self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Option<Piece>> {
        let bytes = std::mem::take(&mut self.0);
        Poll::Ready((!bytes.is_empty()).then_some(Ok(bytes)))
    }
}

impl Stream for OfFile {
    type Item = Piece;

    fn poll_next(mut self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Option<Piece>> {
        if self.left == 0 {
            return Poll::Ready(None);
        }
        let piece = self.read();
        if piece.is_err() {
            self.left = 0;
        }
        Poll::Ready(Some(piece.map_err(Into::into)))
    }
}

/// How many bytes of a file a piece has at most.
const PIECE: usize = 128 * 1024;
