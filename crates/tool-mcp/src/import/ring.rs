//! The last bytes that a server wrote to stderr.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncRead, AsyncReadExt};

const CHUNK: usize = 8 * 1024;

/// The last bytes of a stream. Clones share them.
#[derive(Clone)]
pub(crate) struct Ring {
    bytes: Arc<Mutex<VecDeque<u8>>>,
    capacity: usize,
}

impl Ring {
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            bytes: Arc::default(),
            capacity,
        }
    }

    /// Reads a stream to its end, so that whoever writes to it never waits for a reader.
    pub(crate) async fn drain(self, mut stream: impl AsyncRead + Unpin) {
        let mut chunk = vec![0; CHUNK];
        while let Ok(read) = stream.read(&mut chunk).await
            && read > 0
        {
            self.keep(chunk.get(..read).unwrap_or_default());
        }
    }

    /// What is kept, as text.
    pub(crate) fn text(&self) -> String {
        let bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        let (head, tail) = bytes.as_slices();
        String::from_utf8_lossy(&[head, tail].concat()).into_owned()
    }

    fn keep(&self, chunk: &[u8]) {
        let mut bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        bytes.extend(chunk);
        let excess = bytes.len().saturating_sub(self.capacity);
        bytes.drain(..excess);
    }
}
