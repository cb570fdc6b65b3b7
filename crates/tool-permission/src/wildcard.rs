//! Patterns with wildcards, compiled once and matched in linear time.

use std::fmt;
use std::sync::Arc;

use crate::subject::{Dialect, Subject, Symbol};

/// A pattern over names, words of a command, or paths.
///
/// | written | in a name | in words | in a path |
/// |---|---|---|---|
/// | `*` alone | everything | everything | everything |
/// | `*` | any run of characters, also none | the same, also across words | a run inside one folder |
/// | `**` | as `*` | as `*` | any run, also across folders |
/// | `**/` at the start of a segment | as `*` and `/` | as `*` and `/` | any number of folders, also none |
/// | `?` | one character | one character of a word | one character other than `/` |
/// | a blank | a blank | the border between two words | a blank |
/// | ` *` at the end | also nothing | also nothing | a blank and a run |
/// | `/**` at the end | `/` and a run | `/` and a run | also the folder itself |
///
/// Everything else stands for itself; there is no escape. A pattern without `*` and `?` is exact.
///
/// Matching takes at most (length of the pattern + 1) steps for each character of the input,
/// whatever both hold.
///
/// ```
/// use tool_permission::Pattern;
///
/// let push = Pattern::new("git push *");
/// assert!(push.matches_words(["git", "push", "origin"]));
/// assert!(push.matches_words(["git", "push"]));
/// assert!(!push.matches_words(["git", "push-all"]));
/// assert!(!push.matches_words(["git push", "origin"]));
///
/// let sources = Pattern::new("src/**");
/// assert!(sources.matches_path("src/a/b.rs"));
/// assert!(!sources.matches_path("src2/a"));
/// ```
#[derive(Clone)]
pub struct Pattern {
    text: Arc<str>,
    tokens: Arc<[Token]>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    /// Exactly this character.
    Char(char),
    /// `?`
    One,
    /// `*`
    Run,
    /// `**`
    Far,
    /// `**` that starts a segment and is followed by `/`. The slash stays a token of its own,
    /// which only paths jump over.
    Folders,
}

/// What an unknown part of the input counts as.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Doubt {
    /// It must match, whatever it turns out to be.
    Certain,
    /// It may match, depending on what it turns out to be.
    Possible,
}

impl Pattern {
    /// Compiles a pattern. Every text is one.
    #[must_use]
    pub fn new(text: impl AsRef<str>) -> Self {
        let text = text.as_ref();
        Self {
            text: text.into(),
            tokens: compile(text),
        }
    }

    /// The pattern as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether it matches a whole name.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        self.covers(&Subject::name(name))
    }

    /// Whether it matches all words of a command.
    #[must_use]
    pub fn matches_words<W: AsRef<str>>(&self, words: impl IntoIterator<Item = W>) -> bool {
        self.covers(&Subject::words(words))
    }

    /// Whether it matches a whole path, as it is written.
    #[must_use]
    pub fn matches_path(&self, path: &str) -> bool {
        self.covers(&Subject::path(path))
    }

    /// Whether it matches, whatever the unknown parts of the subject turn out to be. Only `*`
    /// covers an unknown part; in a path only `**` does.
    pub(crate) fn covers(&self, subject: &Subject) -> bool {
        self.run(subject, Doubt::Certain).0
            && subject
                .without_loose()
                .is_none_or(|shorter| self.run(&shorter, Doubt::Certain).0)
    }

    /// Whether it says how long what it matches is, and all of it but single characters.
    pub(crate) fn spells_out(&self) -> bool {
        !self.text.contains('*')
    }

    /// Whether it surely matches all that the other matches, in names.
    pub(crate) fn contains_names(&self, other: &Self) -> bool {
        self.contains(other, Dialect::Name)
    }

    /// Whether it surely matches all that the other matches. It may say no where it does.
    pub(crate) fn contains(&self, other: &Self, dialect: Dialect) -> bool {
        if self == other {
            return true;
        }
        let subject = |tokens: &[Token]| {
            let mut subject = Subject::empty(dialect);
            for token in tokens {
                match token {
                    Token::Char(char) => subject.push_char(*char),
                    Token::One | Token::Run | Token::Far => subject.push_unknown(),
                    // The slash behind it is gone where it stands for no folder.
                    Token::Folders => subject.push_unknown(),
                }
            }
            subject
        };
        let slashless = |tokens: &[Token]| -> Vec<Token> {
            let mut kept = Vec::new();
            let mut skips = false;
            for token in tokens {
                if !std::mem::take(&mut skips) {
                    kept.push(*token);
                }
                skips = dialect == Dialect::Path && *token == Token::Folders;
            }
            kept
        };
        let whole = self.covers(&subject(&other.tokens));
        let shorter = other
            .optional_tail(dialect)
            .is_none_or(|tail| self.covers(&subject(other.tokens.get(..tail).unwrap_or_default())));
        whole && shorter && self.covers(&subject(&slashless(&other.tokens)))
    }

    /// Whether it matches for some value of the unknown parts of the subject.
    pub(crate) fn may_match(&self, subject: &Subject) -> bool {
        self.run(subject, Doubt::Possible).0
    }

    /// The characters that every match starts with.
    pub(crate) fn head(&self, dialect: Dialect) -> impl Iterator<Item = char> {
        let literal = self
            .tokens
            .iter()
            .take_while(|t| matches!(t, Token::Char(_)))
            .count();
        // An optional tail takes the character before its wildcard with it.
        let end = match self.optional_tail(dialect) {
            Some(tail) => literal.min(tail),
            None => literal,
        };
        self.tokens
            .iter()
            .take(end)
            .filter_map(|token| match token {
                Token::Char(char) => Some(*char),
                _ => None,
            })
    }

    /// The characters that every match ends with, last one first.
    pub(crate) fn tail(&self, dialect: Dialect) -> impl Iterator<Item = char> {
        let folders = dialect == Dialect::Path;
        let literal = self
            .tokens
            .iter()
            .rev()
            .take_while(|t| matches!(t, Token::Char(_)))
            .count();
        // `**/` may match nothing, so that its slash is no part of every match.
        let start = self.tokens.len() - literal;
        let optional = folders
            && start
                .checked_sub(1)
                .and_then(|at| self.tokens.get(at))
                .is_some_and(|token| *token == Token::Folders);
        let literal = literal - usize::from(optional);
        self.tokens
            .iter()
            .rev()
            .take(literal)
            .filter_map(|token| match token {
                Token::Char(char) => Some(*char),
                _ => None,
            })
    }

    /// Runs the pattern over the subject and counts the steps that it took.
    ///
    /// All states that the characters so far can lead to are kept side by side, in rising order
    /// and once each, so that nothing is ever tried twice.
    fn run(&self, subject: &Subject, doubt: Doubt) -> (bool, usize) {
        let dialect = subject.dialect();
        let end = self.tokens.len();
        let mut steps = 0;
        let mut active = Vec::with_capacity(8);
        let mut next = Vec::with_capacity(8);
        self.enter(0, dialect, &mut active);

        for symbol in subject.symbols() {
            if self.rest_is_any(dialect, &active) {
                return (true, steps);
            }
            next.clear();
            steps += active.len();
            match (symbol, doubt) {
                (Symbol::Unknown, Doubt::Possible) => {
                    // Some text leads from here to every later place.
                    if let Some(&first) = active.first() {
                        next.extend(first..=end);
                    }
                }
                (Symbol::Loose, Doubt::Possible) => {
                    self.step(Symbol::Char(' '), dialect, &active, &mut next);
                    next.extend_from_slice(&active);
                    next.sort_unstable();
                    next.dedup();
                }
                (Symbol::Loose, Doubt::Certain) => {
                    self.step(Symbol::Char(' '), dialect, &active, &mut next);
                }
                (symbol, _) => self.step(symbol, dialect, &active, &mut next),
            }
            std::mem::swap(&mut active, &mut next);
            if active.is_empty() {
                return (false, steps);
            }
        }

        let tail = self.optional_tail(dialect);
        let matched = active
            .iter()
            .any(|&state| state == end || Some(state) == tail);
        (matched, steps)
    }

    fn step(&self, symbol: Symbol, dialect: Dialect, active: &[usize], next: &mut Vec<usize>) {
        let folders = dialect == Dialect::Path;
        for &state in active {
            let Some(&token) = self.tokens.get(state) else {
                continue;
            };
            match (token, symbol) {
                (Token::Char(char), symbol) if symbol == Symbol::Char(char) => {
                    self.enter(state + 1, dialect, next);
                }
                (Token::One, Symbol::Char(char)) if dialect.is_one(char) => {
                    self.enter(state + 1, dialect, next);
                }
                (Token::One, Symbol::Blank) => self.enter(state + 1, dialect, next),
                (Token::Run, symbol) if folders => {
                    // An unknown part of a path may hold a slash.
                    if !matches!(symbol, Symbol::Char('/') | Symbol::Unknown) {
                        self.enter(state, dialect, next);
                    }
                }
                (Token::Folders, symbol) if folders => {
                    push(next, state);
                    if symbol == Symbol::Char('/') {
                        self.enter(state + 2, dialect, next);
                    }
                }
                (Token::Run | Token::Far | Token::Folders, _) => self.enter(state, dialect, next),
                (Token::Char(_) | Token::One, _) => {}
            }
        }
    }

    /// Adds a state and those that can be reached from it without a character.
    ///
    /// States are added in rising order, so that one look at the last one finds a double.
    fn enter(&self, state: usize, dialect: Dialect, states: &mut Vec<usize>) {
        let mut state = state;
        loop {
            push(states, state);
            state += match self.tokens.get(state) {
                Some(Token::Folders) if dialect == Dialect::Path => 2,
                Some(Token::Run | Token::Far | Token::Folders) => 1,
                Some(Token::Char(_) | Token::One) | None => return,
            };
        }
    }

    /// Whether a last wildcard is reached that takes whatever follows.
    fn rest_is_any(&self, dialect: Dialect, active: &[usize]) -> bool {
        let takes_all = match self.tokens.last() {
            Some(Token::Far) => true,
            Some(Token::Run) => dialect != Dialect::Path,
            _ => false,
        };
        takes_all && active.contains(&(self.tokens.len() - 1))
    }

    /// The state before a last ` *`, in a path before a last `/**`, which may also match nothing.
    fn optional_tail(&self, dialect: Dialect) -> Option<usize> {
        let optional = match (dialect, &*self.tokens) {
            (Dialect::Path, [.., Token::Char('/'), Token::Far]) => self.tokens.len() > 2,
            (Dialect::Path, _) => false,
            (_, [.., Token::Char(' '), Token::Run | Token::Far]) => true,
            _ => false,
        };
        optional.then(|| self.tokens.len() - 2)
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Pattern {}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pattern({:?})", &*self.text)
    }
}

fn push(states: &mut Vec<usize>, state: usize) {
    if states.last().is_none_or(|last| *last < state) {
        states.push(state);
    }
}

fn compile(text: &str) -> Arc<[Token]> {
    if text == "*" {
        return [Token::Far].into();
    }
    let mut tokens = Vec::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        let token = match char {
            '?' => Token::One,
            '*' => {
                let mut token = Token::Run;
                while chars.next_if_eq(&'*').is_some() {
                    token = Token::Far;
                }
                let starts = matches!(tokens.last(), None | Some(Token::Char('/')));
                if token == Token::Far && starts && chars.peek() == Some(&'/') {
                    token = Token::Folders;
                }
                token
            }
            char => Token::Char(char),
        };
        tokens.push(token);
    }
    tokens.into()
}

#[cfg(test)]
mod tests;
