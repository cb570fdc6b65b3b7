//! Names that nobody can guess.

use std::fmt::{self, Write as _};

/// The id of a retained output: `out_` and 80 random bits in base 32.
///
/// It is also the name of the output's file, so it is parsed before it meets the file system: a
/// text that is no id, a path among them, names nothing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Id([u8; DIGITS]);

impl Id {
    pub(crate) fn mint() -> Result<Self, getrandom::Error> {
        let mut random = [0_u8; 16];
        getrandom::fill(&mut random)?;
        let bits = u128::from_be_bytes(random);
        let mut digits = [b'0'; DIGITS];
        for (place, digit) in digits.iter_mut().enumerate() {
            // Five bits are always an index of the 32 digits.
            let value = (bits >> (place * 5)) as usize & 31;
            *digit = ALPHABET.get(value).copied().unwrap_or(b'0');
        }
        Ok(Self(digits))
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        let digits: [u8; DIGITS] = text.strip_prefix(PREFIX)?.as_bytes().try_into().ok()?;
        digits
            .iter()
            .all(|digit| ALPHABET.contains(digit))
            .then_some(Self(digits))
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(PREFIX)?;
        self.0
            .iter()
            .try_for_each(|digit| f.write_char(char::from(*digit)))
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

const PREFIX: &str = "out_";
const DIGITS: usize = 16;
/// Digits and lower-case letters without those that are read for one another: i, l, o, u.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
