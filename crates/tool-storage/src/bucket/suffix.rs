//! The end of what goes up.

use crate::cut::end_of;

/// The end of an output that goes by and cannot be read back before it is shown.
pub(crate) struct Suffix {
    reach: usize,
    bytes: Vec<u8>,
}

impl Suffix {
    pub(crate) fn new(reach: usize) -> Self {
        Self {
            reach,
            bytes: Vec::new(),
        }
    }

    pub(crate) fn see(&mut self, bytes: &[u8]) {
        self.bytes
            .extend_from_slice(end_of(bytes, self.reach.min(bytes.len())));
        // Twice as much is let grow, so that each byte is moved once at most.
        if self.bytes.len() >= self.reach.saturating_mul(2) {
            self.bytes.drain(..self.bytes.len() - self.reach);
        }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}
