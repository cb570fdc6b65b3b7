//! What is measured of bytes on their way into a store.

use sha2::{Digest as _, Sha256};
use tool_core::Digest;

use crate::checksum::Checksum;
use crate::joined::newlines;

/// Measures bytes that go by.
pub(crate) struct Gauge {
    hash: Hash,
    bytes: u64,
    newlines: u64,
    last: Option<u8>,
}

/// What is taken of bytes so that they are known again.
pub(crate) enum Hash {
    /// Nothing.
    None,
    /// What tells damage, for the store's own use.
    Checksum(Checksum),
    /// What proves to others that these are the bytes.
    Digest(Sha256),
}

/// What was measured while bytes went by.
pub(crate) struct Measured {
    pub(crate) bytes: u64,
    pub(crate) lines: u64,
}

impl Hash {
    pub(crate) fn checksum() -> Self {
        Self::Checksum(Checksum::new())
    }

    /// A digest where one was asked for.
    pub(crate) fn digest_if(asked: bool) -> Self {
        match asked {
            true => Self::Digest(Sha256::new()),
            false => Self::None,
        }
    }
}

impl Gauge {
    pub(crate) fn new(hash: Hash) -> Self {
        Self {
            hash,
            bytes: 0,
            newlines: 0,
            last: None,
        }
    }

    pub(crate) fn take(&mut self, bytes: &[u8]) {
        // In blocks that the nearest cache holds, as they are read twice.
        for block in bytes.chunks(BLOCK) {
            match &mut self.hash {
                Hash::None => {}
                Hash::Checksum(checksum) => checksum.take(block),
                Hash::Digest(digest) => digest.update(block),
            }
            self.newlines += newlines(block) as u64;
        }
        self.bytes += bytes.len() as u64;
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
        }
    }

    /// The name of the hash, a colon and the hash in hexadecimal; `None` where none was taken.
    pub(crate) fn hash(&self) -> Option<String> {
        match &self.hash {
            Hash::None => None,
            Hash::Checksum(checksum) => Some(checksum.text()),
            Hash::Digest(digest) => {
                let bytes = <[u8; 32]>::from(digest.clone().finalize());
                Some(Digest::from(bytes).to_string())
            }
        }
    }
}

const BLOCK: usize = 16 * 1024;
