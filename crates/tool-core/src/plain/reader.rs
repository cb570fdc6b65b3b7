//! Reading plain JSON.

use std::borrow::Cow;

use serde_json::Number;

use super::{Member, Plain};

/// The most keys of an object: each is held against all others.
const MOST_KEYS: usize = 16;
/// The most levels of nesting.
const MOST_LEVELS: usize = 16;
/// The most digits of an integer that cannot be out of range.
const MOST_DIGITS: usize = 18;
/// Room for as many members as most objects have.
const MEMBERS: usize = 4;

pub(super) fn read(text: &str) -> Option<Plain<'_>> {
    let rest = text.as_bytes();
    let mut reader = Reader { text, rest };
    reader.skip_blanks();
    reader.value(MOST_LEVELS, |reader, value| {
        reader.skip_blanks();
        reader.rest.is_empty().then_some(value)
    })?
}

/// Gives up at whatever is not of the simple sort, wrong or not.
struct Reader<'t> {
    text: &'t str,
    /// What of the text is still to be read.
    rest: &'t [u8],
}

impl<'t> Reader<'t> {
    fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    /// What was read since there were so many bytes left, but for so many at its end.
    fn since(&self, left: usize, but: usize) -> Option<&'t str> {
        let start = self.text.len().checked_sub(left)?;
        let end = self.text.len().checked_sub(self.rest.len() + but)?;
        self.text.get(start..end)
    }

    fn skip_blanks(&mut self) {
        while let [b' ' | b'\n' | b'\r' | b'\t', rest @ ..] = self.rest {
            self.rest = rest;
        }
    }

    /// Takes a byte, and the blanks behind it.
    fn takes(&mut self, byte: u8) -> bool {
        let is_there = self.closes(byte).is_some();
        if is_there {
            self.skip_blanks();
        }
        is_there
    }

    /// Takes a byte. What stands behind it is taken by whoever asked for what it closes.
    fn closes(&mut self, byte: u8) -> Option<()> {
        match self.rest {
            [first, rest @ ..] if *first == byte => {
                self.rest = rest;
                Some(())
            }
            _ => None,
        }
    }

    fn word(&mut self, word: &[u8]) -> Option<()> {
        self.rest = self.rest.strip_prefix(word)?;
        Some(())
    }

    /// Reads a value and does with it. Each sort is made where it is used: handed over in one
    /// piece it would be read again right after it was written in several.
    #[inline]
    fn value<T>(
        &mut self,
        levels: usize,
        then: impl FnOnce(&mut Self, Plain<'t>) -> T,
    ) -> Option<T> {
        Some(match self.peek()? {
            b'{' => {
                let mut members = Vec::new();
                self.object(levels.checked_sub(1)?, &mut members)?;
                then(self, Plain::Object(members))
            }
            b'[' => {
                let mut items = Vec::new();
                self.array(levels.checked_sub(1)?, &mut items)?;
                then(self, Plain::Array(items))
            }
            b'"' => {
                let text = self.string()?;
                then(self, Plain::Text(text))
            }
            b'-' | b'0'..=b'9' => {
                let number = self.number()?;
                then(self, Plain::Number(number))
            }
            b't' => {
                self.word(b"true")?;
                then(self, Plain::Bool(true))
            }
            b'f' => {
                self.word(b"false")?;
                then(self, Plain::Bool(false))
            }
            b'n' => {
                self.word(b"null")?;
                then(self, Plain::Null)
            }
            _ => return None,
        })
    }

    fn object(&mut self, levels: usize, members: &mut Vec<Member<'t>>) -> Option<()> {
        self.takes(b'{');
        if self.closes(b'}').is_some() {
            return Some(());
        }
        members.reserve_exact(MEMBERS);
        loop {
            if members.len() == MOST_KEYS {
                return None;
            }
            let key = self.string()?;
            self.skip_blanks();
            if !self.takes(b':') || members.iter().any(|(other, _)| *other == key) {
                return None;
            }
            self.value(levels, |_, value| members.push((key, value)))?;
            self.skip_blanks();
            if !self.takes(b',') {
                break;
            }
        }
        self.closes(b'}')
    }

    fn array(&mut self, levels: usize, items: &mut Vec<Plain<'t>>) -> Option<()> {
        self.takes(b'[');
        if self.closes(b']').is_some() {
            return Some(());
        }
        loop {
            self.value(levels, |_, value| items.push(value))?;
            self.skip_blanks();
            if !self.takes(b',') {
                break;
            }
        }
        self.closes(b']')
    }

    /// A string, if one begins here.
    #[inline]
    fn string(&mut self) -> Option<Cow<'t, str>> {
        self.closes(b'"')?;
        let inside = self.rest;
        match self.verbatim() {
            Some(text) => Some(Cow::Borrowed(text)),
            None => {
                self.rest = inside;
                self.escaped().map(Cow::Owned)
            }
        }
    }

    /// The rest of a string without an escape.
    fn verbatim(&mut self) -> Option<&'t str> {
        let left = self.rest.len();
        while let [byte, rest @ ..] = self.rest {
            self.rest = rest;
            match byte {
                b'"' => return self.since(left, 1),
                b'\\' | 0..=0x1f => return None,
                _ => {}
            }
        }
        None
    }

    /// The rest of a string with escapes.
    #[cold]
    fn escaped(&mut self) -> Option<String> {
        let left = self.rest.len();
        let mut escapes = false;
        while let [byte, rest @ ..] = self.rest {
            self.rest = rest;
            match byte {
                _ if escapes => escapes = false,
                b'"' => {
                    let quoted = self.since(left + 1, 0)?;
                    return serde_json::from_str(quoted).ok();
                }
                b'\\' => escapes = true,
                _ => {}
            }
        }
        None
    }

    #[inline]
    fn number(&mut self) -> Option<Number> {
        let digits = self.rest;
        match self.integer() {
            Some(integer) => Some(Number::from(integer)),
            None => {
                self.rest = digits;
                self.long_number()
            }
        }
    }

    fn integer(&mut self) -> Option<i64> {
        let is_negative = self.closes(b'-').is_some();
        let leads_with_zero = self.peek() == Some(b'0');
        let (mut sum, mut count) = (0_i64, 0);
        while let [byte @ b'0'..=b'9', rest @ ..] = self.rest {
            // A number with more digits than fit is read again.
            sum = sum.wrapping_mul(10).wrapping_add(i64::from(byte - b'0'));
            count += 1;
            self.rest = rest;
        }
        let is_fraction = matches!(self.rest, [b'.' | b'e' | b'E', ..]);
        if count == 0 || count > MOST_DIGITS || is_fraction {
            return None;
        }
        if leads_with_zero && (count > 1 || is_negative) {
            return None;
        }
        Some(if is_negative { -sum } else { sum })
    }

    /// A number of another sort.
    #[cold]
    fn long_number(&mut self) -> Option<Number> {
        let left = self.rest.len();
        while let [b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-', rest @ ..] = self.rest {
            self.rest = rest;
        }
        let spelled = self.since(left, 0)?;
        // A build may keep numbers as they are spelled, of which this one is taken for an integer.
        if spelled == "-0" {
            return None;
        }
        let number: Number = serde_json::from_str(spelled).ok()?;
        // A rounded integer, or one that is spelled like a fraction, is for who knows all sorts.
        let is_plain = number.is_i64() || number.is_u64() || number.as_f64()?.fract() != 0.0;
        is_plain.then_some(number)
    }
}
