//! Reading plain JSON.

use std::borrow::Cow;

use serde_json::Number;

use super::Plain;

/// The most keys of an object: each is held against all others.
const MOST_KEYS: usize = 16;
/// The most levels of nesting.
const MOST_LEVELS: usize = 16;
/// The most digits of an integer that cannot be out of range.
const MOST_DIGITS: usize = 18;
/// Room for as many members as most objects have.
const MEMBERS: usize = 4;

pub(super) fn read(text: &str) -> Option<Plain<'_>> {
    let mut reader = Reader { text, at: 0 };
    reader.skip_blanks();
    let value = reader.value(MOST_LEVELS)?;
    reader.skip_blanks();
    (reader.at == text.len()).then_some(value)
}

/// Gives up at whatever is not of the simple sort, wrong or not.
struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Reader<'t> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_blanks(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.at += 1;
        }
    }

    /// Takes a byte, and the blanks behind it.
    fn takes(&mut self, byte: u8) -> bool {
        let is_there = self.peek() == Some(byte);
        if is_there {
            self.at += 1;
            self.skip_blanks();
        }
        is_there
    }

    fn word(&mut self, word: &str, value: Plain<'t>) -> Option<Plain<'t>> {
        let rest = self.text.as_bytes().get(self.at..)?;
        rest.starts_with(word.as_bytes()).then(|| {
            self.at += word.len();
            value
        })
    }

    fn value(&mut self, levels: usize) -> Option<Plain<'t>> {
        match self.peek()? {
            b'{' => self.object(levels.checked_sub(1)?),
            b'[' => self.array(levels.checked_sub(1)?),
            b'"' => self.string().map(Plain::Text),
            b't' => self.word("true", Plain::Bool(true)),
            b'f' => self.word("false", Plain::Bool(false)),
            b'n' => self.word("null", Plain::Null),
            b'-' | b'0'..=b'9' => self.number().map(Plain::Number),
            _ => None,
        }
    }

    fn object(&mut self, levels: usize) -> Option<Plain<'t>> {
        self.takes(b'{');
        if self.takes(b'}') {
            return Some(Plain::Object(Vec::new()));
        }
        let mut members: Vec<(Cow<'t, str>, Plain<'t>)> = Vec::with_capacity(MEMBERS);
        loop {
            if self.peek() != Some(b'"') || members.len() == MOST_KEYS {
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
        // What stands behind it is taken by whoever asked for it.
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

    fn closes(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    /// A string, whose first quotation mark is there.
    fn string(&mut self) -> Option<Cow<'t, str>> {
        let start = self.at + 1;
        let bytes = self.text.as_bytes();
        let mut at = start;
        loop {
            match bytes.get(at)? {
                b'"' => break,
                b'\\' => return self.escaped(at),
                0..=0x1f => return None,
                _ => at += 1,
            }
        }
        self.at = at + 1;
        self.text.get(start..at).map(Cow::Borrowed)
    }

    /// A string with an escape at that place, or with several from there on.
    fn escaped(&mut self, mut at: usize) -> Option<Cow<'t, str>> {
        let bytes = self.text.as_bytes();
        loop {
            match bytes.get(at)? {
                b'"' => break,
                b'\\' => at += 2,
                _ => at += 1,
            }
        }
        let quoted = self.text.get(self.at..=at)?;
        self.at = at + 1;
        serde_json::from_str(quoted).ok().map(Cow::Owned)
    }

    fn number(&mut self) -> Option<Number> {
        let start = self.at;
        let is_negative = self.peek() == Some(b'-');
        if is_negative {
            self.at += 1;
        }
        let digits = self.at;
        let mut sum = 0_i64;
        while let Some(byte @ b'0'..=b'9') = self.peek() {
            // Numbers with more digits than fit are read again below.
            sum = sum.wrapping_mul(10).wrapping_add(i64::from(byte - b'0'));
            self.at += 1;
        }
        let count = self.at - digits;
        let is_fraction = matches!(self.peek(), Some(b'.' | b'e' | b'E'));
        let leads_with_zero = self.text.as_bytes().get(digits) == Some(&b'0');
        if count == 0 || (leads_with_zero && (count > 1 || (is_negative && !is_fraction))) {
            return None;
        }
        if !is_fraction && count <= MOST_DIGITS {
            return Some(Number::from(if is_negative { -sum } else { sum }));
        }
        while let Some(b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-') = self.peek() {
            self.at += 1;
        }
        let number: Number = serde_json::from_str(self.text.get(start..self.at)?).ok()?;
        // A rounded integer, or one that is spelled like a fraction, is for who knows all sorts.
        let is_plain = number.is_i64() || number.is_u64() || number.as_f64()?.fract() != 0.0;
        is_plain.then_some(number)
    }
}
