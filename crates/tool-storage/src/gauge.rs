//! What is measured of bytes on their way into a store.

use sha2::{Digest as _, Sha256};
use tool_core::Digest;

use crate::joined::newlines;

/// Measures bytes that go by.
pub(crate) struct Gauge {
    hash: Sha256,
    bytes: u64,
    newlines: u64,
    last: Option<u8>,
}

/// What was measured while bytes went by.
pub(crate) struct Measured {
    pub(crate) bytes: u64,
    pub(crate) lines: u64,
    pub(crate) digest: Digest,
}

impl Gauge {
    pub(crate) fn new() -> Self {
        Self {
            hash: Sha256::new(),
            bytes: 0,
            newlines: 0,
            last: None,
        }
    }

    pub(crate) fn take(&mut self, bytes: &[u8]) {
        self.hash.update(bytes);
        self.bytes += bytes.len() as u64;
        self.newlines += newlines(bytes) as u64;
        self.last = bytes.last().copied().or(self.last);
    }

    /// The bytes so far.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn measure(&self) -> Measured {
        let unfinished = self.last.is_some_and(|last| last != b'\n');
        Measured {
            bytes: self.bytes,
            lines: self.newlines + u64::from(unfinished),
            digest: Digest::from(<[u8; 32]>::from(self.hash.clone().finalize())),
        }
    }
}
