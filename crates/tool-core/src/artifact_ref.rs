//! The names of artifacts.

use std::fmt;
use std::sync::Arc;

/// The reference of an artifact, as a model speaks it.
///
/// Stores of this runtime mint `art_` and 22 characters of `[0-9A-Za-z]`, some 131 random bits:
/// never made of the content, and never to be guessed. It opens nothing without the scope that it
/// was minted in. A text that is no such reference names nothing, and is told apart from one that
/// does before it meets a path or a query.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ArtifactRef(Arc<str>);

impl ArtifactRef {
    /// Mints a reference from random bytes, which `fill` writes into what it is given.
    ///
    /// # Errors
    /// That of `fill`.
    pub fn mint<E>(mut fill: impl FnMut(&mut [u8]) -> Result<(), E>) -> Result<Self, E> {
        let mut text = String::from(PREFIX);
        while text.len() < PREFIX.len() + DIGITS {
            let mut random = [0_u8; 32];
            fill(&mut random)?;
            // Bytes beyond the last whole multiple of 62 would favour some characters.
            let digits = random
                .iter()
                .filter(|byte| usize::from(**byte) < FAIR)
                .filter_map(|byte| ALPHABET.get(usize::from(*byte) % ALPHABET.len()));
            let missing = PREFIX.len() + DIGITS - text.len();
            text.extend(digits.take(missing).map(|digit| char::from(*digit)));
        }
        Ok(Self(text.into()))
    }

    /// The reference that a text is; `None` for a text that no store here can have minted.
    ///
    /// ```
    /// use tool_core::ArtifactRef;
    ///
    /// assert!(ArtifactRef::parse("art_0123456789ABCDEFGHabcd").is_some());
    /// assert!(ArtifactRef::parse("../art_0123456789ABCDEFGHa").is_none());
    /// ```
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix(PREFIX)?;
        let is_whole = digits.len() == DIGITS;
        (is_whole && digits.bytes().all(|digit| ALPHABET.contains(&digit)))
            .then(|| Self(text.into()))
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The reference of a store that has a grammar of its own, taken as it is.
impl From<&str> for ArtifactRef {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl fmt::Display for ArtifactRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for ArtifactRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

const PREFIX: &str = "art_";
const DIGITS: usize = 22;
const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const FAIR: usize = 256 - 256 % ALPHABET.len();
