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
    let value = reader.value(MOST_LEVELS)?;
    reader.skip_blanks();
    reader.rest.is_empty().then_some(value)
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

    fn word(&mut self, word: &[u8], value: Plain<'t>) -> Option<Plain<'t>> {
        self.rest = self.rest.strip_prefix(word)?;
        Some(value)
    }

    fn value(&mut self, levels: usize) -> Option<Plain<'t>> {
        match self.peek()? {
            b'{' => self.object(levels.checked_sub(1)?),
            b'[' => self.array(levels.checked_sub(1)?),
            b'"' => self.string().map(Plain::Text),
            b't' => self.word(b"true", Plain::Bool(true)),
            b'f' => self.word(b"false", Plain::Bool(false)),
            b'n' => self.word(b"null", Plain::Null),
            b'-' | b'0'..=b'9' => self.number().map(Plain::Number),
            _ => None,
        }
    }

    fn object(&mut self, levels: usize) -> Option<Plain<'t>> {
        self.takes(b'{');
        if self.closes(b'}').is_some() {
            return Some(Plain::Object(Vec::new()));
        }
        let mut members: Vec<Member<'t>> = Vec::with_capacity(MEMBERS);
        loop {
            if members.len() == MOST_KEYS {
                return None;
            }
            let key = self.string()?;
            self.skip_blanks();
            if !self.takes(b':') || members.iter().any(|(other, _)| *other == key) {
                return None;
            }
            let value = self.value(levels)?;
            members.push((key, value));
            self.skip_blanks();
            if !self.takes(b',') {
                break;
            }
        }
        self.closes(b'}')?;
        Some(Plain::Object(members))
    }

    fn array(&mut self, levels: usize) -> Option<Plain<'t>> {
        self.takes(b'[');
        let mut items = Vec::new();
        if self.closes(b']').is_some() {
            return Some(Plain::Array(items));
        }
        loop {
            items.push(self.value(levels)?);
            self.skip_blanks();
            if !self.takes(b',') {
                break;
            }
        }
        self.closes(b']')?;
        Some(Plain::Array(items))
    }

    /// A string, if one begins here.
    fn string(&mut self) -> Option<Cow<'t, str>> {
        self.closes(b'"')?;
        let left = self.rest.len();
        while let [byte, rest @ ..] = self.rest {
            self.rest = rest;
            match byte {
                b'"' => return self.since(left, 1).map(Cow::Borrowed),
                b'\\' => return self.escaped(left),
                0..=0x1f => return None,
                _ => {}
            }
        }
        None
    }

    /// A string that began when there were so many bytes left, and whose first escape is begun.
    fn escaped(&mut self, left: usize) -> Option<Cow<'t, str>> {
        let mut escapes = true;
        while let [byte, rest @ ..] = self.rest {
            self.rest = rest;
            match byte {
                _ if escapes => escapes = false,
                b'"' => {
                    let quoted = self.since(left + 1, 0)?;
                    return serde_json::from_str(quoted).ok().map(Cow::Owned);
                }
                b'\\' => escapes = true,
                _ => {}
            }
        }
        None
    }

    fn number(&mut self) -> Option<Number> {
        let left = self.rest.len();
        let is_negative = self.closes(b'-').is_some();
        let leads_with_zero = self.peek() == Some(b'0');
        let (mut sum, mut count) = (0_i64, 0);
        while let [byte @ b'0'..=b'9', rest @ ..] = self.rest {
            // Numbers with more digits than fit are read again below.
            sum = sum.wrapping_mul(10).wrapping_add(i64::from(byte - b'0'));
            count += 1;
            self.rest = rest;
        }
        let is_fraction = matches!(self.rest, [b'.' | b'e' | b'E', ..]);
        if count == 0 || (leads_with_zero && (count > 1 || (is_negative && !is_fraction))) {
            return None;
        }
        if !is_fraction && count <= MOST_DIGITS {
            return Some(Number::from(if is_negative { -sum } else { sum }));
        }
        while let [b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-', rest @ ..] = self.rest {
            self.rest = rest;
        }
        let number: Number = serde_json::from_str(self.since(left, 0)?).ok()?;
        // A rounded integer, or one that is spelled like a fraction, is for who knows all sorts.
        let is_plain = number.is_i64() || number.is_u64() || number.as_f64()?.fract() != 0.0;
        is_plain.then_some(number)
    }
}
