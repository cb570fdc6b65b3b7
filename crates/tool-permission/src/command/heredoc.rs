//! Here-documents.

use super::parser::Parser;
use super::reading::Stop;
use super::tree::{Target, Word};
use super::word::Place;

/// A here-document whose body has not been read yet.
#[derive(Debug)]
pub(super) struct Pending {
    body: usize,
    delimiter: String,
    /// A quoted delimiter: the body is literal.
    quoted: bool,
    /// `<<-`: tabs before each line do not count.
    tabs: bool,
}

impl Parser<'_, '_> {
    /// The delimiter behind `<<`; the body follows the next newline.
    pub(super) fn here_document(&mut self, tabs: bool) -> Result<Target, Stop> {
        let mut delimiter = Word::default();
        let mut quoted = false;
        while !self.at_word_end() {
            match self.cursor.peek() {
                Some(b'$' | b'`' | b'<' | b'>') => {
                    return Err(Stop("a delimiter looks like an expansion"));
                }
                Some(b'\\' | b'\'' | b'"') => quoted = true,
                _ => {}
            }
            self.part(&mut delimiter)?;
        }
        match delimiter.literal() {
            Some(delimiter_text) if !delimiter.is_none() => {
                self.has_document = true;
                let body = self.reading.bodies.len();
                self.reading.bodies.push(Word::default());
                self.pending.push(Pending {
                    body,
                    delimiter: delimiter_text,
                    quoted,
                    tabs,
                });
                Ok(Target::Body(body))
            }
            _ => Err(Stop("a here-document has no delimiter")),
        }
    }

    /// Reads the bodies that are due, at the start of a line or at the end of the text.
    pub(super) fn bodies(&mut self) -> Result<(), Stop> {
        for pending in std::mem::take(&mut self.pending) {
            let text = self.body_text(&pending)?;
            let mut word = Word::default();
            word.quote();
            if pending.quoted {
                text.chars().for_each(|char| word.quoted(char));
            } else {
                self.reading.enter()?;
                let mut inner = Parser::new(&text, &mut *self.reading);
                while inner.cursor.peek().is_some() {
                    inner.quoted_part(&mut word, Place::Body, br"$`\")?;
                }
                inner.reading.steps += inner.cursor.steps();
                self.reading.leave();
            }
            self.reading.note_text(&word);
            if let Some(body) = self.reading.bodies.get_mut(pending.body) {
                *body = word;
            }
        }
        Ok(())
    }

    /// The lines up to the delimiter, or to the end of the text.
    fn body_text(&mut self, pending: &Pending) -> Result<String, Stop> {
        let mut text = String::new();
        while let Some(line) = self.body_line(pending.quoted) {
            let line = match pending.tabs {
                true => line.trim_start_matches('\t'),
                false => &line,
            };
            if line == pending.delimiter {
                break;
            }
            let ends = line.strip_prefix(pending.delimiter.as_str());
            if self.in_parentheses && ends.is_some_and(|rest| rest.contains(')')) {
                return Err(Stop("a here-document may end inside of a line"));
            }
            text.push_str(line);
            text.push('\n');
        }
        Ok(text)
    }

    /// One line without its newline. Lines of a body that is expanded may be joined.
    fn body_line(&mut self, quoted: bool) -> Option<String> {
        self.cursor.raw()?;
        let mut line = String::new();
        while let Some(char) = self.cursor.char() {
            match char {
                '\n' => break,
                '\\' if !quoted => match self.cursor.char() {
                    Some('\n') => {}
                    next => {
                        line.push('\\');
                        line.extend(next);
                    }
                },
                char => line.push(char),
            }
        }
        Some(line)
    }
}
