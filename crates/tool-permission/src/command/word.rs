//! Words, quotes and assignments.

use super::parser::Parser;
use super::quoting;
use super::reading::Stop;
use super::tree::{Assignment, Split, Value, Word};

/// What stands around an expansion, which says how quotes in and after it are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// No quotes.
    Bare,
    /// Double quotes.
    Double,
    /// The body of a here-document.
    Body,
    /// Arithmetic or a subscript.
    Count,
    /// `${..}` inside of double quotes or arithmetic.
    Braces,
    /// `${..}` in the body of a here-document.
    BodyBraces,
}

/// What stands where an assignment could.
#[derive(Debug)]
pub(super) enum Head {
    Assignment(Assignment),
    Word(Word),
}

impl Place {
    pub(super) fn is_bare(self) -> bool {
        self == Self::Bare
    }
}

impl Parser<'_, '_> {
    /// A word, without pieces if none stands here.
    pub(super) fn word(&mut self) -> Result<Word, Stop> {
        self.rest_of_word(Word::default())
    }

    /// The rest of a word up to a blank or an operator.
    pub(super) fn rest_of_word(&mut self, mut word: Word) -> Result<Word, Stop> {
        let start = self.cursor.at();
        while !self.at_word_end() {
            self.part(&mut word)?;
        }
        if self.in_parentheses && self.cursor.since(start).ends_with("\\&") {
            // bash 5.2 writes the text of a substitution anew, and takes this for the operator.
            return Err(Stop("an escaped `&` ends a word in a substitution"));
        }
        self.reading.note_text(&word);
        Ok(word)
    }

    /// One part of a word: a character, an escaped one, quotes or an expansion.
    pub(super) fn part(&mut self, word: &mut Word) -> Result<(), Stop> {
        match self.cursor.peek() {
            Some(b'\\') if self.in_inner_array => {
                // bash 5.2 reads the array again without its backslashes. Where that is no array,
                // it goes on with the next line.
                Err(Stop("an array in a substitution holds a backslash"))
            }
            Some(b'\\') => {
                self.cursor.bump();
                let escaped = self.cursor.char();
                // Whether bash keeps a last backslash depends on where the text comes from.
                word.quoted(escaped.ok_or(Stop("the text ends with a backslash"))?);
                Ok(())
            }
            Some(b'\'') => self.single(word),
            Some(b'"') => self.double(word),
            Some(b'$') => self.dollar(word, Place::Bare),
            Some(b'`') => self.backquoted(word, Place::Bare),
            Some(b'<' | b'>') if self.cursor.second() == Some(b'(') => {
                self.process_substitution(word)
            }
            _ => {
                if let Some(char) = self.cursor.char() {
                    word.plain(char);
                }
                Ok(())
            }
        }
    }

    /// `'..'`
    pub(super) fn single(&mut self, word: &mut Word) -> Result<(), Stop> {
        self.cursor.bump();
        word.quote();
        loop {
            match self.cursor.char() {
                None => return Err(UNCLOSED),
                Some('\'') => return Ok(()),
                Some(char) => word.quoted(char),
            }
        }
    }

    /// `".."`
    pub(super) fn double(&mut self, word: &mut Word) -> Result<(), Stop> {
        self.cursor.bump();
        word.quote();
        loop {
            match self.cursor.peek() {
                None => return Err(UNCLOSED),
                Some(b'"') => {
                    self.cursor.bump();
                    return Ok(());
                }
                _ => self.quoted_part(word, Place::Double, br#"$`"\"#)?,
            }
        }
    }

    /// One part of quoted text, in which a backslash only escapes some characters.
    pub(super) fn quoted_part(
        &mut self,
        word: &mut Word,
        place: Place,
        escaped: &[u8],
    ) -> Result<(), Stop> {
        match self.cursor.peek() {
            Some(b'\\') => {
                self.cursor.bump();
                match self.cursor.raw() {
                    Some(byte) if escaped.contains(&byte) => {
                        word.quoted(char::from(byte));
                        self.cursor.bump();
                    }
                    _ => word.quoted('\\'),
                }
                Ok(())
            }
            Some(b'$') => self.dollar(word, place),
            Some(b'`') => self.backquoted(word, place),
            _ => {
                if let Some(char) = self.cursor.char() {
                    word.quoted(char);
                }
                Ok(())
            }
        }
    }

    /// `$'..'`, behind the dollar.
    pub(super) fn ansi_c(&mut self, word: &mut Word) -> Result<(), Stop> {
        self.reading.only_bash = true;
        self.cursor.bump();
        word.quote();
        let start = self.cursor.at();
        loop {
            let here = self.cursor.at();
            match self.cursor.char() {
                None => return Err(UNCLOSED),
                Some('\\') => self.cursor.bump(),
                Some('\'') => {
                    let end = self.cursor.at();
                    self.cursor.back_to(here);
                    let written = self.cursor.since(start);
                    let text = quoting::decode(written).ok_or(Stop("an escape has no meaning"))?;
                    self.cursor.back_to(end);
                    text.chars().for_each(|char| word.quoted(char));
                    return Ok(());
                }
                Some(_) => {}
            }
        }
    }

    /// An assignment, or the word that stands where one could.
    ///
    /// Behind a name a bracket holds a subscript there, also if no assignment follows.
    pub(super) fn head(&mut self) -> Result<Head, Stop> {
        let start = self.cursor.at();
        let name = self.cursor.name();
        if name.is_empty() {
            return self.word().map(Head::Word);
        }
        let mut subscript = None;
        let mut written = String::new();
        if self.cursor.peek() == Some(b'[') {
            let start = self.cursor.at();
            subscript = Some(self.subscript()?);
            written = self.cursor.since(start).to_owned();
        }
        if self.eat_equals() {
            let value = if self.cursor.peek() == Some(b'(') {
                let words = self.array()?;
                if !self.at_word_end() {
                    return Err(Stop("an array ends inside of a word"));
                }
                Value::Array(words)
            } else {
                let value = self.word()?;
                let opens = value.literal().as_deref() == Some("[");
                self.reading.opens_code = self.reading.opens_code || opens;
                Value::Word(value)
            };
            return Ok(Head::Assignment(Assignment {
                name,
                subscript: subscript.unwrap_or_default(),
                value,
            }));
        }
        let Some(runs) = subscript else {
            self.cursor.back_to(start);
            return self.word().map(Head::Word);
        };
        let mut word = Word::default();
        name.chars().for_each(|char| word.plain(char));
        word.expansion(&written, Split::Never, runs);
        self.rest_of_word(word).map(Head::Word)
    }

    fn eat_equals(&mut self) -> bool {
        if self.cursor.eat_all(b"+=") {
            self.reading.only_bash = true;
            return true;
        }
        self.cursor.eat(b'=')
    }

    /// `(..)` behind the equals sign of an array.
    fn array(&mut self) -> Result<Vec<Word>, Stop> {
        self.reading.only_bash = true;
        self.reading.enter()?;
        self.cursor.bump();
        let in_inner_array = std::mem::replace(&mut self.in_inner_array, self.in_parentheses);
        let mut words = Vec::new();
        loop {
            self.gap()?;
            if self.cursor.eat(b')') {
                self.in_inner_array = in_inner_array;
                self.reading.leave();
                return Ok(words);
            }
            let mut word = Word::default();
            if self.cursor.peek() == Some(b'[') {
                let start = self.cursor.at();
                let runs = self.subscript()?;
                word.expansion(self.cursor.since(start), Split::Never, runs);
            }
            let word = self.rest_of_word(word)?;
            if word.is_none() {
                return Err(Stop("an array holds an operator"));
            }
            words.push(word);
        }
    }
}

impl Assignment {
    /// The assignment as a word of a command that declares variables.
    pub(super) fn into_word(self) -> Word {
        let mut word = Word::default();
        self.name.chars().for_each(|char| word.quoted(char));
        if !self.subscript.is_empty() {
            word.expansion("[..]", Split::Never, self.subscript);
        }
        word.quoted('=');
        match self.value {
            Value::Word(value) => word.pieces.extend(value.pieces),
            Value::Array(words) => {
                let runs = words.into_iter().flat_map(Word::into_runs).collect();
                word.expansion("(..)", Split::Never, runs);
            }
        }
        word
    }
}

const UNCLOSED: Stop = Stop("a quote is not closed");
