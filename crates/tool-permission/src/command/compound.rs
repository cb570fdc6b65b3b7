//! Control flow, groups and definitions.

use super::keyword::Keyword;
use super::parser::Parser;
use super::reading::Stop;
use super::tree::{Command, Compound, List, Word};
use super::variable;

impl Parser<'_, '_> {
    /// The command that a keyword begins.
    pub(super) fn compound(&mut self, keyword: Keyword) -> Result<Command, Stop> {
        if !self.eat_keyword(keyword) {
            return Err(Stop("a keyword is missing"));
        }
        let compound = match keyword {
            Keyword::Open => {
                let list = self.some_list()?;
                self.expect_keyword(Keyword::Close)?;
                Compound::Group(list)
            }
            Keyword::If => self.branches()?,
            Keyword::While | Keyword::Until => {
                let condition = self.some_list()?;
                Compound::While(condition, self.body()?)
            }
            Keyword::For => self.loop_over(true)?,
            Keyword::Select => {
                self.reading.only_bash = true;
                self.loop_over(false)?
            }
            Keyword::Case => self.case()?,
            Keyword::Test => {
                self.reading.only_bash = true;
                self.reading.enter()?;
                let operands = self.test()?;
                self.reading.leave();
                Compound::Test(operands)
            }
            Keyword::Function => {
                self.reading.only_bash = true;
                return self.function_keyword();
            }
            Keyword::Coproc => {
                self.reading.only_bash = true;
                return self.coprocess();
            }
            _ => return Err(Stop("a keyword stands where none can")),
        };
        Ok(Command::Compound(compound, self.redirects()?))
    }

    /// A subshell or an arithmetic command.
    pub(super) fn parenthesis(&mut self) -> Result<Command, Stop> {
        self.expect(b'(')?;
        let compound = if self.cursor.peek() == Some(b'(') {
            self.reading.only_bash = true;
            self.cursor.bump();
            Compound::Arithmetic(self.arithmetic()?)
        } else {
            let list = self.some_list()?;
            self.expect(b')')?;
            Compound::Subshell(list)
        };
        Ok(Command::Compound(compound, self.redirects()?))
    }

    /// `name ()` and what follows, behind the name.
    pub(super) fn function(&mut self, name: String) -> Result<Command, Stop> {
        self.expect(b'(')?;
        self.blanks();
        self.expect(b')')?;
        self.function_body(name)
    }

    fn function_keyword(&mut self) -> Result<Command, Stop> {
        self.blanks();
        let name = self.word()?.literal().filter(|name| !name.is_empty());
        let name = name.ok_or(Stop("a function has no name"))?;
        self.blanks();
        if self.cursor.peek() == Some(b'(') {
            self.cursor.bump();
            self.blanks();
            // `function f (..)` without the empty pair has a subshell as its body.
            if !self.cursor.eat(b')') {
                let list = self.some_list()?;
                self.expect(b')')?;
                let body = Command::Compound(Compound::Subshell(list), self.redirects()?);
                return Ok(function(name, body));
            }
        }
        self.function_body(name)
    }

    fn function_body(&mut self, name: String) -> Result<Command, Stop> {
        self.gap()?;
        let starts = match self.keyword() {
            None => self.cursor.peek() == Some(b'('),
            Some(keyword) => keyword.opens(),
        };
        if !starts {
            return Err(Stop("a function has no body"));
        }
        self.reading.enter()?;
        let body = self.command()?;
        self.reading.leave();
        Ok(function(name, body))
    }

    fn coprocess(&mut self) -> Result<Command, Stop> {
        self.blanks();
        let start = self.cursor.at();
        if !self.opens_compound() {
            // A name, if a compound command follows it.
            let name = self.cursor.name();
            let ends = !name.is_empty() && self.at_word_end();
            self.blanks();
            if !(ends && self.opens_compound()) {
                self.cursor.back_to(start);
            }
        }
        self.reading.enter()?;
        let command = self.command()?;
        self.reading.leave();
        let coprocess = Compound::Coprocess(Box::new(command));
        Ok(Command::Compound(coprocess, Vec::new()))
    }

    fn opens_compound(&mut self) -> bool {
        self.cursor.peek() == Some(b'(') || self.keyword().is_some_and(Keyword::opens)
    }

    fn branches(&mut self) -> Result<Compound, Stop> {
        let mut branches = Vec::new();
        loop {
            let condition = self.some_list()?;
            self.expect_keyword(Keyword::Then)?;
            branches.push((condition, self.some_list()?));
            if self.eat_keyword(Keyword::Elif) {
                continue;
            }
            let otherwise = match self.eat_keyword(Keyword::Else) {
                true => Some(self.some_list()?),
                false => None,
            };
            self.expect_keyword(Keyword::Fi)?;
            return Ok(Compound::If(branches, otherwise));
        }
    }

    fn body(&mut self) -> Result<List, Stop> {
        self.expect_keyword(Keyword::Do)?;
        let list = self.some_list()?;
        self.expect_keyword(Keyword::Done)?;
        Ok(list)
    }

    /// The body of a `for`, which may also stand in braces.
    fn loop_body(&mut self) -> Result<List, Stop> {
        if !self.eat_keyword(Keyword::Open) {
            return self.body();
        }
        let list = self.some_list()?;
        self.expect_keyword(Keyword::Close)?;
        Ok(list)
    }

    fn loop_over(&mut self, counts: bool) -> Result<Compound, Stop> {
        self.blanks();
        if counts && self.cursor.eat_all(b"((") {
            self.reading.only_bash = true;
            let runs = self.arithmetic()?;
            self.blanks();
            self.cursor.eat(b';');
            self.gap()?;
            return Ok(Compound::Count(runs, self.loop_body()?));
        }
        let name = self
            .word()?
            .literal()
            .filter(|name| variable::is_name(name));
        let name = name.ok_or(Stop("a loop has no variable"))?;
        let mut words = Vec::new();
        self.blanks();
        if self.cursor.eat(b';') {
            self.gap()?;
        } else {
            self.gap()?;
            if self.eat_word(b"in") {
                words = self.words_of_loop()?;
            }
        }
        Ok(Compound::For(name, words, self.loop_body()?))
    }

    /// The words behind `in` and the separator behind them.
    fn words_of_loop(&mut self) -> Result<Vec<Word>, Stop> {
        let mut words = Vec::new();
        loop {
            self.blanks();
            if self.at_word_end() {
                break;
            }
            words.push(self.word()?);
        }
        if !self.cursor.eat(b';') && self.cursor.peek() != Some(b'\n') {
            return Err(Stop("the words of a loop do not end"));
        }
        self.gap()?;
        Ok(words)
    }

    fn case(&mut self) -> Result<Compound, Stop> {
        self.blanks();
        let subject = self.word()?;
        if subject.is_none() {
            return Err(Stop("a case has no word"));
        }
        self.gap()?;
        if !self.eat_word(b"in") {
            return Err(Stop("a case has no `in`"));
        }
        let mut arms = Vec::new();
        loop {
            self.gap()?;
            if self.eat_keyword(Keyword::Esac) {
                return Ok(Compound::Case(subject, arms));
            }
            let patterns = self.patterns()?;
            let list = self.list()?;
            arms.push((patterns, list));
            if !(self.cursor.eat_all(b";;&")
                || self.cursor.eat_all(b";;")
                || self.cursor.eat_all(b";&"))
            {
                self.expect_keyword(Keyword::Esac)?;
                return Ok(Compound::Case(subject, arms));
            }
        }
    }

    /// The patterns of an arm and the parenthesis behind them.
    fn patterns(&mut self) -> Result<Vec<Word>, Stop> {
        self.cursor.eat(b'(');
        let mut patterns = Vec::new();
        loop {
            self.blanks();
            let pattern = self.word()?;
            if pattern.is_none() {
                return Err(Stop("an arm of a case has no pattern"));
            }
            patterns.push(pattern);
            self.blanks();
            if self.cursor.eat(b'|') {
                continue;
            }
            self.expect(b')')?;
            return Ok(patterns);
        }
    }
}

fn function(name: String, body: Command) -> Command {
    Command::Compound(Compound::Function(name, Box::new(body)), Vec::new())
}
