//! Redirects.

use super::parser::Parser;
use super::reading::Stop;
use super::tree::{Descriptor, Operator, Redirect, Target, Word};
use super::variable;

impl Parser<'_, '_> {
    /// A redirect, if one stands here.
    pub(super) fn redirect(&mut self) -> Result<Option<Redirect>, Stop> {
        let start = self.cursor.at();
        let descriptor = self.descriptor();
        let Some(operator) = self.operator(&descriptor) else {
            self.cursor.back_to(start);
            return Ok(None);
        };
        if matches!(
            operator,
            Operator::WriteBoth | Operator::AppendBoth | Operator::HereString
        ) || matches!(descriptor, Descriptor::Variable(_))
        {
            self.reading.only_bash = true;
        }
        let tabs = operator == Operator::HereDoc && self.cursor.eat(b'-');
        self.blanks();
        let target = if operator == Operator::HereDoc {
            self.here_document(tabs)?
        } else {
            let copies = matches!(operator, Operator::CopyIn | Operator::CopyOut);
            let word = match self.cursor.peek() {
                // It closes the descriptor, whatever follows.
                Some(b'-') if copies => {
                    self.cursor.bump();
                    let mut dash = Word::default();
                    dash.plain('-');
                    dash
                }
                _ => self.word()?,
            };
            if word.is_none() {
                return Err(Stop("a redirect has no target"));
            }
            Target::Word(word)
        };
        Ok(Some(Redirect {
            descriptor,
            operator,
            target,
        }))
    }

    /// All redirects behind a compound command.
    pub(super) fn redirects(&mut self) -> Result<Vec<Redirect>, Stop> {
        let mut redirects = Vec::new();
        loop {
            self.blanks();
            match self.redirect()? {
                Some(redirect) => redirects.push(redirect),
                None => return Ok(redirects),
            }
        }
    }

    /// The digits or the `{name}` before an operator.
    fn descriptor(&mut self) -> Descriptor {
        match self.cursor.peek() {
            Some(b'0'..=b'9') => {
                Descriptor::Number(self.cursor.eat_while(|byte| byte.is_ascii_digit()))
            }
            Some(b'{') => {
                let start = self.cursor.at();
                self.cursor.bump();
                let name = self.cursor.name();
                if variable::is_name(&name) && self.cursor.eat(b'}') {
                    Descriptor::Variable(name)
                } else {
                    self.cursor.back_to(start);
                    Descriptor::Default
                }
            }
            _ => Descriptor::Default,
        }
    }

    fn operator(&mut self, descriptor: &Descriptor) -> Option<Operator> {
        let next = self.cursor.peek()?;
        let second = self.cursor.second();
        match (next, second) {
            (b'&', Some(b'>')) if *descriptor == Descriptor::Default => {
                self.cursor.eat_all(b"&>");
                Some(match self.cursor.eat(b'>') {
                    true => Operator::AppendBoth,
                    false => Operator::WriteBoth,
                })
            }
            // A process substitution begins a word or goes on with it.
            (b'<' | b'>', Some(b'(')) => None,
            (b'<' | b'>', _) => {
                self.cursor.bump();
                Some(self.after_angle(next, second))
            }
            _ => None,
        }
    }

    fn after_angle(&mut self, first: u8, second: Option<u8>) -> Operator {
        let operator = match (first, second) {
            (b'<', Some(b'<')) => {
                self.cursor.eat(b'<');
                return match self.cursor.eat(b'<') {
                    true => Operator::HereString,
                    false => Operator::HereDoc,
                };
            }
            (b'<', Some(b'&')) => Operator::CopyIn,
            (b'<', Some(b'>')) => Operator::ReadWrite,
            (b'<', _) => return Operator::Read,
            (_, Some(b'>')) => Operator::Append,
            (_, Some(b'&')) => Operator::CopyOut,
            (_, Some(b'|')) => Operator::Clobber,
            _ => return Operator::Write,
        };
        self.cursor.peek();
        self.cursor.bump();
        operator
    }
}
