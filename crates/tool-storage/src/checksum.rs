//! The checksum of a stored output.

use twox_hash::xxhash3_128::Hasher;

/// What the name of every checksum begins with.
const NAME: &str = "xxh3-128";

/// Takes the checksum of an output while it goes by: XXH3 with 128 bits and seed 0 (xxHash
/// specification 0.2.0), written as `xxhsum -H2` writes it.
///
/// It tells a disk's damage, and that is all it is for. A digest that proves who wrote something
/// would prove nothing here, as whoever can change an output can change its record as well. It would
/// take longer than everything else that storing does: on one machine a GiB takes SHA-256 a second
/// and BLAKE3 a fifth of one, where copying it takes a quarter and this a twentieth. What is handed
/// to others with a digest, an artifact that asks for one, has SHA-256.
pub(crate) struct Checksum(Box<Hasher>);

/// What a checksum could not be held against.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Mismatch {
    /// It was taken in a way that this version does not know.
    Unknown(String),
    /// The bytes are others.
    Other,
}

impl Checksum {
    pub(crate) fn new() -> Self {
        Self(Box::new(Hasher::new()))
    }

    pub(crate) fn take(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }

    pub(crate) fn text(&self) -> String {
        format!("{NAME}:{:032x}", self.0.finish_128())
    }

    /// Whether the bytes that went by are those that an earlier checksum was taken of.
    pub(crate) fn check(&self, earlier: &str) -> Result<(), Mismatch> {
        match earlier.split_once(':') {
            Some((NAME, _)) if earlier == self.text() => Ok(()),
            Some((NAME, _)) => Err(Mismatch::Other),
            Some((name, _)) => Err(Mismatch::Unknown(name.to_owned())),
            None => Err(Mismatch::Unknown("no name".to_owned())),
        }
    }
}

#[cfg(test)]
mod tests;
