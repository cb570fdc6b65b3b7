//! A place in a text that is being read.

/// Reads a text from left to right.
///
/// A backslash before a newline joins two lines. [`peek`](Self::peek) and what builds on it skip
/// such pairs; [`raw`](Self::raw) and [`char`](Self::char) see them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'s> {
    text: &'s str,
    at: usize,
    /// How many characters were stepped over, also again.
    steps: usize,
}

impl<'s> Cursor<'s> {
    pub(super) fn new(text: &'s str) -> Self {
        Self {
            text,
            at: 0,
            steps: 0,
        }
    }

    /// The offset of the next character, in bytes.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// How many characters were stepped over so far, some of them more than once.
    pub(super) fn steps(&self) -> usize {
        self.steps
    }

    /// Goes back to an offset that [`at`](Self::at) gave.
    pub(super) fn back_to(&mut self, at: usize) {
        self.at = at;
    }

    /// The text from an offset up to here.
    pub(super) fn since(&self, start: usize) -> &'s str {
        self.text.get(start..self.at).unwrap_or_default()
    }

    /// The next byte.
    pub(super) fn raw(&self) -> Option<u8> {
        self.byte(0)
    }

    /// The next byte behind joined lines.
    pub(super) fn peek(&mut self) -> Option<u8> {
        while self.byte(0) == Some(b'\\') && self.byte(1) == Some(b'\n') {
            self.at += 2;
            self.steps += 2;
        }
        self.byte(0)
    }

    /// The byte after the next.
    pub(super) fn second(&mut self) -> Option<u8> {
        self.peek()?;
        let here = self.at;
        self.bump();
        let second = self.peek();
        self.at = here;
        second
    }

    /// Takes the next character.
    pub(super) fn char(&mut self) -> Option<char> {
        let char = self.text.get(self.at..)?.chars().next()?;
        self.at += char.len_utf8();
        self.steps += 1;
        Some(char)
    }

    /// Steps over the next character.
    pub(super) fn bump(&mut self) {
        self.char();
    }

    /// Takes the next byte if it is this one.
    pub(super) fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        if found {
            self.bump();
        }
        found
    }

    /// Takes these bytes, all or none.
    pub(super) fn eat_all(&mut self, bytes: &[u8]) -> bool {
        let here = self.at;
        let found = bytes.iter().all(|byte| self.eat(*byte));
        if !found {
            self.at = here;
        }
        found
    }

    /// Takes bytes as long as they pass.
    pub(super) fn eat_while(&mut self, pass: impl Fn(u8) -> bool) -> String {
        let mut taken = String::new();
        while let Some(byte) = self.peek()
            && byte.is_ascii()
            && pass(byte)
        {
            taken.push(char::from(byte));
            self.bump();
        }
        taken
    }

    /// Takes a name of a variable, empty if there is none.
    pub(super) fn name(&mut self) -> String {
        match self.peek() {
            Some(b'0'..=b'9') => String::new(),
            _ => self.eat_while(|byte| byte.is_ascii_alphanumeric() || byte == b'_'),
        }
    }

    fn byte(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }
}
