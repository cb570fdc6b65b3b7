//! From text to a tree, in one pass.
//!
//! The parser reads substitutions where they stand, so that no text is collected first and read
//! again later. Only backquotes and here-documents have to be copied, because what is read there
//! differs from what is written.

use super::cursor::Cursor;
use super::heredoc::Pending;
use super::keyword::Keyword;
use super::reading::{MOST_BYTES, Reading, Stop};
use super::tree::{Chain, Command, Joint, List, Pipeline, Simple, Word};
use super::word::Head;

/// A text that was read.
#[derive(Debug)]
pub(super) struct Script {
    /// All of it, or the lines before the one that could not be read.
    pub(super) list: List,
    /// The bodies of here-documents.
    pub(super) bodies: Vec<Word>,
    /// Everything else that was found.
    pub(super) facts: Reading,
    /// Why it was not read to its end.
    pub(super) stop: Option<Stop>,
}

/// Reads one text.
pub(super) struct Parser<'s, 'r> {
    pub(super) cursor: Cursor<'s>,
    pub(super) reading: &'r mut Reading,
    /// Here-documents whose bodies start after the next newline.
    pub(super) pending: Vec<Pending>,
    /// The end of a here-document may stand before a closing parenthesis.
    pub(super) in_parentheses: bool,
    /// A here-document was begun in these parentheses.
    pub(super) has_document: bool,
    /// What is read is the array of a substitution.
    pub(super) in_inner_array: bool,
    /// A newline in here would meet a here-document that was begun outside.
    pub(super) owes_body: bool,
    /// The newlines so far in the list that is being read.
    lines: usize,
}

impl Script {
    /// Reads a text that lies so many levels deep.
    pub(super) fn read(text: &str, depth: usize) -> Self {
        let mut reading = Reading::new(depth);
        let mut list = List::default();
        let stop = Parser::new(text, &mut reading).whole(text, &mut list).err();
        Self {
            list,
            bodies: std::mem::take(&mut reading.bodies),
            facts: reading,
            stop,
        }
    }
}

impl<'s, 'r> Parser<'s, 'r> {
    pub(super) fn new(text: &'s str, reading: &'r mut Reading) -> Self {
        Self {
            cursor: Cursor::new(text),
            reading,
            pending: Vec::new(),
            in_parentheses: false,
            has_document: false,
            in_inner_array: false,
            owes_body: false,
            lines: 0,
        }
    }

    /// Reads a whole text into the list. After an error the list holds the lines that are
    /// complete, since a shell runs those before it meets the error.
    pub(super) fn whole(mut self, text: &str, list: &mut List) -> Result<(), Stop> {
        if text.len() > MOST_BYTES {
            return Err(Stop("it is too long"));
        }
        if text.contains('\0') {
            return Err(Stop("it holds a NUL"));
        }
        let mut complete = 0;
        let read = self
            .commands(list, &mut complete)
            .and_then(|()| match self.cursor.peek() {
                None => self.bodies(),
                Some(_) => Err(Stop("a word or operator stands where none can")),
            });
        self.reading.steps += self.cursor.steps();
        if read.is_err() {
            list.chains.truncate(complete);
        }
        read
    }

    /// A list up to what cannot start a command.
    pub(super) fn list(&mut self) -> Result<List, Stop> {
        self.reading.enter()?;
        let mut list = List::default();
        let lines = std::mem::take(&mut self.lines);
        self.commands(&mut list, &mut 0)?;
        self.lines = lines;
        self.reading.leave();
        Ok(list)
    }

    /// A list that must not be empty.
    pub(super) fn some_list(&mut self) -> Result<List, Stop> {
        let list = self.list()?;
        if list.chains.is_empty() {
            return Err(Stop("a command is missing"));
        }
        Ok(list)
    }

    fn commands(&mut self, list: &mut List, complete: &mut usize) -> Result<(), Stop> {
        loop {
            let before = self.lines;
            self.gap()?;
            if self.lines != before {
                *complete = list.chains.len();
            }
            if self.at_end() {
                return Ok(());
            }
            list.chains.push(self.chain()?);
            self.blanks();
            match self.cursor.peek() {
                Some(b';') if !matches!(self.cursor.second(), Some(b';' | b'&')) => {
                    if self.in_parentheses && self.has_document {
                        // bash 5.2 writes the text of a substitution anew, and forgets this one.
                        return Err(Stop("a semicolon behind a here-document may be lost"));
                    }
                    self.cursor.bump();
                }
                Some(b'&') => {
                    self.cursor.bump();
                    if let Some(chain) = list.chains.last_mut() {
                        chain.background = true;
                    }
                }
                Some(b'\n') => {}
                _ => return Ok(()),
            }
        }
    }

    /// Whether no command can start here.
    fn at_end(&mut self) -> bool {
        match self.cursor.peek() {
            None | Some(b')' | b';') => true,
            _ => self.keyword().is_some_and(Keyword::closes),
        }
    }

    fn chain(&mut self) -> Result<Chain, Stop> {
        let line = self.lines;
        let first = self.pipeline()?;
        let mut rest = Vec::new();
        loop {
            self.blanks();
            let joint = if self.cursor.eat_all(b"&&") {
                Joint::And
            } else if self.cursor.eat_all(b"||") {
                Joint::Or
            } else {
                return Ok(Chain {
                    first,
                    rest,
                    background: false,
                    line,
                });
            };
            self.gap()?;
            rest.push((joint, self.pipeline()?));
        }
    }

    fn pipeline(&mut self) -> Result<Pipeline, Stop> {
        let mut pipeline = Pipeline {
            negated: false,
            commands: Vec::new(),
        };
        let mut prefixed = false;
        loop {
            if self.eat_keyword(Keyword::Not) {
                pipeline.negated = !pipeline.negated;
            } else if self.eat_keyword(Keyword::Time) {
                self.reading.only_bash = true;
                self.blanks();
                self.eat_word(b"-p");
                self.blanks();
                self.eat_word(b"--");
            } else {
                break;
            }
            prefixed = true;
            self.blanks();
        }
        if prefixed && matches!(self.cursor.peek(), None | Some(b'\n' | b';')) {
            return Ok(pipeline);
        }
        loop {
            pipeline.commands.push(self.command()?);
            self.blanks();
            if self.cursor.peek() != Some(b'|') || self.cursor.second() == Some(b'|') {
                return Ok(pipeline);
            }
            self.cursor.bump();
            if self.cursor.eat(b'&') {
                self.reading.only_bash = true;
            }
            self.gap()?;
            if self.keyword() == Some(Keyword::Not) {
                return Err(Stop("`!` stands behind a pipe"));
            }
        }
    }

    pub(super) fn command(&mut self) -> Result<Command, Stop> {
        match self.cursor.peek() {
            Some(b'(') => self.parenthesis(),
            _ => match self.keyword() {
                // Behind a pipe `time` is a program.
                None | Some(Keyword::Time) => self.simple(),
                Some(keyword) => self.compound(keyword),
            },
        }
    }

    /// Words, assignments and redirects in any order, or the definition of a function.
    fn simple(&mut self) -> Result<Command, Stop> {
        let mut simple = Simple::default();
        loop {
            self.blanks();
            if let Some(redirect) = self.redirect()? {
                simple.redirects.push(redirect);
                continue;
            }
            if self.at_word_end() {
                break;
            }
            let word = if simple.words.first().is_none_or(declares) {
                match self.head()? {
                    Head::Word(word) => word,
                    Head::Assignment(assignment) if simple.words.is_empty() => {
                        simple.assignments.push(assignment);
                        continue;
                    }
                    Head::Assignment(assignment) => assignment.into_word(),
                }
            } else {
                self.word()?
            };
            let defines = simple.words.is_empty()
                && simple.assignments.is_empty()
                && simple.redirects.is_empty();
            simple.words.push(word);
            self.blanks();
            if defines
                && self.cursor.peek() == Some(b'(')
                && let Some(name) = simple.words.first().and_then(Word::literal)
            {
                return self.function(name);
            }
        }
        if simple.words.is_empty() && simple.assignments.is_empty() && simple.redirects.is_empty() {
            return Err(Stop("a command is missing"));
        }
        Ok(Command::Simple(simple))
    }

    /// Skips blanks and a comment.
    pub(super) fn blanks(&mut self) {
        while matches!(self.cursor.peek(), Some(b' ' | b'\t')) {
            self.cursor.bump();
        }
        if self.cursor.peek() == Some(b'#') {
            // Lines are not joined in a comment.
            while !matches!(self.cursor.raw(), None | Some(b'\n')) {
                self.cursor.bump();
            }
        }
    }

    /// Skips blanks, comments and newlines, and reads the here-documents that follow them.
    pub(super) fn gap(&mut self) -> Result<(), Stop> {
        loop {
            self.blanks();
            if self.cursor.peek() != Some(b'\n') {
                return Ok(());
            }
            if self.owes_body {
                return Err(Stop("a here-document begins outside of a substitution"));
            }
            self.cursor.bump();
            self.lines += 1;
            self.bodies()?;
        }
    }

    /// Whether a word cannot go on here.
    pub(super) fn at_word_end(&mut self) -> bool {
        match self.cursor.peek() {
            None | Some(b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')') => true,
            Some(b'<' | b'>') => self.cursor.second() != Some(b'('),
            Some(_) => false,
        }
    }

    /// Takes this byte, which must stand here.
    pub(super) fn expect(&mut self, byte: u8) -> Result<(), Stop> {
        self.cursor
            .eat(byte)
            .then_some(())
            .ok_or(Stop("a bracket is not closed"))
    }

    /// Takes these bytes if they are a whole word.
    pub(super) fn eat_word(&mut self, bytes: &[u8]) -> bool {
        let start = self.cursor.at();
        let found = self.cursor.eat_all(bytes) && self.at_word_end();
        if !found {
            self.cursor.back_to(start);
        }
        found
    }
}

/// Whether a command takes assignments as its words, also of arrays.
fn declares(program: &Word) -> bool {
    let name = program.literal();
    name.is_some_and(|name| DECLARING.contains(&name.as_str()))
}

const DECLARING: &[&str] = &["declare", "export", "local", "readonly", "typeset"];
