//! Arithmetic and subscripts. Only what they run is kept.

use super::parser::Parser;
use super::reading::Stop;
use super::tree::{List, Word};
use super::word::Place;

impl Parser<'_, '_> {
    /// Up to `))`, behind `((`.
    ///
    /// If a single `)` ends it, bash would read it again as commands. That is not told apart by
    /// reading on, so it is refused; a blank between the parentheses says what is meant.
    pub(super) fn arithmetic(&mut self) -> Result<Vec<List>, Stop> {
        self.reading.enter()?;
        let mut inner = Word::default();
        let mut open = 0_usize;
        let mut in_subscript = false;
        loop {
            let next = self.cursor.peek();
            in_subscript = in_subscript || next == Some(b'[');
            let expands = in_subscript && matches!(next, Some(b'$' | b'`' | b'"'));
            self.reading.opens_code = self.reading.opens_code || expands;
            match next {
                Some(b'(') => {
                    open += 1;
                    self.cursor.bump();
                }
                Some(b')') => {
                    self.cursor.bump();
                    if let Some(left) = open.checked_sub(1) {
                        open = left;
                    } else if self.cursor.eat(b')') {
                        break;
                    } else {
                        return Err(Stop("`((` begins commands or arithmetic"));
                    }
                }
                Some(_) => self.evaluated_part(&mut inner)?,
                None => return Err(Stop("arithmetic is not closed")),
            }
        }
        self.evaluated(inner)
    }

    /// `[..]`
    pub(super) fn subscript(&mut self) -> Result<Vec<List>, Stop> {
        self.reading.enter()?;
        let mut inner = Word::default();
        let mut open = 0_usize;
        loop {
            match self.cursor.peek() {
                Some(b'[') => {
                    open += 1;
                    self.cursor.bump();
                }
                Some(b']') => {
                    self.cursor.bump();
                    open = open.saturating_sub(1);
                    if open == 0 {
                        break;
                    }
                }
                Some(b'<' | b'>') if self.cursor.second() == Some(b'(') => {
                    return Err(Stop("a subscript holds a process substitution"));
                }
                Some(byte) => {
                    let expands = matches!(byte, b'$' | b'`' | b'"');
                    self.reading.opens_code = self.reading.opens_code || expands;
                    self.evaluated_part(&mut inner)?;
                }
                None => return Err(Stop("a subscript is not closed")),
            }
        }
        self.evaluated(inner)
    }

    /// The numbers of `${x:1:2}` up to the closing brace, with what they run added.
    pub(super) fn offsets(&mut self, inner: &mut Word) -> Result<(), Stop> {
        let mut numbers = Word::default();
        self.reading.evaluates = true;
        while !self.cursor.eat(b'}') {
            if self.cursor.peek().is_none() {
                return Err(Stop("an expansion is not closed"));
            }
            self.evaluated_part(&mut numbers)?;
        }
        check(&numbers)?;
        inner.pieces.extend(numbers.pieces);
        Ok(())
    }

    /// The end of what is evaluated: the commands in it.
    fn evaluated(&mut self, inner: Word) -> Result<Vec<List>, Stop> {
        self.reading.leave();
        check(&inner)?;
        Ok(inner.into_runs().collect())
    }

    /// One part of what is evaluated.
    fn evaluated_part(&mut self, inner: &mut Word) -> Result<(), Stop> {
        match self.cursor.peek() {
            // Substitutions in single quotes run here, although the quotes hide their brackets.
            Some(b'\'') => Err(Stop("arithmetic holds single quotes")),
            Some(b'\\') => Err(Stop("arithmetic holds a backslash")),
            Some(b'"') => {
                self.reading.evaluates = true;
                self.double(inner)
            }
            Some(b'$') => {
                self.reading.evaluates = true;
                self.dollar(inner, Place::Count)
            }
            Some(b'`') => {
                self.reading.evaluates = true;
                self.backquoted(inner, Place::Count)
            }
            Some(byte) if byte.is_ascii_alphabetic() || byte == b'_' => {
                let name = self.cursor.name();
                self.reading.note_evaluated(name);
                Ok(())
            }
            Some(byte) if byte.is_ascii_digit() => {
                // Letters behind digits belong to the number.
                self.cursor.eat_while(|byte| byte.is_ascii_alphanumeric());
                Ok(())
            }
            _ => {
                self.cursor.bump();
                Ok(())
            }
        }
    }
}

/// Whether the parentheses of an expansion, up to its `))`, do not pair up, with or without those
/// in quotes. Bash counts them as characters, also in substitutions, and runs the text as commands
/// if they do not.
pub(super) fn unpaired(text: &str) -> bool {
    let text = text.strip_suffix("))").unwrap_or(text);
    unpaired_in(text.bytes()) || unpaired_in(unquoted(text))
}

fn unpaired_in(mut bytes: impl Iterator<Item = u8>) -> bool {
    let open = bytes.try_fold(0_usize, |open, byte| match byte {
        b'(' => Some(open + 1),
        b')' => open.checked_sub(1),
        _ => Some(open),
    });
    open != Some(0)
}

/// The bytes that no quotes and no backslash hide.
fn unquoted(text: &str) -> impl Iterator<Item = u8> {
    let (mut quote, mut escaped) = (None, false);
    text.bytes().filter(move |byte| {
        if std::mem::take(&mut escaped) {
            return false;
        }
        match (quote, *byte) {
            (Some(b'"') | None, b'\\') => escaped = true,
            (None, b'\'' | b'"') => quote = Some(*byte),
            (Some(end), byte) if end == byte => quote = None,
            (Some(_), _) => {}
            (None, _) => return true,
        }
        false
    })
}

/// Quoted text loses its quotes before it is evaluated, and would run then.
fn check(evaluated: &Word) -> Result<(), Stop> {
    match evaluated.known().contains(['$', '`']) {
        true => Err(Stop("arithmetic holds a quoted substitution")),
        false => Ok(()),
    }
}
