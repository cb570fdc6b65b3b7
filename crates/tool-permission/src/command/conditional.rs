//! `[[ .. ]]`

use super::parser::Parser;
use super::reading::Stop;
use super::tree::Word;

impl Parser<'_, '_> {
    /// The operands up to `]]`, behind `[[`.
    ///
    /// The order of `&&`, `||`, `!` and parentheses is checked, since a mistake there is an error
    /// to bash; how strongly they bind is of no interest.
    pub(super) fn test(&mut self) -> Result<Vec<Word>, Stop> {
        let mut operands = Vec::new();
        let mut open = 0_usize;
        loop {
            self.gap()?;
            if self.eat_word(b"!") {
                continue;
            }
            if self.cursor.eat(b'(') {
                open += 1;
                continue;
            }
            self.condition(&mut operands)?;
            loop {
                self.gap()?;
                if self.cursor.eat_all(b"&&") || self.cursor.eat_all(b"||") {
                    break;
                }
                if self.cursor.eat(b')') {
                    open = open
                        .checked_sub(1)
                        .ok_or(Stop("a condition has too many parentheses"))?;
                } else if open == 0 && self.eat_word(b"]]") {
                    return Ok(operands);
                } else {
                    return Err(Stop("a condition is not closed"));
                }
            }
        }
    }

    /// A word with an operator before it, between it and another, or none.
    fn condition(&mut self, operands: &mut Vec<Word>) -> Result<(), Stop> {
        let word = self.operand_word()?;
        let unary = match word.literal().as_deref().map(str::as_bytes) {
            Some([b'-', letter]) if UNARY.contains(letter) => Some(*letter),
            _ => None,
        };
        operands.push(word);
        self.gap()?;
        if let Some(letter) = unary {
            // It looks into a subscript.
            self.reading.evaluates = self.reading.evaluates || letter == b'v';
            // A condition of one word may look like an operator; bash refuses that.
            operands.push(self.operand_word()?);
            return Ok(());
        }
        if self.cursor.peek() == Some(b'<') || self.cursor.peek() == Some(b'>') {
            self.cursor.bump();
            self.gap()?;
            operands.push(self.operand_word()?);
            return Ok(());
        }
        let start = self.cursor.at();
        let operator = self
            .cursor
            .eat_while(|byte| !b" \t\n;&|()<>$`'\"\\".contains(&byte));
        if !self.at_word_end() || !BINARY.contains(&operator.as_str()) {
            self.cursor.back_to(start);
            return Ok(());
        }
        self.gap()?;
        let operand = match operator.as_str() {
            "=~" => self.pattern(true)?,
            "=" | "==" | "!=" => self.pattern(false)?,
            // The others compare numbers, by evaluating both sides.
            _ => {
                self.reading.evaluates = true;
                self.operand_word()?
            }
        };
        operands.push(operand);
        Ok(())
    }

    fn operand_word(&mut self) -> Result<Word, Stop> {
        let word = self.word()?;
        if word.is_none() || word.literal().as_deref() == Some("]]") {
            return Err(Stop("a condition lacks an operand"));
        }
        Ok(word)
    }

    /// A pattern, in which parentheses group: everywhere in a regular expression, else behind one
    /// of the characters that repeat.
    fn pattern(&mut self, regular: bool) -> Result<Word, Stop> {
        let mut word = Word::default();
        let mut open = 0_usize;
        let mut last = 0;
        loop {
            let next = self.cursor.peek();
            match next {
                Some(b'(') if open > 0 || regular || b"?*+@!".contains(&last) => {
                    open += 1;
                    self.group_character(&mut word);
                }
                Some(b')') if open > 0 => {
                    open -= 1;
                    self.group_character(&mut word);
                }
                Some(b'|') if open > 0 || (regular && self.cursor.second() != Some(b'|')) => {
                    self.group_character(&mut word);
                }
                Some(b'\n') | None if open > 0 => {
                    return Err(Stop("a pattern is not closed"));
                }
                Some(b'<' | b'>') if open > 0 && self.cursor.second() != Some(b'(') => {
                    self.group_character(&mut word);
                }
                Some(b' ' | b'\t' | b';' | b'&') if open > 0 => self.group_character(&mut word),
                _ if self.at_word_end() => break,
                _ => self.part(&mut word)?,
            }
            last = next.unwrap_or_default();
        }
        if word.is_none() || word.literal().as_deref() == Some("]]") {
            return Err(Stop("a condition lacks an operand"));
        }
        self.reading.note_text(&word);
        Ok(word)
    }

    fn group_character(&mut self, word: &mut Word) {
        if let Some(char) = self.cursor.char() {
            word.quoted(char);
        }
    }
}

const UNARY: &[u8] = b"abcdefghknoprstuvwxzGLNORS";

const BINARY: &[&str] = &[
    "=~", "=", "==", "!=", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef",
];
